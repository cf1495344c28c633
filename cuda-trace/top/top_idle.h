/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why each GPU was idle in the last seconds: the differences of sums that only grow.
 */
#ifndef CUDA_TRACE_TOP_TOP_IDLE_H
#define CUDA_TRACE_TOP_TOP_IDLE_H

#include "cuda-trace/idle/idle.h"

#define TOP_IDLE_NS    5000000000ull /* of which time the shares are */
#define TOP_IDLE_LOOKS 64

struct top_idle {
	struct idle *idle; /* NULL = not wanted */
	struct top_idle_look {
		uint64_t time;
		struct idle_gpu gpus[GPU_SET_MAX];
		uint32_t count;
	} looks[TOP_IDLE_LOOKS];
	uint32_t look_count; /* the oldest first */
};

/* Of one GPU in the last seconds. */
struct top_causes {
	uint64_t whole_ns; /* explained, idle or busy */
	uint64_t idle_ns;
	int count;
	struct top_cause {
		enum idle_cause cause;
		uint64_t ns;
		char place[IDLE_PLACE_LEN]; /* where most of it was lately; untrusted */
	} causes[IDLE_CAUSE_COUNT];	    /* the longest first */
};

/* After each interval. */
void top_idle__look(struct top_idle *idle, uint64_t now);
/* uuid "" = a GPU of which only the number is known. False: nothing was explained of it. */
bool top_idle__of(const struct top_idle *idle, const char *uuid, uint32_t number,
		  struct top_causes *causes);

#endif
