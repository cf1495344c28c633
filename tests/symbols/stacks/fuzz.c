// SPDX-License-Identifier: BSD-2-Clause
/*
 * Feeds what reads stacks with damaged files: `fuzz ROUNDS ELF`. Changes some bytes of a good
 * program or cuts it, reads its segments, build-id and functions; and gives made-up code objects to
 * what decodes Python's tables of lines. Built with sanitizers by tests/symbols/stacks.bats; always
 * the same numbers, so that a fault comes back.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/eh_frame.h"
#include "cuda-trace/symbols/python_code.h"
#include "cuda-trace/symbols/symbols.h"

#define SIZE_MAX_READ (4 << 20)

static unsigned long state = 1;

static unsigned long next(void)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 33;
}

/* Half of it where meaning is: the headers at both ends. */
static size_t place(size_t n)
{
	switch (next() % 4) {
	case 0:
		return next() % 0x400;
	case 1:
		return n - 1 - next() % 0xa00;
	default:
		return next() % n;
	}
}

static size_t damage(unsigned char *bytes, size_t n)
{
	static const unsigned char edges[] = {0, 1, 0x7f, 0x80, 0xff};

	for (unsigned int i = next() % 8; i; i--)
		bytes[place(n)] = next() % 2 ? edges[next() % sizeof(edges)] : next();
	return next() % 6 ? n : next() % (n + 1);
}

/* True: there are functions, and one was found. */
static bool read_elf(const unsigned char *bytes, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf_outline outline;
	struct symbols *symbols;
	uint64_t address = 0;
	bool found = false;
	static int null;

	null = null ? null : open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (write(fd, bytes, n) != (ssize_t)n)
		exit(2);
	if (!elf_outline__read(&outline, fd))
		elf_outline__address(&outline, next(), &address);
	eh_frame__send(fd, n, &address, foreign_output__to(null, SIZE_MAX));
	symbols = symbols__read(fd);
	for (uint64_t at = 0; symbols && at < 0x4000; at += 8) {
		const char *name = symbols__at(symbols, at);

		found |= name && strlen(name) <= 4096;
	}
	symbols__free(symbols);
	close(fd);
	return found;
}

static void read_code(struct python_codes *codes, uint64_t number)
{
	static _Alignas(8) unsigned char space[sizeof(struct event_code) + 512];
	struct event_code *event = (void *)space;
	const struct python_code *code;

	for (size_t i = 0; i < sizeof(space); i++)
		space[i] = next();
	event->code = event->key = number;
	event->version = 0x03080000 + next() % 5 * 0x10000;
	event->file_bytes = next() % (CODE_FILE_LEN + 1);
	event->name_bytes = next() % (CODE_NAME_LEN + 1);
	event->file_width = next() % 6;
	event->name_width = next() % 6;
	event->table_bytes = next() % 513;
	python_codes__add(codes, event);
	code = python_codes__find(codes, number, number);
	if (!code || strlen(python_code__file(code)) > 2 * CODE_FILE_LEN ||
	    strlen(python_code__name(code)) > 2 * CODE_NAME_LEN)
		exit(3);
	for (int i = -2; i < 64; i++)
		python_code__line(code, (int32_t)(next() << 1) >> (next() % 31));
}

int main(int argc, char **argv)
{
	static unsigned char elf[SIZE_MAX_READ], bytes[SIZE_MAX_READ];
	size_t left = SIZE_MAX;
	struct python_codes *codes = python_codes__new(&left);
	unsigned long fine = 0, rounds;
	size_t size;
	FILE *file;

	if (argc != 3 || !codes)
		return 2;
	rounds = strtoul(argv[1], NULL, 10);
	file = fopen(argv[2], "r");
	size = file ? fread(elf, 1, sizeof(elf), file) : 0;
	if (size < 0x1000)
		return 2;
	fclose(file);
	for (unsigned long i = 0; i < rounds; i++) {
		memcpy(bytes, elf, size);
		fine += read_elf(bytes, damage(bytes, size));
		read_code(codes, i + 1);
	}
	python_codes__free(codes);
	if (left != SIZE_MAX)
		return 3;
	printf("%lu fine, %lu not\n", fine, rounds - fine);
	return 0;
}
