/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs that were changed after they were created: which node's origin a kernel has, depending on
 * when its graph was launched. docs/internals/graphs.md says what counts as a change.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_GRAPH_CHANGES_H
#define CUDA_TRACE_REPORT_REPORT_GRAPH_CHANGES_H

#include <stdint.h>
#include "cuda-trace/report/report_graph_nodes.h"

struct graph_changes;

/* Reads those that the file has, and adds a node to `nodes` for each call that gave a node another
 * kernel; its id is negative. *changes is NULL if there are none. 0 or -errno, printed. */
int graph_changes__read(struct graph_changes **changes, struct graph_nodes *nodes,
			const struct report_file *file);
/*
 * The node whose origin a kernel has that was launched with this correlation id, as node `id` of
 * the process; `start` is its own, for one that no call launched. `nodes` is finished. 0 = unknown.
 */
int64_t graph_changes__node_at(const struct graph_changes *changes, const struct graph_nodes *nodes,
			       int64_t process, int64_t id, int64_t correlation, int64_t start);
void graph_changes__free(struct graph_changes *changes);

#endif
