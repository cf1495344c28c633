// SPDX-License-Identifier: BSD-2-Clause
/* The gaps of a recording, as `report --idle` explains them. */
#include <errno.h>
#include "cuda-trace/capture/session.h"
#include "cuda-trace/merge/steps.h"
#include "cuda-trace/report/report_idle.h"
#include "cuda-trace/report/report_records.h"

static void handle_start(void *context, struct process *process)
{
}

static void handle_record(void *context, struct process *process, const struct cuda_record *record)
{
	report_idle__record(context, process, record);
}

static void handle_end(void *context, struct process *process)
{
	report_idle__end(context, process);
}

int step_idle__read(const struct report_file *file, idle_gap_handler handle, void *context,
		    bool *known)
{
	struct report_idle *idle = NULL;
	int err = report_idle__open(&idle, file);
	const struct sink sink = {
		.context = idle,
		.process_start = handle_start,
		.record = handle_record,
		.process_end = handle_end,
	};

	*known = idle != NULL;
	if (!idle)
		return err;
	report_idle__on_gap(idle, handle, context);
	err = report_records__run(file, &sink);
	if (!err)
		report_idle__finish(idle);
	if (report_idle__close(idle) && !err)
		err = -EIO;
	return err;
}
