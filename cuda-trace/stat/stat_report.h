/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of `stat` as tables for people, or as one JSON object.
 */
#ifndef CUDA_TRACE_STAT_STAT_REPORT_H
#define CUDA_TRACE_STAT_STAT_REPORT_H

#include <stdio.h>
#include "cuda-trace/capture/overhead_limit.h"
#include "cuda-trace/capture/session.h"
#include "cuda-trace/foreign/left_out.h"
#include "cuda-trace/stat/stat_calls.h"
#include "cuda-trace/stat/stat_table.h"

struct idle_sums;

struct stat_report {
	const struct stat_table *table; /* sorted */
	const struct stat_calls *calls; /* sorted; NULL = nobody asked for calls */
	const struct session_lost_counts *lost;
	const struct left_out *left_out;	 /* NULL = of a recording, which has only counts */
	uint64_t duration_ns;			 /* that was watched */
	int64_t first_record_ns;		 /* from the start of watching; -1 = none came */
	const char *driver_launches;		 /* as session__driver_launches() has it */
	uint64_t most_kernels;			 /* lines of text, of processes, too */
	const struct session *session;		 /* NULL = a recording's */
	const struct overhead_finding *overhead; /* NULL = no --max-overhead */
	bool idle_wanted;			 /* --idle */
	const struct idle_sums *idle;		 /* NULL = not known */
};

void stat_report__text(FILE *file, const struct stat_report *report);
/* The same: how the sample was taken and what it says not. */
void stat_report__text_sample(FILE *file, const struct stat_report *report);
struct json_object *stat_report__json_sample(const struct stat_report *report);
/* Of it: memory pools, devices, contexts, streams. */
void stat_report__text_objects(FILE *file, const struct stat_report *report);
/* Of it: where the time went, and advice. */
void stat_report__text_time(FILE *file, const struct stat_table *table);
struct json_object *stat_report__json_time(const struct stat_time_sums *time);
/* Of it: why the GPU was idle; NULL = not known. */
void stat_report__text_idle(FILE *file, const struct stat_report *report);
struct json_object *stat_report__json_idle(const struct stat_report *report);
/* Of it: kernels by NVTX range. */
void stat_report__text_ranges(FILE *file, const struct stat_report *report);
/* Of it: NCCL's communicators, and which rank is late. */
void stat_report__text_collectives(FILE *file, const struct stat_report *report);
/* "1.50 MiB", as the tables have it. */
const char *stat_report__bytes(char out[24], uint64_t bytes);
/* Of it: all but kernels, processes and totals. */
void stat_report__text_events(FILE *file, const struct stat_report *report);
void stat_report__json(FILE *file, const struct stat_report *report);
/* "cupti", or "none" when nothing was seen. */
const char *stat_report__source(const struct stat_report *report);
/* Launches whose kernel did not come: they had not finished, or were lost. */
uint64_t stat_report__unfinished(const struct stat_sums *sums);

#endif
