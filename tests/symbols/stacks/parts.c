// SPDX-License-Identifier: BSD-2-Clause
// Looks up the rules of 500 functions all over a large library, again and again, as the stacks of a
// program do: `parts LIBRARY` prints how many were found, how many lookups had to do without a
// table, and how many times faster the second round was than the first. Built by
// tests/symbols/unwind.bats with many.S.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/symbols/unwind_tables.h"

#define FUNCTIONS 500

int main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	const char *from = library ? dlsym(library, "many") : NULL;
	const char *end = library ? dlsym(library, "many_end") : NULL;
	struct unwind_tables *tables = unwind_tables__new();
	struct modules *modules = modules__new();
	struct mappings *mappings = mappings__new(getpid(), modules);
	uint64_t took[2] = {0};
	int found = 0, same = 0;

	if (!from || !end || !tables || !modules || !mappings)
		return 2;
	for (int round = 0; round < 2; round++) {
		uint64_t before = monotonic__ns();

		for (int i = 0; i < FUNCTIONS; i++) {
			/* Not in their order, and never the function's first instruction. */
			uint64_t n = (uint64_t)i * 251 % FUNCTIONS;
			uint64_t at = (uintptr_t)from + (end - from) / 15 * n / FUNCTIONS * 15 + 3;
			const struct unwind_row *row;
			uint64_t in_module;
			uint32_t module = mappings__find(mappings, at, &in_module);

			row = unwind_tables__row(tables, modules, module, in_module);
			found += row && row->rule == UNWIND_OFFSET;
			same += row && row->cfa_offset == 32;
		}
		took[round] = monotonic__ns() - before;
	}
	printf("found=%d right=%d refused=%u faster=%llu\n", found, same,
	       unwind_tables__refused(tables), (unsigned long long)(took[0] / (took[1] + 1)));
	unwind_tables__free(tables);
	mappings__free(mappings);
	modules__free(modules);
	return 0;
}
