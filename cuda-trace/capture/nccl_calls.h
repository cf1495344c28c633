/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and sizes of what NCCL's calls say. No state; the calls' contents are untrusted.
 */
#ifndef CUDA_TRACE_CAPTURE_NCCL_CALLS_H
#define CUDA_TRACE_CAPTURE_NCCL_CALLS_H

#include <stdint.h>
#include "bpf/event.h"

/* Of a call in a recording. */
struct recorded_kernel {
	uint32_t correlation; /* 0 = it has no kernel */
	uint64_t graph_node;  /* that a replay executed; 0 = it was launched by the call */
};

/* A kernel of a collective, of a process on this machine, waited for the rank that came last. */
struct collective_wait {
	uint32_t pid;
	uint64_t start; /* of the kernel, ns */
	uint64_t ns;
	uint32_t function; /* enum nccl_function, of the kernel's first call */
	int32_t last;	   /* the rank; -1 = unknown */
};

/* "all_reduce"; NULL if this function is no operation. */
const char *nccl_calls__operation(uint32_t function);
/* "float32"; NULL if the type is not known. */
const char *nccl_calls__type(int32_t type);
/* Elements of the call times the size of their type; 0 = not known. */
uint64_t nccl_calls__bytes(const struct event_collective *call);

#endif
