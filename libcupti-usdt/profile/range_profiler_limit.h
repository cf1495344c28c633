/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often CUPTI's range profiler may be enabled in a process that launches graphs. One caller at
 * a time.
 */
#ifndef LIBCUPTI_USDT_PROFILE_RANGE_PROFILER_LIMIT_H
#define LIBCUPTI_USDT_PROFILE_RANGE_PROFILER_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Whether it may have been enabled so many times since it was last noted; graphs: some were
 * launched since. */
bool range_profiler_limit__allows(uint32_t opens, bool graphs);
/* So many times it was, beside graphs; broken: CUPTI failed. */
void range_profiler_limit__note(uint32_t opens, bool broken);

#endif
