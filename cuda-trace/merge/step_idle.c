// SPDX-License-Identifier: BSD-2-Clause
/*
 * The gaps of a recording, as `report --idle` explains them. What can go wrong: work that was not
 * seen looks like idle time. As in stat, nothing is said then.
 */
#include <errno.h>
#include <stdlib.h>
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/capture/session.h"
#include "cuda-trace/merge/steps.h"
#include "cuda-trace/report/report_idle.h"
#include "cuda-trace/report/report_records.h"

struct gaps {
	struct report_idle *idle;
	bool is_killed; /* a process was, and its last kernels are missing */
};

/* Of a process. */
struct launched {
	uint64_t launches, kernels;
};

static void handle_start(void *context, struct process *process)
{
	process->data = calloc(1, sizeof(struct launched));
}

static void count(struct launched *launched, const struct cuda_record *record)
{
	const struct cuda_launch *launch = (const void *)record;

	if (record->kind == CUDA_RECORD_LAUNCH)
		launched->launches += !launch->result;
	else if (record->kind == CUDA_RECORD_KERNEL)
		launched->kernels++;
}

static void handle_record(void *context, struct process *process, const struct cuda_record *record)
{
	struct gaps *gaps = context;

	if (process->data)
		count(process->data, record);
	report_idle__record(gaps->idle, process, record);
}

static void handle_end(void *context, struct process *process)
{
	const struct launched *launched = process->data;
	struct gaps *gaps = context;

	gaps->is_killed |= launched && process->source == EVENT_SOURCE_AGENT &&
			   process__lost_kernels(process, launched->launches, launched->kernels);
	free(process->data);
	process->data = NULL;
	report_idle__end(gaps->idle, process);
}

int step_idle__read(const struct report_file *file, idle_gap_handler handle, void *context,
		    bool *known, const char **why)
{
	struct gaps gaps = {};
	struct session_lost_counts lost;
	const struct sink sink = {
		.context = &gaps,
		.process_start = handle_start,
		.record = handle_record,
		.process_end = handle_end,
	};

	int err;

	*known = false;
	*why = report_idle__unknown(file);
	/* Parts of the time are no steps. */
	if (report_idle__any(file) && report_file__is_sample(file))
		*why = "with --sample, kernels between the windows are not recorded";
	if (*why)
		return 0;
	err = report_idle__open(&gaps.idle, file);
	if (!gaps.idle)
		return err;
	report_records__lost(file, &lost);
	report_idle__on_gap(gaps.idle, handle, context);
	err = report_records__run(file, &sink);
	if (!err)
		report_idle__finish(gaps.idle);
	if (report_idle__close(gaps.idle) && !err)
		err = -EIO;
	if (losses__unseen(&lost))
		*why = "work was not seen (lost: report --losses)";
	else if (gaps.is_killed)
		*why = "a process was killed, and the records of its last kernels are lost";
	*known = !*why;
	return err;
}
