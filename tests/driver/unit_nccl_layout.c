// SPDX-License-Identifier: BSD-2-Clause
/*
 * nccl_layout.h, on code made by hand: a file with three functions, each of bytes with numbers
 * among them. Prints the offset that was found, or 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cuda-trace/driver/nccl_layout.h"
#include "cuda-trace/foreign/foreign_file.h"

#define START 64u
#define SIZE  1000u

static uint8_t code[3 * SIZE];

static void put(int function, unsigned int at, uint32_t number)
{
	memcpy(&code[function * SIZE + at], &number, sizeof(number));
}

/* A field's offset in the first function, and those of the two behind it. */
static void put_field(uint32_t offset, unsigned int at)
{
	put(0, at, offset);
	put(1, at + 3, offset + 4);
	put(2, at + 5, offset + 8);
}

static void print(const char *what, uint64_t size)
{
	const struct elf_symbol accessors[NCCL_ACCESSORS] = {
		{.offset = START, .size = size},
		{.offset = START + SIZE, .size = size},
		{.offset = START + 2 * SIZE, .size = size},
	};
	int fd = memfd_create("libnccl.so", 0);
	struct foreign_file file;

	if (pwrite(fd, code, sizeof(code), START) != sizeof(code) || foreign_file__of(&file, fd))
		abort();
	printf("%s: 0x%x\n", what, nccl_layout__rank_at(&file, accessors));
	foreign_file__close(&file);
}

int main(void)
{
	memset(code, 0x90, sizeof(code));
	print("none", SIZE);
	/* As addresses of strings and of calls look: near in each function, but not by 4 and 8. */
	put(0, 100, 0x105c55);
	put(1, 100, 0x105865);
	put(2, 100, 0x105475);
	print("others", SIZE);
	put_field(0x34250, 868);
	print("one", SIZE);
	print("behind the end", 860);
	print("empty", 0);
	print("larger than the file", 4 * SIZE);
	put_field(0x34250, 700);
	print("the same again", SIZE);
	put_field(0x2000, 500);
	print("two", SIZE);
	memset(code, 0x90, sizeof(code));
	put_field(0x35, 868);
	print("small", SIZE);
	put_field(0x34251, 868);
	print("odd", SIZE);
	return 0;
}
