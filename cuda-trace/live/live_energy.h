/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the meters of GPUs counted, divided into the energy of work, of idle GPUs, and of nobody:
 * docs/reference/energy.md. live_shares.c says range by range how long each GPU was busy, and
 * divides the energy of work among the processes. One thread.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_ENERGY_H
#define CUDA_TRACE_LIVE_LIVE_ENERGY_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/energy/energy_meter.h"

struct cuda_device;
struct live_energy;

struct live_energy_meter {
	uint8_t uuid[16];
	double meter, idle, unattributed; /* joules; the rest of the first is the work's */
};

struct live_energy_state {
	const struct live_energy_meter *meters;
	uint32_t count;
	uint64_t failed; /* readings */
};

/* NULL: *why is a sentence without a period. The others accept NULL. */
struct live_energy *live_energy__open(const char **why);
void live_energy__close(struct live_energy *energy);
/* The GPU has this number from now on. */
void live_energy__gpu(struct live_energy *energy, uint32_t gpu, const struct cuda_device *device);
/* A range of time, in ns, that follows the one before it. Of each GPU: how long it was busy in it,
 * and how long at a time that is not known. */
void live_energy__range(struct live_energy *energy, uint64_t from, uint64_t to,
			const double *busy_ns, const double *unplaced_ns);
/* How much of unplaced_ns must have been in this range. */
double live_energy__placed(const struct live_energy *energy, uint32_t gpu);
/* The work's joules in this range. */
double live_energy__work(const struct live_energy *energy, uint32_t gpu);
/* So much of it has no process. */
void live_energy__unattributed(struct live_energy *energy, uint32_t gpu, double joules);
void live_energy__state(const struct live_energy *energy, struct live_energy_state *state);

#endif
