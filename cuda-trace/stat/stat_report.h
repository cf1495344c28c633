/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of `stat` as tables for people, or as one JSON object.
 */
#ifndef CUDA_TRACE_STAT_STAT_REPORT_H
#define CUDA_TRACE_STAT_STAT_REPORT_H

#include <stdio.h>
#include "cuda-trace/capture/collection.h"
#include "cuda-trace/capture/overhead_limit.h"
#include "cuda-trace/capture/session.h"
#include "cuda-trace/foreign/left_out.h"
#include "cuda-trace/stat/stat_calls.h"
#include "cuda-trace/stat/stat_table.h"

struct energy_sums;
struct idle_sums;
struct stat_by;

struct stat_report {
	const struct stat_table *table; /* sorted */
	const struct stat_calls *calls; /* sorted; NULL = calls were not requested */
	const struct session_lost_counts *lost;
	const struct left_out *left_out; /* NULL = of a recording, which has only counts */
	const struct windows *windows;	 /* NULL = it was collected all the time */
	const char *recorded_windows; /* of a recording: the options that chose them; NULL = none */
	const char *trigger, *trigger_condition;   /* of one: why record --when wrote it; or NULL */
	const struct collection_counts *collected; /* with windows */
	uint64_t duration_ns;			   /* that was watched */
	int64_t first_record_ns;		   /* from the start of watching; -1 = none came */
	const char *driver_launches;		   /* as session__driver_launches() has it */
	uint64_t most_kernels;			   /* lines of text, of processes, too */
	const struct session *session;		   /* NULL = a recording's */
	bool started;				   /* the session started a PROGRAM */
	const struct overhead_finding *overhead;   /* NULL = no --max-overhead */
	bool idle_wanted;			   /* --idle */
	const char *idle_unknown; /* why causes that were recorded are not known; NULL = they are */
	const struct idle_sums *idle;	  /* NULL = not known */
	const struct stat_by *by;	  /* NULL = no --by */
	const struct energy_sums *energy; /* NULL = not known */
	const char *no_energy;		  /* why; NULL = it is, or was not requested */
	uint64_t failed_readings;	  /* of meters */
};

void stat_report__text(FILE *file, const struct stat_report *report);
void stat_report__json(FILE *file, const struct stat_report *report);

#endif
