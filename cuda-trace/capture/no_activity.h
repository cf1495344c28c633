/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a session has seen no CUDA process.
 */
#ifndef CUDA_TRACE_CAPTURE_NO_ACTIVITY_H
#define CUDA_TRACE_CAPTURE_NO_ACTIVITY_H

#include <stdbool.h>
#include "cuda-trace/capture/session.h"

/* started: the tool started a PROGRAM, and watched it. */
const char *no_activity__reason(bool started, const struct session_lost_counts *lost);

#endif
