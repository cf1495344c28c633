/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels that graphs ran, and the code that put them into the graph: docs/internals/graphs.md.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_GRAPH_ORIGINS_H
#define CUDA_TRACE_REPORT_REPORT_GRAPH_ORIGINS_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/report/report_file.h"

/*
 * Makes temp.graph_origins (pid, node, thread, time, chain, path) of the nodes whose creation was
 * recorded: the thread (as globalTid) and the time of it, and the call stack, or NULL. `path` is
 * NULL. pid as in globalPid / 0x1000000. Also makes the SQL function that says which of these
 * nodes a kernel is of. 1 = made; 0 = no kernel of the file was in a graph; or
 * -errno, printed.
 */
int graph_origins__make(const struct report_file *file);
/* Says on stderr how many kernels were in graphs whose creation was not recorded. 0 or -errno. */
int graph_origins__say_missing(const struct report_file *file);

#define UNRECORDED_CREATION "[graph's creation not recorded]"

/* What kernels are of, as one number that SQL can group by. */
enum graph_origin_kind {
	ORIGIN_LAUNCH,	   /* in no graph: its launch's */
	ORIGIN_NODE,	   /* in a graph: that of its node's creation */
	ORIGIN_UNRECORDED, /* in a graph, creation not recorded: that of the graph's launch */
	ORIGIN_BARE,	   /* in a graph: nothing but that its creation was recorded */
};

struct graph_origin {
	enum graph_origin_kind kind;
	bool is_known;	/* else `number` is nothing */
	int64_t number; /* of a call stack, or of a path of ranges */
};

/* An SQL expression for the row of table alias k; `chain` is one for the call stack of its launch.
 */
#define STACK_OF_K(chain)                                                                \
	"CASE WHEN ifnull(k.graphNodeId, 0) = 0 THEN " chain " * 4 ELSE ifnull((SELECT " \
	"ifnull(chain * 4 + 1, 3) FROM " ORIGINS_OF_K "), ifnull(" chain ", -1) * 4 + 2) END"
/* Likewise, of ranges. What replays a graph is in a range as much as what captures it, so where
 * the latter is in none, that of the launch is not wrong. */
#define RANGES_OF_K(path) "ifnull((SELECT path * 4 + 1 FROM " ORIGINS_OF_K "), " path " * 4)"
#define ORIGINS_OF_K                                                                  \
	"temp.graph_origins AS o WHERE o.pid = k.globalPid / 0x1000000 AND o.node = " \
	"graph_node_at(k.globalPid / 0x1000000, k.graphNodeId, k.correlationId, k.start)"
/* The same where no kernel is in a graph. */
#define LAUNCH_OF_K(number) number " * 4"

/* What that expression gave. */
static inline struct graph_origin graph_origin__read(int64_t value, bool is_null)
{
	struct graph_origin origin = {ORIGIN_LAUNCH, false, 0};

	if (is_null)
		return origin;
	origin.kind = value & 3;
	origin.number = value >> 2;
	origin.is_known = origin.kind != ORIGIN_BARE && origin.number >= 0;
	return origin;
}

#endif
