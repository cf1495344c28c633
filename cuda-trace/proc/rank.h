/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rank that a launcher gave to a process by its environment: torchrun, Open MPI, PMIx, MPICH
 * and Intel MPI, MVAPICH, Slurm. Only what the process was started with is visible in /proc, so
 * that a rank which a program gives itself later (Ray's workers, multiprocessing) is not known
 * here.
 */
#ifndef CUDA_TRACE_PROC_RANK_H
#define CUDA_TRACE_PROC_RANK_H

#include <stdbool.h>
#include <stdint.h>

/* The variables, as messages and manual pages name them. */
#define RANK_VARIABLES \
	"RANK with WORLD_SIZE, OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK, SLURM_PROCID, RANK"

struct rank {
	bool known;
	uint32_t rank;
	int64_t size;  /* ranks; -1 = unknown */
	int64_t local; /* among those of its host; -1 = unknown */
};

/* From an environment block, NUL-separated; ignores a last text that is cut. The process controls
 * its contents. */
void rank__parse(struct rank *rank, const char *environment, uint64_t size);
/* From the environment of a running process. */
void rank__of_process(struct rank *rank, uint32_t pid);

#endif
