/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI's SASS metrics: what each instruction of one kernel did. As range_profiler.h: one caller at
 * a time, on launching threads inside their launch callback, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_PROFILE_SASS_PROFILER_H
#define LIBCUPTI_USDT_PROFILE_SASS_PROFILER_H

#include <stdbool.h>

#include "libcupti-usdt/profile/counter_collector.h"

/* What CUPTI_USDT_COUNTERS says for it. */
#define SASS_REQUEST "sass"

extern const struct collector sass_profiler;

/* On the agent's thread: images of modules are kept from now on, or not any more. */
void sass_profiler__listen(void *subscriber, bool on);
bool sass_profiler__is_listening(void);

#endif
