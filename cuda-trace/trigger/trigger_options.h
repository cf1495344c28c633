/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --when: the conditions under which a flight recorder writes its file.
 */
#ifndef CUDA_TRACE_TRIGGER_TRIGGER_OPTIONS_H
#define CUDA_TRACE_TRIGGER_TRIGGER_OPTIONS_H

#include <stdint.h>
#include "cuda-trace/cli/options.h"
#include "cuda-trace/cli/window_options.h"

/* For completion; a '>' would need quotes in a shell. */
#define TRIGGER_WORDS	 "error,late,step"

#define TRIGGER_LAST_NS	 10000000000ull /* of history, without --last */
#define TRIGGER_AFTER_NS 2000000000ull	/* after it, without --after */

enum trigger_kind { TRIGGER_ERROR, TRIGGER_LATE, TRIGGER_STEP };

struct trigger_condition {
	enum trigger_kind kind;
	double factor;	/* of a step: so many times as long as usual; 0 = `limit` counts */
	uint64_t limit; /* ns */
	char text[48];	/* as it was given */
};

struct trigger_wanted {
	struct trigger_condition list[OPTION_TEXTS_MAX]; /* any of them */
	uint32_t count;					 /* 0 = no --when */
	uint32_t groups;				 /* what they need */
	struct windows steps;				 /* name and domain: what a step is */
};

/* Reads --when, and --step-range, which it takes out of the options (windows do not see it). 0, or
 * EXIT_USAGE after a message. */
int trigger_options__choose(const struct option_usage *usage, const struct option_texts *when,
			    struct options *options, struct trigger_wanted *wanted);
/* "step > 1.2x, error"; returns out. */
const char *trigger_options__describe(const struct trigger_wanted *wanted, char *out, size_t size);

#endif
