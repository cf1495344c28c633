/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the time went, of one process: how long its GPU work ran, copied, overlapped, and how long
 * the GPU was idle while the host was busy launching or waiting.
 */
#ifndef CUDA_TRACE_STAT_STAT_TIME_H
#define CUDA_TRACE_STAT_STAT_TIME_H

#include <stddef.h>
#include <stdint.h>
#include "libcupti-usdt/probes.h"

struct stat_time_sums {
	uint64_t window_ns;	/* from the first event to the end of the last, of each process */
	uint64_t kernel_ns;	/* some kernel ran */
	uint64_t copy_ns;	/* some copy or memset ran */
	uint64_t busy_ns;	/* either */
	uint64_t host_bound_ns; /* the GPU was idle while the host was in a launch call */
	uint64_t host_wait_ns;	/* the GPU was idle while the host waited for it */
	uint64_t late_events; /* came when their time was no longer kept: (in part) not in the above
			       */
	uint64_t late_gpu_ns; /* how long those kernels and copies were, together */
	uint64_t late_host_ns; /* the same of launches and waits */
	uint64_t left_out;     /* processes that are in none of these: too many at a time */
	uint64_t killed;       /* likewise: most of their kernels' records went with them */
	uint64_t doubtful; /* processes where that is more than 1 % of the GPU's or host's time */
};

struct stat_time;

/* BEYOND counts what all of those with the same one take beyond half a MiB each, and bounds it. */
struct stat_time *stat_time__new(size_t *beyond);
void stat_time__free(struct stat_time *time);

/* What is neither work of the GPU nor a launch or a wait changes nothing. */
void stat_time__record(struct stat_time *time, const struct cuda_record *record);
/* Takes what is still open into account and adds it all. */
void stat_time__finish(struct stat_time *time, struct stat_time_sums *sums);

#endif
