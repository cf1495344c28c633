/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwinds a copy of a thread's registers and stack into the addresses of its frames. */
#ifndef CUDA_TRACE_SYMBOLS_UNWIND_H
#define CUDA_TRACE_SYMBOLS_UNWIND_H

#include "bpf/event.h"
#include "cuda-trace/symbols/unwind_memo.h"
#include "cuda-trace/symbols/unwind_tables.h"

#define UNWIND_FRAMES 1024

/* Why a walk ended. */
enum unwind_end {
	UNWIND_END_COMPLETE, /* at a function that says it has no caller */
	UNWIND_END_FRAMES,   /* there are more than UNWIND_FRAMES */
	UNWIND_END_COPY,     /* the next frame lies outside of the copy */
	UNWIND_END_UNKNOWN,  /* no rule, or one that leads nowhere */
};

/* Innermost first; of callers, where they go on. */
struct unwound {
	uint32_t count;
	enum unwind_end end;
	/* With UNWIND_END_COPY: so many addresses a walk by frame pointers has up to the last frame
	 * here; 0 = that walk does not come by. */
	uint32_t by_pointers;
	uint64_t addresses[UNWIND_FRAMES];
};

/* `trace`: what the result depends on. */
void unwind__walk(struct unwound *unwound, struct unwind_trace *trace,
		  const struct event_stack_copy *copy, struct unwind_tables *tables,
		  const struct modules *modules, struct mappings *mappings);

#endif
