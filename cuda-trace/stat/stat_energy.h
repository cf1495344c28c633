/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the time line of `stat` and the energy of GPUs. No state of its own; one thread.
 */
#ifndef CUDA_TRACE_STAT_STAT_ENERGY_H
#define CUDA_TRACE_STAT_STAT_ENERGY_H

#include "cuda-trace/energy/energy.h"
#include "cuda-trace/stat/stat_table.h"

/* A process's time, with its energy where that is requested. */
struct stat_host *stat_energy__start(struct stat_table *table, const struct process *process,
				     struct energy_process **energy);
void stat_energy__end(struct stat_table *table, struct process *process,
		      struct energy_process *energy);

#endif
