/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launches that are counted, and whose values are still to come: CUPTI has them once it is stopped.
 * One caller at a time (counters.c sees to that), on any thread.
 */
#ifndef LIBCUPTI_USDT_PROFILE_COUNTED_LAUNCHES_H
#define LIBCUPTI_USDT_PROFILE_COUNTED_LAUNCHES_H

#include <stdatomic.h>
#include <stdint.h>

struct collector;
struct range_failure;
struct cupti_callback_data;

/* Of the driver API, at its end; set: of metrics; start: ns. One more fits as long as count() is
 * below the maximum. */
#define COUNTED_LAUNCHES_MAX 64
void counted_launches__add(uint32_t cbid, const struct cupti_callback_data *data, uint32_t set,
			   uint64_t start);
uint32_t counted_launches__count(void);
/* Where a launch goes, and its kind as metric_rotation.h has it. On any thread. */
void *counted_launches__stream(uint32_t cbid, const struct cupti_callback_data *data);
uint64_t counted_launches__kind(uint32_t cbid, const struct cupti_callback_data *data);
/* What the metrics are, before the first launch. */
void counted_launches__tell_metrics(const struct collector *collector);
/* Later than it was thought: the last one that was added, now. */
void counted_launches__last_ends(void);
/* Sends each with its values; number: of all in this process, goes up. -1 and the failure where
 * CUPTI does not give them. */
int counted_launches__tell(const struct collector *collector, _Atomic(uint64_t) *number,
			   struct range_failure *failure);
/* What was not reported was not counted. */
void counted_launches__forget(void);

#endif
