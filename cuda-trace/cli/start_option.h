/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record --at: when it begins. No state.
 */
#ifndef CUDA_TRACE_CLI_START_OPTION_H
#define CUDA_TRACE_CLI_START_OPTION_H

#include <stdbool.h>
#include "cuda-trace/cli/options.h"

struct start_option {
	uint64_t utc; /* ns since 1970; 0 = at once */
	bool begun;
	char text[48]; /* RFC 3339 */
};

/* 0, or EXIT_USAGE after a message. */
int start_option__parse(const struct option_usage *usage, const char *text,
			struct start_option *start);
/* "attached; waiting until 14:30:00". */
const char *start_option__wait(const struct start_option *start, char *line, size_t size);
void start_option__say_late(uint64_t ns);

#endif
