/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile --pc --max-overhead: how far apart windows must be, so that what each holds launches for
 * is no more than a share of the time. One thread.
 */
#ifndef CUDA_TRACE_PROFILE_PC_PC_RATE_H
#define CUDA_TRACE_PROFILE_PC_PC_RATE_H

#include <stdbool.h>
#include <stdint.h>

#define PC_DEFAULT_BURSTS "20ms/1s"

struct pc_pace {
	double limit; /* a part of the time; 0 = the period stays */
	uint32_t every_ms;
	bool too_expensive; /* even the longest period costs more */
	uint64_t windows;   /* since the last decision: that launches were held for */
	uint64_t held_ns;
};

/* Launches of a process were held so long for a window; not its first one, which costs more.
 */
void pc_rate__window(struct pc_pace *pace, uint64_t held_ns);
/* Some times a second: the period in ms that fits, which may be the one that it has. */
uint32_t pc_rate__period(struct pc_pace *pace);

#endif
