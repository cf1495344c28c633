/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which set of metrics a launch is counted with, where each launch takes one and no kernel runs
 * twice: a kernel and shape gets all sets by turns. One caller at a time (counters.c sees to
 * that), but for what is marked.
 */
#ifndef LIBCUPTI_USDT_PROFILE_METRIC_ROTATION_H
#define LIBCUPTI_USDT_PROFILE_METRIC_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/counter_request.h"

/* How many sets a request has ("a,b;c" has two); of so many kernels, 0 = all. While nobody asks. */
void metric_rotation__begin(const char *request, uint64_t kernels);
/* How many launches all of that takes; 0 = no end, 1 set: the kernels themselves. Any thread. */
uint64_t metric_rotation__limit(void);
/* A kernel with its shape, as the others want it. Any thread. */
uint64_t metric_rotation__kind(uint32_t name, const uint32_t grid[3], const uint32_t block[3],
			       uint32_t dynamic_shared);
/* False: it has been counted as often as requested. Any thread. */
bool metric_rotation__wants(uint64_t kind);
/* The set for a launch of that kind, best the one that is used now; -1: it is not to be counted. */
int metric_rotation__next(uint64_t kind, uint32_t now);
/* A launch is counted with it; later: no, it had no values. */
void metric_rotation__counted(uint64_t kind, uint32_t set);
void metric_rotation__lost(uint64_t kind, uint32_t set);

#endif
