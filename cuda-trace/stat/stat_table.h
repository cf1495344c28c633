/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of `stat`: filled record by record, read when all processes have ended.
 */
#ifndef CUDA_TRACE_STAT_STAT_TABLE_H
#define CUDA_TRACE_STAT_STAT_TABLE_H

#include <stddef.h>
#include "cuda-trace/base/pattern.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/capture/nccl_calls.h"
#include "cuda-trace/collectives/nccl_comms.h"
#include "cuda-trace/origin/origin.h"
#include "cuda-trace/stat/stat_events.h"
#include "cuda-trace/stat/stat_objects.h"
#include "cuda-trace/stat/stat_ranges.h"
#include "cuda-trace/stat/stat_sample.h"
#include "cuda-trace/stat/stat_time.h"

struct energy;

struct stat_sums {
	uint64_t launches;	 /* calls, failed ones too */
	uint64_t launch_errors;	 /* of these */
	uint64_t untimed;	 /* launches whose kernels cannot come, as nobody times them */
	uint64_t graph_launches; /* calls, failed ones too */
	uint64_t graph_launch_errors;
	uint64_t kernels;
	uint64_t graph_kernels; /* of these: from graphs */
	uint64_t gpu_ns;
	/* With --sample the two above are estimates. */
	uint64_t sampled_kernels;    /* that came */
	uint64_t unsampled_launches; /* of kernels of which none came: not in gpu_ns */
	double gpu_error2;
	uint64_t memcpys;
	uint64_t memcpy_bytes;
	uint64_t memsets;
	uint64_t allocs;
	uint64_t frees;
	uint64_t live_bytes; /* never freed, of what was allocated while we looked */
	uint64_t untracked;  /* allocations that are in neither live_bytes nor a peak */
	uint64_t syncs;
	uint64_t sync_ns;
	uint64_t api_errors;
};

struct stat_kernel {
	const char *name; /* demangled, untrusted */
	uint64_t launches;
	uint64_t launch_errors;
	uint64_t untimed;	/* launches for which no kernel is to come */
	uint64_t graph_kernels; /* of `count` */
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	/* With --sample count and total_ns are estimates. */
	uint64_t sampled;   /* that came */
	uint64_t unsampled; /* launches, if none came */
	double error2;	    /* square of total_ns's error */
	uint32_t grid[3];   /* of the first kernel, or of the driver source's first launch */
	uint32_t block[3];
	bool shaped;   /* there was one */
	bool varies;   /* others had another grid or block */
	uint32_t next; /* index of the next with this name's hash; stat_table.c's own */
};

struct stat_process {
	uint32_t pid;
	uint32_t uid;
	char comm[EVENT_COMM_LEN];
	char cgroup[256];
	struct origin origin;
	struct rank rank;
	struct stat_sums sums;
	struct cuda_status status;
	char client[64]; /* of CUPTI, to which it yielded; untrusted */
	uint32_t yields;
	uint64_t yielded_ns;
	const char *source;
	struct stat_windows windows;
	int exit_status;	 /* -1 = lives, or not known */
	uint64_t observed_since; /* as struct process has it */
	const char *no_agent;	 /* likewise */
};

struct stat_table {
	struct pattern *pattern; /* which kernels count */
	uint64_t min_duration;
	bool sampled;		     /* records come of windows only: of kernels, */
	bool copies_sampled;	     /* and of copies and memsets */
	bool windowed;		     /* so do they, of --range and its like: all of those */
	uint64_t window_ns;	     /* their length, once that is known */
	bool errors_reported;	     /* each failed call comes in the group API_ERROR */
	bool collectives_reported;   /* calls of NCCL were requested */
	bool ranges_reported;	     /* NVTX was requested: which kernels are in which range */
	bool devices_listed;	     /* devices are listed; else they only tell GPUs apart */
	bool past;		     /* of a recording: what has those pids here is another's */
	struct stat_windows windows; /* of all processes */
	struct stat_sums totals;
	struct stat_kernel *kernels;
	uint32_t kernel_count;
	struct stat_process *processes;
	uint32_t process_count;
	uint32_t processes_left_out;	 /* their sums are in the totals */
	struct stat_events events;	 /* of all processes */
	struct stat_objects *objects;	 /* of all processes; NULL = none were reported */
	struct stat_range_lines *ranges; /* kernels by NVTX range; NULL = not requested */
	struct stat_memory *memory;	 /* by process, device and kind */
	uint32_t memory_count;
	struct stat_time_sums time;
	struct nccl_comms comms; /* of all processes */
	/* The rest is stat_table.c's own. */
	struct stat_time *timeline;
	struct energy *energy; /* NULL = not requested */
	struct stat_time_observer observer;
	uint64_t killed; /* processes of which most of the last kernels are not known */
	uint32_t ranged; /* processes whose ranges are looked at now */
	uint32_t kernel_capacity;
	uint32_t process_capacity;
	uint32_t *heads; /* of kernels, by name */
	size_t name_bytes;
};

int stat_table__init(struct stat_table *table, struct pattern *pattern, uint64_t min_duration);
/* Its records are those of a recording. */
static inline void stat_table__set_past(struct stat_table *table)
{
	table->past = true;
	stat_time__set_past(table->timeline);
}
/* Before anything comes: whose energy it is. It must stay until the table is sorted. */
void stat_table__measure(struct stat_table *table, struct energy *energy);
void stat_table__free(struct stat_table *table);
void stat_table__start(struct stat_table *table, struct process *process);
void stat_table__record(struct stat_table *table, struct process *process,
			const struct cuda_record *record);
void stat_table__collective(struct stat_table *table, struct process *process,
			    const struct event_collective *call,
			    const struct recorded_kernel *kernel);
void stat_table__end(struct stat_table *table, struct process *process);
/* All processes have ended: kernels and processes by GPU time, longest first; sums of time. */
void stat_table__sort(struct stat_table *table);

#endif
