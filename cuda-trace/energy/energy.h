/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Divides the energy of GPUs: docs/internals/energy.md. Filled with the steps of meters and with
 * the work of GPUs, in any order; one thread.
 */
#ifndef CUDA_TRACE_ENERGY_ENERGY_H
#define CUDA_TRACE_ENERGY_ENERGY_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/energy/energy_meter.h"
#include "cuda-trace/energy/energy_normal.h"

struct energy;
struct energy_process;

struct energy_gpu {
	uint8_t uuid[16];
	double meter, work, idle, unattributed; /* joules; the first is the sum of the others */
	double idle_watts;			/* below 0 = never measured */
	double error;	/* joules: as much of the work may belong to what came before or after */
	int64_t lag_ns; /* of the meter, as the regression found it; below 0 = there is none */
};

/* A kernel's name over all processes, or a process. */
struct energy_line {
	const char *name; /* untrusted; valid until the free */
	uint32_t pid;
	uint64_t ns; /* of its kernels and copies for which there is energy */
	double joules, joules_by_time;
	enum energy_basis basis;
	double error; /* watts: half of the 95 % confidence interval; ENERGY_REGRESSION only */
};

struct energy_sums {
	struct energy_gpu gpus[ENERGY_METERS];
	uint32_t gpu_count;
	struct energy_line *kernels, *processes; /* most energy first */
	uint32_t kernel_count, process_count;
	uint64_t late_ns;      /* of work that came when its energy was distributed already */
	uint64_t unmetered_ns; /* of work for which no meter was read */
};

/* NULL: no memory. The others accept NULL. */
struct energy *energy__new(void);
void energy__free(struct energy *energy);
void energy__meter(struct energy *energy, uint32_t meter, const uint8_t uuid[16]);
void energy__step(struct energy *energy, const struct energy_step *step);
struct energy_process *energy__start(struct energy *energy, uint32_t pid);
/* A kernel of that name id, or a copy: 0. `gpu` numbers the GPUs as energy__gpu() does. */
void energy__work(struct energy *energy, struct energy_process *process, uint32_t gpu,
		  uint32_t name, uint64_t start, uint64_t end);
/* How long the GPU was busy in the time after `start`: 2^24 ns (17 ms) that begin at a multiple of
 * that have all of it, or none. */
void energy__busy(struct energy *energy, uint32_t gpu, uint64_t start, uint64_t ns);
/* The GPU is known: of a part of it (MIG) the whole's meter says nothing. */
void energy__gpu(struct energy *energy, uint32_t gpu, const uint8_t uuid[16], bool mig);
/* The process has ended, by that name; `name_of` has its kernels' names. */
void energy__end(struct energy *energy, struct energy_process *process, const char *comm,
		 const char *(*name_of)(void *context, uint32_t name), void *context);
/* Distributes what is left. Valid until the free. */
const struct energy_sums *energy__finish(struct energy *energy);

#endif
