/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the Perfetto export share: the packets of one sequence, and who launched which
 * work of the GPU. Inside of export_perfetto*.c.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_PERFETTO_H
#define CUDA_TRACE_EXPORT_EXPORT_PERFETTO_H

#include <stdbool.h>
#include <stdio.h>
#include "cuda-trace/export/export_callstacks.h"
#include "cuda-trace/export/export_names.h"
#include "cuda-trace/report/report_file.h"
#include "cuda-trace/report/report_gpus.h"
#include "generated/perfetto.pb-c.h"

#define PERFETTO_LANES 64 /* spans of one row of Perfetto's that overlap */

/* Perfetto draws spans of one track that overlap as if they were calls of each other: those that
 * do get tracks of their own. */
struct perfetto_lanes {
	int64_t end[PERFETTO_LANES];
	unsigned int count;
};

/* What a launch made, by the launch's correlation id, which is one process's. */
struct perfetto_work {
	int64_t global, correlation;
	uint64_t event;
};

struct perfetto {
	const struct report_file *file;
	FILE *out;
	struct names_of_file *names;
	struct export_callstacks *callstacks; /* NULL = the file has no stacks of the host */
	struct report_gpus *gpus;
	uint8_t *buffer;
	size_t buffer_size;
	struct perfetto_work *work; /* sorted before the launches are written */
	uint32_t work_count, work_capacity;
	uint64_t tracks;   /* made so far, besides those of processes and threads */
	uint64_t invalid;  /* rows whose times are no span */
	uint64_t crowded;  /* spans beyond PERFETTO_LANES */
	uint64_t unlinked; /* work whose launch is not linked: too much of it */
	int err;	   /* the first error; nothing is written after it */
};

/* Writes a packet; `ns` is a time of the file. */
void perfetto__put(struct perfetto *perfetto, int64_t ns, Perfetto__TracePacket *packet);
/* The same with nothing but names that later packets use. */
void perfetto__intern(struct perfetto *perfetto, Perfetto__InternedData *data);
/* Rows of a statement; 0 or -errno, printed. */
int perfetto__each(struct perfetto *perfetto, const char *sql,
		   void (*put)(struct perfetto *, sqlite3_stmt *, void *), void *context);
/* False for a row whose times are no span: it is counted. */
bool perfetto__is_span(struct perfetto *perfetto, int64_t start, int64_t end);
/* The first lane that is free from `start`; -1: none is, which is counted. */
int perfetto__lane(struct perfetto *perfetto, struct perfetto_lanes *lanes, int64_t start,
		   int64_t end);
/* What a string of the file is called in interned data. */
uint64_t perfetto__name(int64_t string);
uint64_t perfetto__process_track(int64_t global);
/* A track that is neither a process's nor a thread's. */
uint64_t perfetto__new_track(struct perfetto *perfetto, const char *name, uint64_t parent,
			     bool counts);
/* export_perfetto_gpu.c: work of the GPUs, and counters of theirs. */
int perfetto__put_gpu(struct perfetto *perfetto);
/* export_perfetto_host.c: calls and ranges by thread, waits; after the GPUs'. */
int perfetto__put_host(struct perfetto *perfetto);

#endif
