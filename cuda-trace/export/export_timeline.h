/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the timeline export share: the file being written, and how an event is.
 * Inside of export_timeline*.c.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_TIMELINE_H
#define CUDA_TRACE_EXPORT_EXPORT_TIMELINE_H

#include <stdbool.h>
#include <stdio.h>
#include "cuda-trace/export/export_callstacks.h"
#include "cuda-trace/export/export_names.h"
#include "cuda-trace/export/export_stack_tree.h"
#include "cuda-trace/recording/record_columns.h"
#include "cuda-trace/report/report_file.h"

#define TIMELINE_SYNC_ROWS 1000000ll /* added to a stream's number for its waits */

/* Added to a thread's number for its states; beyond all numbers of threads. */
#define TIMELINE_STATE_ROWS 10000000ll

#define TIMELINE_STACKS	    4096

/* The last place of a chain in the call tree. */
struct timeline_stack {
	int64_t chain;
	uint32_t node; /* 0 = free */
};

#define TIMELINE_GPUS 64

/* What occupancy depends on, of the GPU that was last looked up under this index. */
struct timeline_gpu {
	bool is_known;
	int64_t device, multiprocessors, capability;
};

struct timeline {
	const struct report_file *file;
	FILE *out;
	struct names_of_file *names;
	struct export_callstacks *callstacks; /* NULL = the file has no stacks of the host */
	sqlite3_stmt *origins; /* of a kernel; NULL = the file has no stacks of launches */
	int64_t epoch;	       /* UTC ns of the file's time 0, less the base */
	bool separate;	       /* a comma is due before the next event */
	uint64_t invalid;
	uint64_t *runtime_calls; /* flow ids of those that begin a flow, sorted */
	size_t runtime_count, runtime_capacity;
	struct stacks call_tree; /* of the call stacks so far, outermost function first */
	struct timeline_stack known_stacks[TIMELINE_STACKS];
	struct timeline_gpu gpus[TIMELINE_GPUS];
};

/* "{", after a comma where one is due. */
void timeline__begin_event(struct timeline *timeline);
/* "KEY": TEXT as JSON. */
void timeline__put_string(struct timeline *timeline, const char *key, const char *text);
/* "KEY": ns as us with three decimals, exactly. */
void timeline__put_us(struct timeline *timeline, const char *key, int64_t ns);
/* A complete event up to its arguments; the caller closes it. Times in ns of the file. */
void timeline__put_span(struct timeline *timeline, const char *category, const char *name,
			int64_t pid, int64_t tid, int64_t start, int64_t end);
/* One end of the arrow from a call to its work on the GPU. */
void timeline__put_flow(struct timeline *timeline, bool begins, int64_t id, int64_t pid,
			int64_t tid, int64_t start);
int64_t timeline__device_pid(struct timeline *timeline, int64_t global, int64_t device);
/* Unique in the file; of the first process, the correlation id itself. */
int64_t timeline__flow_id(struct timeline *timeline, int64_t global, int64_t correlation);
/* Rows of a table, which the file may lack; 0 or -errno. */
int timeline__put_rows(struct timeline *timeline, const char *table, const char *columns,
		       const char *where, void (*put)(struct timeline *, sqlite3_stmt *));
/* A value from then on. */
void timeline__put_counter(struct timeline *timeline, const char *name, int64_t pid, int64_t start,
			   double value);
/* export_device.c: those of report --device, if there is such a file. 0, or -errno, printed. */
int timeline__put_device_samples(struct timeline *timeline);
/* export_gpu_ranges.c: NVTX ranges on the threads' rows. 0, or -errno, printed. */
int timeline__put_ranges(struct timeline *timeline);
/* export_gpu_ranges.c: NVTX ranges on the GPU's rows. 0, or -errno, printed. */
int timeline__put_gpu_ranges(struct timeline *timeline);
/* The functions of a call stack, innermost first; NULL = unknown. */
const char *const *timeline__frames(struct timeline *timeline, int64_t chain, size_t *count);
/* export_call_samples.c: where a chain is in the call tree; 0 = unknown, or no memory. */
uint32_t timeline__stack_node(struct timeline *timeline, int64_t chain);
/* The launches that have a call stack, as samples. 0, or -errno, printed. */
int timeline__put_call_samples(struct timeline *timeline);
/* The call tree, behind all events. */
void timeline__put_stack_frames(struct timeline *timeline);
/* export_timeline_origins.c: "operator", "module" and "line" of a kernel, as far as they are known.
 * 0, or -errno, printed. */
int timeline__open_origins(struct timeline *timeline);
void timeline__put_origins(struct timeline *timeline, const union record_row *kernel);
void timeline__close_origins(struct timeline *timeline);
/* All events of all tables. */
int timeline__put_all_rows(struct timeline *timeline);

#endif
