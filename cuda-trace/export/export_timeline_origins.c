// SPDX-License-Identifier: BSD-2-Clause
/* At each kernel of the timeline: its operator, module and line, from its launch's call stack. */
#include <stdlib.h>
#include "cuda-trace/export/export_backward.h"
#include "cuda-trace/export/export_origins.h"
#include "cuda-trace/export/export_timeline.h"

int timeline__open_origins(struct timeline *timeline)
{
	/* The table's own rows are read by functions that know nothing of launches. */
	static const char sql[] =
		"SELECT " CHAIN_OF_K ", " LINE_CHAIN_OF_K " FROM (SELECT ?1 AS correlationId, "
		"?2 AS globalPid, ?3 AS graphId, ?4 AS graphNodeId) AS k";
	const struct report_file *file = timeline->file;
	int any = timeline->callstacks ? export_callstacks__of_launches(file) : 0;
	int err = any > 0 ? export_backward__find_calls(file, timeline->callstacks) : any;

	if (!err && any > 0 && sqlite3_prepare_v2(file->db, sql, -1, &timeline->chains, NULL))
		err = report_file__complain(file);
	return err;
}

static void put_origin(struct timeline *timeline, enum report_by by, int64_t chain)
{
	static struct origin_path path; /* large */
	size_t count;
	const char *const *frames = export_callstacks__frames(timeline->callstacks, chain, &count);
	char name[ORIGIN_TEXT];

	if (!frames)
		return;
	export_origins__of_frames(
		by, frames, export_callstacks__places(timeline->callstacks, chain), count, &path);
	if (!path.count)
		return;
	fputs(", ", timeline->out);
	timeline__put_string(timeline, export_origins__name(by),
			     export_origins__text(&path, by, name));
}

void timeline__put_origins(struct timeline *timeline, const union record_row *kernel)
{
	sqlite3_stmt *chains = timeline->chains;

	if (!chains)
		return;
	sqlite3_bind_int64(chains, 1, kernel->KERNEL.correlationId);
	sqlite3_bind_int64(chains, 2, kernel->KERNEL.globalPid);
	sqlite3_bind_int64(chains, 3, kernel->KERNEL.graphId);
	sqlite3_bind_int64(chains, 4, kernel->KERNEL.graphNodeId);
	if (sqlite3_step(chains) == SQLITE_ROW) {
		if (sqlite3_column_type(chains, 0) != SQLITE_NULL) {
			put_origin(timeline, REPORT_BY_OPERATOR, sqlite3_column_int64(chains, 0));
			put_origin(timeline, REPORT_BY_MODULE, sqlite3_column_int64(chains, 0));
		}
		if (sqlite3_column_type(chains, 1) != SQLITE_NULL)
			put_origin(timeline, REPORT_BY_LINE, sqlite3_column_int64(chains, 1));
	}
	sqlite3_reset(chains);
}

void timeline__close_origins(struct timeline *timeline)
{
	sqlite3_finalize(timeline->chains);
}
