// SPDX-License-Identifier: BSD-2-Clause
// Looks up the rules of 500 functions all over a large library, again and again, as the stacks of a
// program do: `parts LIBRARY` prints how many were found, how many lookups had to do without a
// table, how many times faster the second round was than the first, and how many of 64 functions
// can be looked up after one of them was, with the others as a guess. Built by
// tests/symbols/unwind.bats with many.S.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/symbols/unwind_tables.h"

#define FUNCTIONS 500

static const char *from, *end;
static struct modules *modules;
static struct mappings *mappings;

/* Never the function's first instruction. */
static uint32_t find_place(unsigned int n, uint64_t *in_module)
{
	uint64_t at = (uintptr_t)from + (end - from) / 15 * n / FUNCTIONS * 15 + 3;

	return mappings__find(mappings, at, in_module);
}

static const struct unwind_row *find_row(struct unwind_tables *tables, unsigned int n)
{
	uint64_t in_module;
	uint32_t module = find_place(n, &in_module);

	return unwind_tables__row(tables, modules, module, in_module);
}

static bool next_guess(void *context, uint32_t module, uint64_t *address)
{
	int *count = context;

	return ++*count < UNWIND_WANTED && find_place(*count, address) == module;
}

static int look_up_guessed(void)
{
	struct unwind_tables *tables = unwind_tables__new();
	int guessed = 0, found;
	uint64_t unused;

	unwind_tables__guess(tables, next_guess, &guessed);
	found = !!find_row(tables, 0);
	unwind_tables__guess(tables, NULL, NULL);
	/* From now on nothing can be read. */
	close(modules__at(modules, find_place(0, &unused))->fd);
	for (unsigned int n = 1; n < FUNCTIONS; n++)
		found += !!find_row(tables, n);
	unwind_tables__free(tables);
	return found;
}

int main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	struct unwind_tables *tables = unwind_tables__new();
	uint64_t took[2] = {0};
	int found = 0, same = 0;

	from = library ? dlsym(library, "many") : NULL;
	end = library ? dlsym(library, "many_end") : NULL;
	modules = modules__new();
	mappings = mappings__new(getpid(), modules);
	if (!from || !end || !tables || !modules || !mappings)
		return 2;
	for (int round = 0; round < 2; round++) {
		uint64_t before = monotonic__ns();

		for (unsigned int i = 0; i < FUNCTIONS; i++) {
			/* Not in their order. */
			const struct unwind_row *row = find_row(tables, i * 251 % FUNCTIONS);

			found += row && row->rule == UNWIND_OFFSET;
			same += row && row->cfa_offset == 32;
		}
		took[round] = monotonic__ns() - before;
	}
	printf("found=%d right=%d refused=%u faster=%llu guessed=%d\n", found, same,
	       unwind_tables__refused(tables), (unsigned long long)(took[0] / (took[1] + 1)),
	       look_up_guessed());
	unwind_tables__free(tables);
	mappings__free(mappings);
	modules__free(modules);
	return 0;
}
