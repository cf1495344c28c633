/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From instructions to lines of the source, and which of them a function's verdict points at:
 * docs/reference/verdict.md, "By line". Pure functions over a sorted table.
 */
#ifndef CUDA_TRACE_PROFILE_SASS_SASS_LINES_H
#define CUDA_TRACE_PROFILE_SASS_SASS_LINES_H

#include <stddef.h>
#include "cuda-trace/profile/sass/sass_table.h"

/* A line, or an instruction whose line nobody knows. */
struct sass_line {
	const struct sass_instruction *first; /* that which executed most */
	struct sass_counts counts;
};

/* X(enumerator, stable key) */
#define SASS_FINDINGS(X)               \
	X(UNCOALESCED, "uncoalesced")  \
	X(DIVERGENT, "divergent")      \
	X(CONFLICTS, "bank conflicts") \
	X(LOCAL, "local memory")

enum sass_finding {
#define SASS_FINDING(name, key) SASS_##name,
	SASS_FINDINGS(SASS_FINDING)
#undef SASS_FINDING
		SASS_FINDING_COUNT
};

/* The lines of a function, those that executed most first; `lines` holds all instructions of
 * the table. How many. */
uint32_t sass_lines__find(const struct sass_table *table, uint32_t function,
			  struct sass_line *lines);
/* The line that has most of it; NULL: the function does not suffer from that. */
const struct sass_line *sass_lines__worst(const struct sass_function *function,
					  const struct sass_line *lines, uint32_t count,
					  enum sass_finding finding);
const char *sass_finding__key(enum sass_finding finding);
/* The numbers that say so, of that line; and what to try. */
void sass_finding__because(enum sass_finding finding, const struct sass_function *function,
			   const struct sass_line *line, char *text, size_t size);
const char *sass_finding__advice(enum sass_finding finding);

#endif
