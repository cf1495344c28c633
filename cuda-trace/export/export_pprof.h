/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree of GPU time as a pprof profile. */
#ifndef CUDA_TRACE_EXPORT_EXPORT_PPROF_H
#define CUDA_TRACE_EXPORT_EXPORT_PPROF_H

#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/export/export_stack_tree.h"

/* Not compressed; the caller frees it. Shortens the names of processes. start: ns since 1970. 0 or
 * -ENOMEM. */
int export_pprof__pack(struct stacks *stacks, int64_t start, int64_t duration, uint8_t **packed,
		       size_t *size);

#endif
