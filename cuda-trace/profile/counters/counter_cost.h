/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long counting will take: reported before PROGRAM starts, by what was measured elsewhere, and
 * again by what the first counted kernels took here.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_COUNTER_COST_H
#define CUDA_TRACE_PROFILE_COUNTERS_COUNTER_COST_H

#include <stdbool.h>
#include <stdint.h>

struct counter_cost {
	uint64_t kernels; /* to be counted in each process; 0 = all */
	bool graphs;	  /* they are no kernels but launches of graphs */
	uint32_t pid;	  /* of the process that is looked at; 0 = none yet */
	uint64_t first_ns, others_ns;
	uint32_t counted;
	bool said;
};

/* On stderr: what to expect of so many passes. */
void counter_cost__say_before(const char *chip, unsigned int passes, uint64_t kernels);
/* Likewise of so many sets, each for launches of its own. */
void counter_cost__say_turns(const char *chip, unsigned int sets, uint64_t kernels);
/* A launch was counted, and its call took so long. On stderr, once: what that comes to. */
void counter_cost__launch(struct counter_cost *cost, uint32_t pid, uint64_t call_ns);

#endif
