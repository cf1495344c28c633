// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/report/report_collectives.h"

bool report_collectives__recorded(const struct report_file *file)
{
	return report_file__has(file, "META_DATA_CAPTURE", "name") &&
	       report_file__number(
		       file, "SELECT count(*) FROM META_DATA_CAPTURE WHERE name = 'COLLECTIVES'",
		       0) > 0;
}

const char *report_collectives__executed(const struct report_file *file)
{
	if (!report_file__has(file, "CUDA_TRACE_COLLECTIVES", NULL))
		return NULL;
	/* Recordings made before 2026-11-27. */
	if (!report_file__has(file, "CUDA_TRACE_COLLECTIVES", "graphNodeId"))
		return "(SELECT *, NULL AS graphNodeId FROM CUDA_TRACE_COLLECTIVES)";
	return "(SELECT * FROM CUDA_TRACE_COLLECTIVES WHERE graphNodeId IS NULL OR "
	       "correlationId IS NOT NULL)";
}
