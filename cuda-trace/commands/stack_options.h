/* SPDX-License-Identifier: BSD-2-Clause */
/* How stacks are found, and what is said of those that were (-g of record and profile). */
#ifndef CUDA_TRACE_COMMANDS_STACK_OPTIONS_H
#define CUDA_TRACE_COMMANDS_STACK_OPTIONS_H

#include <stdio.h>
#include "cuda-trace/cli/options.h"
#include "cuda-trace/recording/callstacks.h"

/* Rows of an option table; `field` is a const char *. */
#define STACK_OPTION_ROWS(field)                                                                 \
	{OPTION_WORD,                                                                            \
	 0,                                                                                      \
	 "call-graph",                                                                           \
	 "HOW",                                                                                  \
	 "with -g: unwind native functions with unwind tables\nand a copy of the stack (dwarf, " \
	 "the default), or by\nframe pointers only (fp)",                                        \
	 field},                                                                                 \
	{                                                                                        \
		OPTION_VALUES, 0, NULL, NULL, "dwarf,fp", 0                                      \
	}

/* NULL = the default. */
bool stack_options__unwinds(const char *call_graph);
/* A line. */
void stack_options__say(FILE *out, const struct callstacks_counts *counts, const char *call_graph);
/* The same on stderr, after the period that --max-overhead chose; 0 = it did not. */
void stack_options__say_kept(uint32_t period, const struct callstacks_counts *counts,
			     const char *call_graph);

/* -g --max-overhead: what may be spent goes into stacks; GPU times are all kept, or as --sample
 * says. 0, or EXIT_USAGE after a message. */
int stack_options__percent(const struct option_usage *usage, const char *stacks,
			   struct options *options, double *percent);

#endif
