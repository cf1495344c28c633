/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of NCCL → the kernels that they launched, of one process. A call, or the end of its group,
 * is followed by the launch on the same thread; the launch's correlation id leads to the kernel.
 */
#ifndef CUDA_TRACE_COLLECTIVES_COLLECTIVES_H
#define CUDA_TRACE_COLLECTIVES_COLLECTIVES_H

#include "cuda-trace/capture/nccl_calls.h"
#include "cuda-trace/collectives/graph_collectives.h"
#include "cuda-trace/collectives/nccl_comms.h"
#include "cuda-trace/proc/rank.h"
#include "libcupti-usdt/probes.h"

struct collectives;

struct collectives_options {
	uint32_t pid;
	struct rank rank; /* by the launcher */
	bool timed;	  /* the process's launches and kernels come, too */
	/* The calls of this issue were launched; correlation 0: they were not, as far as is known.
	 * Once for each kernel of a large group. May be NULL; if not, no kernels come but those in
	 * graphs. */
	void (*launched)(void *context, uint64_t issue, uint32_t correlation);
	void *context;
	struct graph_collectives_options graphs;
};

/* NULL: no memory. All of these accept NULL. */
struct collectives *collectives__new(struct nccl_comms *comms,
				     const struct collectives_options *options);
/* In the order in which the process made its calls; before the records of their launches. The
 * number of the issue that an operation is a part of: what is launched at once; 0 = none. */
uint64_t collectives__call(struct collectives *collectives, const struct event_collective *call);
/* The same of a recording, which knows the kernel: launches and nodes are not needed then. */
void collectives__recorded(struct collectives *collectives, const struct event_collective *call,
			   const struct recorded_kernel *kernel);
/* `name` is the kernel's; NULL = unknown. */
void collectives__launch(struct collectives *collectives, const struct cuda_launch *launch,
			 const char *name);
/* A node of a graph is created or copied. */
void collectives__node(struct collectives *collectives, const struct cuda_graph_node *node);
void collectives__kernel(struct collectives *collectives, const struct cuda_kernel *kernel,
			 const char *name);
/* A kernel of NCCL, by its name; maybe mangled. */
bool collectives__is_nccl(const char *name);
/* The process has ended. */
void collectives__free(struct collectives *collectives);

#endif
