/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a CPython of this process keeps its frames, for who walks them from outside.
 */
#ifndef LIBCUPTI_USDT_TRACE_PYTHON_FRAMES_H
#define LIBCUPTI_USDT_TRACE_PYTHON_FRAMES_H

#include "libcupti-usdt/stack_probes.h"

/* Looks for an interpreter; once, while the library is started. */
void python_frames__find(void);
/* NULL = none, or one whose layout is not known. */
const struct cuda_python *python_frames__get(void);

#endif
