/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a recording says of the machine and of its clocks. No state.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_SESSION_H
#define CUDA_TRACE_RECORDING_STORE_SESSION_H

#include "cuda-trace/recording/store.h"
#include "cuda-trace/recording/store_spool.h"

/* "key=value" facts, each with a NUL; their size. What does not fit is cut. */
int store_session__describe(struct spool_session *session, char *facts, int size,
			    const struct store_options *options);

#endif
