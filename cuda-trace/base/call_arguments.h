/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a failed call was requested, for people.
 */
#ifndef CUDA_TRACE_BASE_CALL_ARGUMENTS_H
#define CUDA_TRACE_BASE_CALL_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "libcupti-usdt/probes.h"

/* One line, "" where nothing is known; kernel: the name of a launch's, untrusted, may be "". */
void call_arguments__text(char *out, size_t size, const struct cuda_api *call, const char *kernel);
/* A launch whose grid and block are known: they lie behind a pointer in some calls. */
static inline bool call_arguments__has_grid(const struct cuda_api *call)
{
	uint32_t any = 0;

	for (int i = 0; i < 3; i++)
		any |= call->arguments.launch.grid[i] | call->arguments.launch.block[i];
	return call->flags & CUDA_API_LAUNCH && any;
}

/* The same of a launch that is reported by a record of its own. */
void call_arguments__of_launch(struct cuda_api *call, const struct cuda_launch *launch);

#endif
