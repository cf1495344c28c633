/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache of unwound stacks of one process. The result depends only on some registers and on the
 * words of the stack that were read. A program that launches in a loop has the same stack again and
 * again, which is then unwound only once.
 */
#ifndef CUDA_TRACE_SYMBOLS_UNWIND_MEMO_H
#define CUDA_TRACE_SYMBOLS_UNWIND_MEMO_H

#include "bpf/event.h"
#include "cuda-trace/symbols/eh_frame.h"

#define UNWIND_READS_MAX 1024

/* What a walk depended on. */
struct unwind_trace {
	uint32_t used; /* bits: registers whose value at the launch mattered */
	uint32_t count;
	uint32_t offsets[UNWIND_READS_MAX]; /* from the stack pointer */
	uint64_t values[UNWIND_READS_MAX];
};

struct unwind_memo;
struct unwound;

/* NULL = no memory: nothing is remembered. */
struct unwind_memo *unwind_memo__new(void);
/* NULL = no walk from there is known. `now`: ns; older walks are forgotten, as code may have been
 * unloaded. */
const struct unwound *unwind_memo__find(struct unwind_memo *memo,
					const struct event_stack_copy *copy, uint64_t now);
void unwind_memo__add(struct unwind_memo *memo, const struct event_stack_copy *copy,
		      const struct unwind_trace *trace, const struct unwound *unwound,
		      uint64_t now);
/* How many walks were found. */
uint64_t unwind_memo__hits(const struct unwind_memo *memo);
void unwind_memo__free(struct unwind_memo *memo);

#endif
