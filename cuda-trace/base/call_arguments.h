/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arguments of a failed call, as text.
 */
#ifndef CUDA_TRACE_BASE_CALL_ARGUMENTS_H
#define CUDA_TRACE_BASE_CALL_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "libcupti-usdt/probes.h"

/* One line, "" if nothing is known; kernel: the name of a launched kernel, untrusted, may be "". */
void call_arguments__text(char *out, size_t size, const struct cuda_api *call, const char *kernel);
/* True for a launch whose grid and block are known: some calls have them behind a pointer. */
static inline bool call_arguments__has_grid(const struct cuda_api *call)
{
	uint32_t any = 0;

	for (int i = 0; i < 3; i++)
		any |= call->arguments.launch.grid[i] | call->arguments.launch.block[i];
	return call->flags & CUDA_API_LAUNCH && any;
}

/* The same for a launch that has its own record. */
void call_arguments__of_launch(struct cuda_api *call, const struct cuda_launch *launch);

#endif
