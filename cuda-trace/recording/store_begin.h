/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a recording begins that was started with --at: after its file. No state.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_BEGIN_H
#define CUDA_TRACE_RECORDING_STORE_BEGIN_H

#include "cuda-trace/recording/store_spool.h"

/* From a spool; zeros: it began with its file, or never. 0 or -errno. */
int store_begin__find(struct spool_begin *begin, const char *spool);

#endif
