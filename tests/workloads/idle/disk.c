// SPDX-License-Identifier: BSD-2-Clause
// Reads a file that is not in memory, a little before each kernel.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "tests/workloads/idle/idle_program.h"

#define FILE_BYTES (64u << 20)
#define READ_BYTES 16384
#define READS	   16

static char block[1 << 20];

static int make_file(void)
{
	int file = open("cold.data", O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (unsigned int i = 0; file >= 0 && i < FILE_BYTES / sizeof(block); i++)
		if (write(file, block, sizeof(block)) != sizeof(block))
			program__fail("cannot write cold.data");
	if (file < 0 || fsync(file) || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) ||
	    posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM))
		program__fail("cannot make cold.data");
	return file;
}

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 60, "Disk reads with a cold cache.");
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
