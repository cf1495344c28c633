/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The native frames of launches of one process: the copy of a thread's stack is unwound as it
 * comes; the stack's own event, which comes behind it, has what frame pointers show.
 */
#ifndef CUDA_TRACE_RECORDING_STACK_WALKS_H
#define CUDA_TRACE_RECORDING_STACK_WALKS_H

#include "bpf/event.h"
#include "cuda-trace/symbols/unwind.h"

enum stack_source {
	STACK_UNWOUND,	  /* complete */
	STACK_CUT,	  /* unwound, or by frame pointers: there are more frames */
	STACK_INCOMPLETE, /* the better of both, which ends before the outermost function */
	STACK_BY_POINTERS /* there was no copy */
};

/* Innermost first; of callers, where they go on. */
struct native_stack {
	uint32_t count;
	enum stack_source source;
	uint64_t addresses[UNWIND_FRAMES + STACK_ADDRESSES];
};

struct stack_walks;

/* What it is made of must outlive it. NULL = no memory. */
struct stack_walks *stack_walks__new(struct unwind_tables *tables, const struct modules *modules,
				     struct mappings *mappings);
void stack_walks__handle_copy(struct stack_walks *walks, const struct event_stack_copy *copy);
/* Of this stack; forgets its copy. */
void stack_walks__find(struct stack_walks *walks, const struct event_stack *event,
		       struct native_stack *stack);
void stack_walks__free(struct stack_walks *walks);

#endif
