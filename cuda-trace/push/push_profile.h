/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernels of an interval, summed by process, GPU, stream, name and call stack of the launch. Of
 * all kernels the time is exact; where only some launches have a stack, the time of a kernel is
 * divided among its stacks as those show. Memory is bounded: what does not fit is counted. One
 * thread.
 */
#ifndef CUDA_TRACE_PUSH_PUSH_PROFILE_H
#define CUDA_TRACE_PUSH_PUSH_PROFILE_H

#include "cuda-trace/capture/process.h"
#include "cuda-trace/export/export_stack_tree.h"
#include "cuda-trace/origin/origin.h"
#include "cuda-trace/recording/callstacks.h"

struct push_profile;

/* One in `period` launches has a stack, 0 = none has. by_pid: a profile for each process, otherwise
 * for all of the same name and origin. samples: of PC samples instead of kernels. NULL = no memory.
 */
struct push_profile *push_profile__new(uint32_t period, bool by_pid, bool samples);
void push_profile__start(struct push_profile *profile, struct process *process);
void push_profile__record(struct push_profile *profile, struct process *process,
			  const struct cuda_record *record);
void push_profile__stack(struct push_profile *profile, struct process *process,
			 const struct event *event);
void push_profile__end(struct push_profile *profile, struct process *process);

/* Whose profile it is. Texts are clean. */
struct push_source {
	uint32_t pid; /* 0 = of several processes */
	char comm[4 * EVENT_COMM_LEN + 4];
	char container[16]; /* short id, or "" */
	struct origin origin;
	uint64_t kernels, ns;
	uint64_t samples;
};

/* Hands out what came since the last call, a tree for each source, and begins anew. */
int push_profile__take(struct push_profile *profile,
		       int (*take)(void *context, const struct push_source *source,
				   struct stacks *stacks),
		       void *context);

struct push_profile_counts {
	uint64_t kernels;   /* all that came */
	uint64_t not_fit;   /* of these, those that found no space: in no profile */
	uint64_t intervals; /* in which there were any */
};

void push_profile__count(const struct push_profile *profile, struct push_profile_counts *counts,
			 struct callstacks_counts *stacks);

struct push_stall_counts {
	uint64_t windows, window_ns, overflows;
	uint64_t held_ns;		/* that launches waited for windows, in all processes */
	uint64_t total, dropped, other; /* samples, as the agents reported them */
	uint64_t placed;		/* of these: with a kernel and a reason */
	uint64_t unplaced;		/* without, and for none of the reasons above */
	uint64_t not_fit; /* of those placed and dropped: found no space, in no profile */
};

/* Zeros where there are no samples. */
void push_profile__count_samples(const struct push_profile *profile,
				 struct push_stall_counts *counts);
void push_profile__free(struct push_profile *profile);

#endif
