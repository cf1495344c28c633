// SPDX-License-Identifier: BSD-2-Clause
/* At each kernel of the timeline: its operator, module and line, from the call stack of its launch,
 * or of what put it into its graph. */
#include <stdlib.h>
#include "cuda-trace/export/export_backward.h"
#include "cuda-trace/export/export_origins.h"
#include "cuda-trace/export/export_timeline.h"
#include "cuda-trace/report/report_graph_origins.h"

#define OF_ONE_KERNEL                                                                            \
	" FROM (SELECT ?1 AS correlationId, ?2 AS globalPid, ?3 AS graphId, ?4 AS graphNodeId, " \
	"?5 AS start) AS k"

int timeline__open_origins(struct timeline *timeline)
{
	/* The table's own rows are read by functions that know nothing of launches. */
	static const char plain[] =
		"SELECT " LAUNCH_OF_K(CHAIN_OF_K) ", " LAUNCH_OF_K(LINE_CHAIN_OF_K) OF_ONE_KERNEL;
	static const char with_graphs[] =
		"SELECT " STACK_OF_K(CHAIN_OF_K) ", " STACK_OF_K(LINE_CHAIN_OF_K) OF_ONE_KERNEL;
	const struct report_file *file = timeline->file;
	int any = timeline->callstacks ? export_callstacks__of_launches(file) : 0;
	int err = any > 0 ? export_backward__find_calls(file, timeline->callstacks) : any;
	int graphs = !err && any > 0 ? graph_origins__make(file) : 0;

	if (graphs < 0)
		return graphs;
	if (!err && any > 0 &&
	    sqlite3_prepare_v2(file->db, graphs ? with_graphs : plain, -1, &timeline->origins,
			       NULL))
		err = report_file__complain(file);
	return err;
}

static void put_origin(struct timeline *timeline, enum report_by by, int column)
{
	static struct origin_path path; /* large */
	struct graph_origin of =
		graph_origin__read(sqlite3_column_int64(timeline->origins, column),
				   sqlite3_column_type(timeline->origins, column) == SQLITE_NULL);
	const char *const *frames;
	char name[ORIGIN_TEXT];
	size_t count;

	/* What replayed a graph is not what its kernels are of. */
	if (!of.is_known || of.kind == ORIGIN_UNRECORDED)
		return;
	frames = export_callstacks__frames(timeline->callstacks, of.number, &count);
	if (!frames)
		return;
	export_origins__of_frames(by, frames,
				  export_callstacks__places(timeline->callstacks, of.number), count,
				  &path);
	if (!path.count)
		return;
	fputs(", ", timeline->out);
	timeline__put_string(timeline, export_origins__name(by),
			     export_origins__text(&path, by, name));
}

void timeline__put_origins(struct timeline *timeline, const union record_row *kernel)
{
	sqlite3_stmt *origins = timeline->origins;

	if (!origins)
		return;
	sqlite3_bind_int64(origins, 1, kernel->KERNEL.correlationId);
	sqlite3_bind_int64(origins, 2, kernel->KERNEL.globalPid);
	sqlite3_bind_int64(origins, 3, kernel->KERNEL.graphId);
	sqlite3_bind_int64(origins, 4, kernel->KERNEL.graphNodeId);
	sqlite3_bind_int64(origins, 5, kernel->KERNEL.start);
	if (sqlite3_step(origins) == SQLITE_ROW) {
		put_origin(timeline, REPORT_BY_OPERATOR, 0);
		put_origin(timeline, REPORT_BY_MODULE, 0);
		put_origin(timeline, REPORT_BY_LINE, 1);
	}
	sqlite3_reset(origins);
}

void timeline__close_origins(struct timeline *timeline)
{
	sqlite3_finalize(timeline->origins);
}
