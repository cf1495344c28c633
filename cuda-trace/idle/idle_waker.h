/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the thread that ended a wait did meanwhile: one step, no further. Used by idle_gaps.c.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_WAKER_H
#define CUDA_TRACE_IDLE_IDLE_WAKER_H

#include "cuda-trace/idle/idle_path.h"
#include "cuda-trace/idle/idle_places.h"

#define IDLE_HOLDER_NS 20000000 /* a sample that is older says nothing of who holds the GIL */

/* Fills in what the place says of the waker. */
void idle_waker__follow(const struct idle_known *known, const struct idle_span *span,
			struct idle_place *place);

#endif
