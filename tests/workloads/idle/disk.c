// SPDX-License-Identifier: BSD-2-Clause
// Reads a file from the disk, a little before each kernel. Past the page cache: in a virtual
// machine whose host has the file in memory, copying takes longer than the disk does.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "tests/workloads/idle/idle_program.h"

#define FILE_BYTES (64u << 20)
#define READ_BYTES (1u << 20)
#define READS	   2

static char block[READ_BYTES] __attribute__((aligned(4096)));

static int make_file(void)
{
	int file = open("cold.data", O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);

	for (unsigned int i = 0; file >= 0 && i < FILE_BYTES / sizeof(block); i++)
		if (write(file, block, sizeof(block)) != sizeof(block))
			program__fail("cannot write cold.data");
	if (file < 0 || fsync(file))
		program__fail("cannot make cold.data");
	return file;
}

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 60, "Disk reads, past the page cache.");
	int file = make_file();

	idle_program__start();
	srand(1);
	for (uint64_t i = 0; i < steps; i++) {
		for (int j = 0; j < READS; j++) {
			off_t at = (off_t)(rand() % (FILE_BYTES / READ_BYTES)) * READ_BYTES;

			if (pread(file, block, READ_BYTES, at) != READ_BYTES)
				program__fail("cannot read cold.data");
		}
		idle_program__kernel(200000);
	}
	unlink("cold.data");
	idle_program__expect("io");
	return 0;
}
