/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a wait, as the Linux kernel saw it, to a cause and a text.
 */
#ifndef CUDA_TRACE_IDLE_WAIT_CAUSES_H
#define CUDA_TRACE_IDLE_WAIT_CAUSES_H

#include "cuda-trace/idle/idle_causes.h"
#include "cuda-trace/idle/idle_timeline.h"

/* `local`: a watched process woke it. */
enum idle_cause wait_causes__of(const struct idle_span *span, bool local);
/* "read() of a pipe"; returns out. */
const char *wait_causes__text(char *out, size_t size, const struct idle_span *span);

#endif
