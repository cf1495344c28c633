// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plays a traced program that means harm to what unwinds: `tables ROUNDS FILE` damages the unwind
 * tables of an ELF file and reads them, and unwinds copies of stacks that are full of lies. Built
 * with sanitizers by tests/symbols/unwind.bats; always the same numbers, so that a fault comes
 * back.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/unwind.h"

#define FILE_MAX (4 << 20)

static unsigned long state = 1, hits;

static unsigned long next(void)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 33;
}

/* From .eh_frame_hdr on; .eh_frame is behind it. */
static void find_tables(const unsigned char *elf, size_t size, size_t *from, size_t *bytes)
{
	const Elf64_Ehdr *header = (const void *)elf;
	const Elf64_Phdr *segments = (const void *)(elf + header->e_phoff);

	for (int i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			*from = segments[i].p_offset;
	*bytes = size - *from < 1500 ? size - *from : 1500;
}

static void read_damaged(const unsigned char *elf, size_t size, int null)
{
	static const unsigned char edges[] = {0, 1, 0x0f, 0x7f, 0x80, 0xff};
	static unsigned char bytes[FILE_MAX];
	int fd = memfd_create("tables", MFD_CLOEXEC);
	uint64_t address = next() % 0x3000;
	size_t from = 0, many = 0;

	memcpy(bytes, elf, size);
	find_tables(elf, size, &from, &many);
	for (unsigned int i = 1 + next() % 12; i; i--)
		bytes[from + next() % many] = next() % 2 ? edges[next() % sizeof(edges)] : next();
	if (write(fd, bytes, size) != (ssize_t)size)
		exit(2);
	eh_frame__send(fd, size, &address, foreign_output__to(null, SIZE_MAX));
	close(fd);
}

/* Addresses of code that is mapped here, so that there are rules; pointers into the copy; noise. */
static uint64_t lie(uint64_t stack_pointer, size_t bytes)
{
	static const uintptr_t code[] = {(uintptr_t)qsort, (uintptr_t)printf, (uintptr_t)raise,
					 (uintptr_t)getdelim, (uintptr_t)unwind__walk};

	switch (next() % 4) {
	case 0:
		return stack_pointer + next() % (bytes + 64);
	case 1:
		return next() << next() % 32;
	default:
		return code[next() % 5] + next() % 400;
	}
}

/* Whatever is found for a copy must be what a walk through it would be. */
static void check_memo(struct unwind_memo *memo, struct unwind_tables *tables,
		       const struct modules *modules, struct mappings *mappings,
		       struct event_stack_copy *copy)
{
	static struct unwind_trace trace;
	static struct unwound unwound;

	for (int i = 0; i < 16; i++) {
		const struct unwound *found = unwind_memo__find(memo, copy, 2);

		if (found) {
			unwind__walk(&unwound, &trace, copy, tables, modules, mappings);
			if (memcmp(found, &unwound,
				   offsetof(struct unwound, addresses[unwound.count])) != 0)
				exit(4);
			hits++;
		}
		/* Too old. */
		if (unwind_memo__find(memo, copy, 2000000000))
			exit(5);
		if (next() % 2)
			copy->saved[next() % UNWIND_SAVED] ^= 8;
		else if (copy->bytes >= 8)
			copy->stack[next() % copy->bytes] ^= 8;
	}
}

static void walk_lies(struct unwind_memo *memo, struct unwind_tables *tables,
		      const struct modules *modules, struct mappings *mappings)
{
	const size_t bytes = (next() % 2 ? 4096 : next() % 600) & ~7ul;
	struct event_stack_copy *copy = malloc(sizeof(*copy) + bytes);
	static struct unwind_trace trace;
	static struct unwound unwound;

	if (!copy)
		exit(2);
	copy->stack_pointer = next() % 8 ? 0x7f0000000000 + next() % 4096 * 8 : -next() % 4096;
	copy->bytes = bytes;
	copy->address = lie(copy->stack_pointer, bytes);
	for (int i = 0; i < UNWIND_SAVED; i++)
		copy->saved[i] = lie(copy->stack_pointer, bytes);
	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t word = lie(copy->stack_pointer, bytes);

		memcpy(copy->stack + i, &word, sizeof(word));
	}
	unwind__walk(&unwound, &trace, copy, tables, modules, mappings);
	if (unwound.count > UNWIND_FRAMES || unwound.by_pointers > STACK_ADDRESSES)
		exit(3);
	if (unwound.end != UNWIND_END_COPY)
		unwind_memo__add(memo, copy, &trace, &unwound, 1);
	check_memo(memo, tables, modules, mappings, copy);
	free(copy);
}

int main(int argc, char **argv)
{
	static unsigned char elf[FILE_MAX];
	struct unwind_tables *tables = unwind_tables__new();
	struct unwind_memo *memo = unwind_memo__new();
	struct modules *modules = modules__new();
	struct mappings *mappings = mappings__new(getpid(), modules);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	FILE *file = argc == 3 ? fopen(argv[2], "r") : NULL;
	size_t size = file ? fread(elf, 1, sizeof(elf), file) : 0;

	if (size < sizeof(Elf64_Ehdr) || !tables || !modules || !mappings || null < 0)
		return 2;
	fclose(file);
	for (unsigned long i = strtoul(argv[1], NULL, 10); i; i--) {
		read_damaged(elf, size, null);
		walk_lies(memo, tables, modules, mappings);
	}
	unwind_memo__free(memo);
	unwind_tables__free(tables);
	mappings__free(mappings);
	modules__free(modules);
	puts(hits > 100 ? "fine" : "nothing was remembered");
	return 0;
}
