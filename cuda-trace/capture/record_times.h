/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a record's times can be true. A process can send any; what passes here can be added,
 * subtracted and compared without a second look. Any thread. */
#ifndef CUDA_TRACE_CAPTURE_RECORD_TIMES_H
#define CUDA_TRACE_CAPTURE_RECORD_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/event.h"

/* The latest time (CLOCK_MONOTONIC, ns) that a record of now may have. */
uint64_t record_times__latest(void);
/* The record is as large as this version knows its kind. */
bool record_times__are_possible(const struct cuda_record *record, uint64_t latest);

#endif
