/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI's range profiler: metrics → values of one kernel.
 */
#ifndef LIBCUPTI_USDT_PROFILE_RANGE_PROFILER_H
#define LIBCUPTI_USDT_PROFILE_RANGE_PROFILER_H

#include "libcupti-usdt/profile/counter_collector.h"

extern const struct collector range_profiler;

#endif
