/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instructions of .eh_frame, which say how the rule that unwinds a frame changes from one
 * address of a function to the next. x86-64.
 */
#ifndef CUDA_TRACE_SYMBOLS_CFA_PROGRAM_H
#define CUDA_TRACE_SYMBOLS_CFA_PROGRAM_H

#include <stdbool.h>
#include "cuda-trace/symbols/dwarf_cursor.h"
#include "cuda-trace/symbols/eh_frame.h"

#define CFA_STATES_MAX	   8  /* DW_CFA_remember_state, nested */
#define CFA_RETURN_ADDRESS 16 /* DWARF's number of it */

struct cfa_state {
	struct unwind_row rule;
	bool return_undefined, return_lost;
	uint32_t by_pointer; /* bits: registers whose place is relative to rbp, not to the CFA */
};

/* What a function's entry, with its common one, has said so far. */
struct cfa_program {
	uint64_t code_alignment;
	int64_t data_alignment;
	uint8_t encoding; /* of addresses */
	bool augmented, is_signal;
	uint64_t address, end; /* where the current rule begins; of the function */
	struct cfa_state state, initial, remembered[CFA_STATES_MAX];
	unsigned int depth;
	/* Each rule, by address; NULL = a common entry. False: no more fit. */
	bool (*put)(void *context, const struct unwind_row *rule, uint64_t address);
	void *context;
};

void cfa_program__begin(struct cfa_program *program);
/* False: it makes no sense from program->address on, or no more rules fit. */
bool cfa_program__run(struct cfa_program *program, struct dwarf_cursor *cursor);
/* Hands over the current rule. */
bool cfa_program__put(const struct cfa_program *program);

#endif
