// SPDX-License-Identifier: BSD-2-Clause
/*
 * Folded stacks: "root;...;leaf NANOSECONDS", one a line. Without pids, so that tools that compare
 * two files find the same stacks in both; processes of one command have lines of their own.
 */
#include "cuda-trace/export/export.h"
#include "cuda-trace/export/export_stack_tree.h"

static void write_frames(FILE *out, const struct stacks *stacks, uint32_t node)
{
	const struct stacks_node *at = &stacks->nodes[node];

	if (at->parent) {
		write_frames(out, stacks, at->parent);
		putc(';', out);
	}
	/* The separator has no escape in this format; others write a colon too. */
	for (size_t i = 0; i < at->stable; i++)
		putc(at->name[i] == ';' ? ':' : at->name[i], out);
}

void stacks__write_folded(const struct stacks *stacks, FILE *out)
{
	for (size_t i = 1; i < stacks->count; i++) {
		if (!stacks->nodes[i].leaf)
			continue;
		write_frames(out, stacks, i);
		fprintf(out, " %llu\n", (unsigned long long)stacks->nodes[i].ns);
	}
}

int export_folded(const struct report_file *file, FILE *out)
{
	struct stacks stacks;
	int err = stacks__read(&stacks, file);

	if (err)
		return err;
	stacks__write_folded(&stacks, out);
	stacks__free(&stacks);
	return 0;
}
