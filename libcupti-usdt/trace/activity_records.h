/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts CUPTI's activity records into our records in batches. On any of CUPTI's threads, also on
 * several at once. */
#ifndef LIBCUPTI_USDT_TRACE_ACTIVITY_RECORDS_H
#define LIBCUPTI_USDT_TRACE_ACTIVITY_RECORDS_H

#include <stdint.h>

#include "libcupti-usdt/emit/batches.h"

/* A session begins: records from before it are not its own. Time in ns. */
void activity_records__set_start(uint64_t time);
/* The program is ending: a record without an end is unfinished work, not a fault. */
void activity_records__expect_unfinished(bool expected);

/* Into a set of batches (batches__take()), or with NULL at once. */
void activity_records__record(struct batch *batches, const void *record);
/* What is in the set; accepts NULL. */
void activity_records__send(struct batch *batches);

#endif
