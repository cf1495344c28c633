/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The collectives of a communicator that was made before it was observed have numbers, but each
 * rank counts from the first one that was observed of it. Kernels of one collective end at the same
 * time in all ranks, whoever came late, so ends tell which numbers belong together. Ranks of one
 * machine only, whose times are of one clock.
 *
 * Failure modes: 1. ranks in lockstep end other collectives nearly at the same time: only ends that
 * come long after the one before are compared, the first ones of a burst, and they must be much
 * nearer to each other than to that one. 2. a coincidence: several in a row must agree, and none
 * may disagree. 3. collectives follow each other without a rest: the ranks are never aligned, and
 * not compared.
 */
#ifndef CUDA_TRACE_COLLECTIVES_COMM_ALIGNMENT_H
#define CUDA_TRACE_COLLECTIVES_COMM_ALIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

struct comm_alignment;

struct ended_collective {
	uint64_t number; /* as its rank counts */
	uint64_t end;	 /* ns */
	uint64_t bytes;
	uint32_t function; /* enum nccl_function */
};

/* NULL: no memory. The caller frees it with free(). */
struct comm_alignment *comm_alignment__new(uint32_t ranks);
uint32_t comm_alignment__ranks(const struct comm_alignment *alignment);
/* The numbers of all ranks are known. */
bool comm_alignment__is_complete(const struct comm_alignment *alignment);
/* A collective that ends at the same time in all ranks has ended in this one. */
void comm_alignment__note(struct comm_alignment *alignment, uint32_t rank,
			  const struct ended_collective *ended);
/* Makes a number of this rank one that is the same in all ranks; false: not known yet. */
bool comm_alignment__number(const struct comm_alignment *alignment, uint32_t rank,
			    uint64_t *number);

#endif
