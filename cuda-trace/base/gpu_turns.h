/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose turn it is on a GPU that several processes use in turns: bpf/time_slice.h has the rule. The
 * caller goes through time, moment by moment, and says who has work there. Moments in which nothing
 * runs are left out. What was given to nobody is to be divided in proportion. Used by
 * stat/stat_shares.c and live/live_shares.c.
 */
#ifndef CUDA_TRACE_BASE_GPU_TURNS_H
#define CUDA_TRACE_BASE_GPU_TURNS_H

#include <stdint.h>

/* A process on a GPU. */
struct gpu_turn {
	double moments; /* that it was given; the caller may take them away */
	uint64_t ran;	/* the last of them: its number */
};

struct gpu_turns {
	uint32_t slice, change;	     /* moments: bpf/time_slice.h */
	double changes;		     /* moments that were given to nobody */
	const struct gpu_turn *last; /* that had a moment, if it alone did */
	struct gpu_turn *runner;     /* of old work; NULL = the last moment was not of such */
	uint32_t had, changed;	     /* moments of its turn, and those of the change to it */
	uint64_t ran_before;	     /* its turn */
};

void gpu_turns__init(struct gpu_turns *turns, uint64_t moment_ns);
/* `length` moments from `now` on in which those in `list` have young work. */
void gpu_turns__young(struct gpu_turns *turns, struct gpu_turn *const *list, uint32_t count,
		      uint64_t now, uint32_t length);
/* The same in which all work is old. */
void gpu_turns__old(struct gpu_turns *turns, struct gpu_turn *const *list, uint32_t count,
		    uint64_t now, uint32_t length);
/* Moments of changes since the last call: nobody's so far. */
double gpu_turns__drain_changes(struct gpu_turns *turns);
/* It is freed, or somebody else's from now on. */
void gpu_turns__forget(struct gpu_turns *turns, const struct gpu_turn *turn);

#endif
