// SPDX-License-Identifier: BSD-2-Clause
/* The tree of a file that has samples of program counters, as it was written. */
#include "cuda-trace/export/export_stack_samples.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/base/array_grow.h"

#define MAX_NODES 4000000
#define MAX_DEPTH 1000

/* Row by row, parents first, as they were written: what is not so is damaged. */
static int add_sampled(struct stacks *stacks, const struct names_of_file *names,
		       sqlite3_stmt *statement, uint32_t **nodes, size_t *count)
{
	int64_t parent = sqlite3_column_int64(statement, 1);
	int64_t samples = sqlite3_column_int64(statement, 3);
	uint32_t node;

	if (sqlite3_column_int64(statement, 0) != (int64_t)*count || *count >= MAX_NODES ||
	    parent < 0 || parent >= (int64_t)*count || samples < 0 ||
	    samples > INT64_MAX / MAX_NODES || stacks->nodes[(*nodes)[parent]].depth >= MAX_DEPTH)
		return -EPROTO;
	if (!array_grow__counted(*nodes, *count))
		return -ENOMEM;
	node = stacks__child(stacks, (*nodes)[parent],
			     export_names__string(names, sqlite3_column_int64(statement, 2)));
	if (node == UINT32_MAX)
		return -ENOMEM;
	(*nodes)[(*count)++] = node;
	stacks->nodes[node].leaf |= samples > 0;
	stacks__add(stacks, node, samples, 0);
	return 0;
}

int stacks__read_samples(struct stacks *stacks, const struct names_of_file *names,
			 const struct report_file *file)
{
	uint32_t *nodes = calloc(1, sizeof(*nodes)); /* by row; of the root, which has none, 0 */
	sqlite3_stmt *statement = NULL;
	size_t count = 1;
	int err = nodes ? 0 : -ENOMEM;

	if (!err && sqlite3_prepare_v2(file->db,
				       "SELECT id, parentId, nameId, samples FROM "
				       "CUDA_TRACE_PC_STACKS ORDER BY id",
				       -1, &statement, NULL))
		err = report_file__complain(file);
	while (!err && sqlite3_step(statement) == SQLITE_ROW)
		err = add_sampled(stacks, names, statement, &nodes, &count);
	if (err == -EPROTO)
		fprintf(stderr, "cuda-trace report: the stacks of samples are damaged\n");
	sqlite3_finalize(statement);
	free(nodes);
	return err;
}
