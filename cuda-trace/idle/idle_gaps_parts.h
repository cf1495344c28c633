/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files idle_gaps*.c share. */
#ifndef CUDA_TRACE_IDLE_IDLE_GAPS_PARTS_H
#define CUDA_TRACE_IDLE_IDLE_GAPS_PARTS_H

#include "cuda-trace/base/gpu_set.h"
#include "cuda-trace/idle/idle_gaps.h"
#include "cuda-trace/idle/idle_places.h"
#include "cuda-trace/idle/idle_recent.h"

#define GAPS_KEPT_NS 10000000000ull /* of a GPU that is idle meanwhile */

struct operation {
	uint64_t start, end;
	uint64_t came;	  /* when it began; `start` is when it had what it waited for: */
	uint64_t wait_ns; /* the last rank of a collective */
	struct idle_host *host;
	uint32_t correlation;
	int32_t last;	  /* that rank; -1 = unknown */
	uint8_t function; /* enum nccl_function */
	bool pageable;
};

/* A collective whose operation is to be found. */
struct gaps_wait {
	struct idle_host *host;
	struct collective_wait collective;
};

struct gpu {
	struct operation *operations;
	uint32_t count, size;
	uint64_t busy_until;	/* explained until there; 0 = not begun */
	struct idle_line *last; /* who made the call for its last operation */
	uint64_t left;		/* when the last process that used it ended */
	uint64_t whole_ns, ns[IDLE_CAUSE_COUNT];
	struct idle_recent recent[IDLE_CAUSE_COUNT];
};

struct idle_gaps {
	struct idle_known known;
	struct idle_functions *functions;
	struct idle_places *places;
	struct gpu gpus[GPU_SET_MAX];
	struct gpu_set set;
	struct device {
		struct idle_host *host;
		gpu_ordinals gpu_of;
	} * devices;
	uint32_t device_count, device_size;
	uint64_t first, last; /* event */
	uint64_t idle_ns, gap_count;
	size_t kept;
	struct gaps_wait *waits;
	uint32_t wait_count, wait_size;
	bool follows;			/* idle_gaps__follow() */
	struct idle_observed *observed; /* NULL = all is */
	idle_gap_handler handle;	/* NULL = nobody wants to know */
	void *context;
};

/* Sorts by start. */
void idle_gaps__sort(struct gpu *gpu);
/* Collectives that began before that: their operations start when the last rank had come. */
void idle_gaps__place_waits(struct idle_gaps *gaps, uint64_t until);
/* Until then, it is known what is not explained yet: no operation that starts later began before.
 */
uint64_t idle_gaps__pending(const struct gpu *gpu, uint64_t until);
/* Explains a gap. ends: the operation that ended it; NULL = it lasted until the end. If it had come
 * when the gap began, it waited for other ranks. */
void idle_gaps__explain(struct idle_gaps *gaps, struct gpu *gpu, uint64_t from, uint64_t to,
			const struct operation *ends);
/* What is explained from then on needs evidence since the returned time: what is older goes. */
uint64_t idle_gaps__needs(struct idle_gaps *gaps, uint64_t from, uint64_t until);
/* A gap lasts until then, and its thread has no wait, past or present, nor did anything later: it
 * has ended, and who knows what the GPU waits for. */
void idle_gaps__check_last(const struct idle_gaps *gaps, struct gpu *gpu, uint64_t until);
/* Explains the gaps that end before that. */
void idle_gaps__close_gpu(struct idle_gaps *gaps, struct gpu *gpu, uint64_t until);

#endif
