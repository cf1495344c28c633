/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of the page's timeline: streams of GPUs, threads, waits. Small recordings keep every
 * event; of large ones, what is shorter than a cell of time is summed up cell by cell, so that the
 * page stays small whatever was recorded.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_LANES_H
#define CUDA_TRACE_EXPORT_EXPORT_LANES_H

#include <stdint.h>
#include "cuda-trace/export/export_details.h"
#include "cuda-trace/export/export_names.h"
#include "cuda-trace/report/report_file.h"

#define LANES_ALL_KEPT (1200 * 1000) /* events: up to so many, each is kept */
#define LANES_CELLS    (1000 * 1000) /* cells of all lanes together */
#define LANES_MAX      1024	     /* of all processes; the last is for what found no place */
#define LANES_OF_GROUP 32 /* of a process's streams on one GPU, of its threads' calls ... */

enum lane_kind {
	LANE_STREAM,
	LANE_WAITS,
	LANE_DRIVER,
	LANE_RUNTIME,
	LANE_RANGES,
	LANE_STATES,
	LANE_OTHERS
};

struct lane_item {
	int64_t start, end;
	uint64_t busy;	     /* of a sum: time of its events, which may overlap */
	uint32_t count;	     /* 1: an event of its own */
	uint32_t name;	     /* of the longest event; index in lanes.names */
	uint32_t detail;     /* index in lanes.details + 1; 0: there is none */
	int64_t correlation; /* ties a call to its work on the GPU; 0: none */
};

struct lane_cell {
	int64_t first, last; /* the first start, the last end */
	uint64_t busy, longest;
	uint32_t count, name;
};

struct lane {
	enum lane_kind kind;
	int64_t global, device, number; /* globalPid; stream id or thread id */
	uint32_t merged;		/* so many streams or threads share it; 0: it is of one */
	struct lane_item *items;
	size_t count, capacity;
	struct lane_cell *cells; /* NULL while none is needed */
};

struct lane_name {
	char *text;
	char category; /* k kernel, c copy, s memset, g graph, d driver, r runtime, w wait, n NVTX,
			*/
};

struct lanes {
	struct lane list[LANES_MAX];
	size_t count;
	struct lane_name *names;
	size_t name_count, name_capacity;
	struct details details;
	int64_t begin, end; /* of all events */
	uint64_t events;
	int64_t cell;	  /* ns; 0: every event is kept */
	size_t cells;	  /* of a lane */
	uint64_t invalid; /* rows with impossible times */
};

/* 0 or -errno, printed. */
int lanes__read(struct lanes *lanes, const struct report_file *file, struct names_of_file *names);
void lanes__free(struct lanes *lanes);

/* The same in a thread of its own, beside what the caller reads meanwhile. Each start is followed
 * by a wait, which returns the result, and an end. */
struct lanes_job;
int lanes__start(struct lanes_job **job, const struct report_file *file);
int lanes__wait(struct lanes_job *job, struct lanes **lanes);
void lanes__end(struct lanes_job *job);

#endif
