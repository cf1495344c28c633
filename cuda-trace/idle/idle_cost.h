/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --max-overhead with --idle: what the programs at the scheduler's events cost. The tool's one
 * thread.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_COST_H
#define CUDA_TRACE_IDLE_IDLE_COST_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/idle/idle_evidence.h"

struct idle_cost {
	int stats;	      /* while the kernel measures programs; below 0 = it does not */
	bool runs;	      /* stats is open */
	uint64_t since, next; /* ns */
	uint64_t before;      /* ns in programs, or waits */
	double part; /* of the time: CPU time of the programs, of all CPUs; as last measured */
	uint32_t measured; /* how often */
};

/* To be called several times a second. True: there is a new figure. */
bool idle_cost__tick(struct idle_cost *cost, const struct idle_evidence *evidence);
void idle_cost__close(struct idle_cost *cost);

#endif
