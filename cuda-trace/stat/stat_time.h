/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the time went. A GPU is busy while a kernel, copy or memset of any traced process runs on
 * it, overlap counted once. There is one window, from the first event of any process to the end of
 * the last, and the time of the GPUs is that window for each GPU that had work. It is what all
 * shares are of, so that none is above 100 %. What `report --idle` prints follows the same
 * definition (report/sql/idle.sql).
 */
#ifndef CUDA_TRACE_STAT_STAT_TIME_H
#define CUDA_TRACE_STAT_STAT_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/base/gpu_set.h"
#include "cuda-trace/stat/stat_shares.h"

struct stat_gpu {
	uint32_t index;	 /* in the set of GPUs, as in struct stat_share */
	uint32_t device; /* ordinal in the first process that used it */
	bool known;	 /* uuid is */
	uint8_t uuid[16];
	uint64_t kernel_ns;  /* some kernel ran */
	uint64_t copy_ns;    /* some copy or memset ran */
	uint64_t busy_ns;    /* either */
	uint64_t nobodys_ns; /* of these, in no process's share */
	/* The GPU was idle while a process that uses it was in a launch call; or, not that, waited.
	 */
	uint64_t host_bound_ns, host_wait_ns;
};

/* The first five: sums over the GPUs. */
struct stat_time_sums {
	uint64_t kernel_ns;
	uint64_t copy_ns;
	uint64_t busy_ns;
	uint64_t host_bound_ns;
	uint64_t host_wait_ns;
	uint64_t window_ns;   /* from the first event to the end of the last, of all processes */
	uint64_t whole_ns;    /* window_ns of each GPU */
	uint64_t late_events; /* came when their time was no longer kept: (in part) not in the above
			       */
	uint64_t late_gpu_ns; /* how long those kernels and copies were, together */
	uint64_t late_host_ns; /* the same of launches and waits */
	uint64_t left_out; /* processes whose launches and waits are in none of these: too many at a
			      time */
	uint64_t killed;   /* processes most of whose last kernels' records went with them */
	uint64_t doubtful; /* GPUs and processes where that is more than 1 % of their time */
	uint32_t gpu_count; /* that had work; 1 where none had and something waited for it */
	struct stat_gpu gpus[GPU_SET_MAX];
	/* Of processes on GPUs, largest first; they go with the struct stat_time. */
	const struct stat_share *shares;
	uint32_t share_count;
	bool mps; /* an MPS server ran when a second or later process came to a GPU */
};

struct interval_set;
struct stat_time;
struct stat_host; /* a process */

/* Who is called with the work of GPUs, by their index in the set of GPUs. */
struct stat_time_observer {
	void *context;
	/* Each kernel and copy, whether its time is still kept or not; owner: of the process. */
	void (*work)(void *context, void *owner, uint32_t gpu, const struct cuda_record *record,
		     uint64_t start, uint64_t end);
	/* How long the GPU was busy in a slice (stat_lines.h) that begins at `start`. */
	void (*busy)(void *context, uint32_t gpu, uint64_t start, uint64_t ns);
	/* Now it is known which GPU that is. */
	void (*gpu)(void *context, uint32_t gpu, const struct gpu_identity *identity);
};

struct stat_time *stat_time__new(void);
/* Before anything comes. The observer must stay. */
void stat_time__observe(struct stat_time *time, const struct stat_time_observer *observer);
/* Of a recording: calls come in the order in which they began, so what is waited for comes later.
 */
void stat_time__set_past(struct stat_time *time);
/* As stat_shares__set_mps(). Before anything comes. */
void stat_time__set_mps(struct stat_time *time, bool (*is_mps)(void));
void stat_time__set_owner(struct stat_host *host, void *owner);
/* Who it is, at the latest before its end. Accepts NULL. */
void stat_time__name(struct stat_host *host, uint32_t pid, const char *comm, const char *cgroup);
/* Only what lies in these intervals counts, but not to the observer; NULL = all. They must stay. */
void stat_time__clip(struct stat_host *host, const struct interval_set *windows);
/* The window is not from the first event to the last, but has this length. */
void stat_time__set_window(struct stat_time_sums *sums, uint64_t ns);
void stat_time__free(struct stat_time *time);
/* A process, to be ended; NULL = no memory. */
struct stat_host *stat_time__start(struct stat_time *time);
/* Any record. What is neither work of a GPU, a launch, a wait nor a device changes nothing. Accepts
 * NULL for both. */
void stat_time__record(struct stat_time *time, struct stat_host *host,
		       const struct cuda_record *record);
/* Frees it; accepts NULL. */
void stat_time__end(struct stat_time *time, struct stat_host *host);
/* Takes what is still open into account and fills in the sums. */
void stat_time__finish(struct stat_time *time, struct stat_time_sums *sums);
/* Bytes that are used beyond what all lines have from the beginning. */
size_t stat_time__beyond(const struct stat_time *time);

#endif
