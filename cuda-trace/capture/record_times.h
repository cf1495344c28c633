/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks whether a record's times are possible. A process can send any; times that pass can be
 * added, subtracted and compared without further checks. Any thread. */
#ifndef CUDA_TRACE_CAPTURE_RECORD_TIMES_H
#define CUDA_TRACE_CAPTURE_RECORD_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/event.h"

/* The latest time (CLOCK_MONOTONIC, ns) that a record may have now. */
uint64_t record_times__latest(void);
/* The record must be as large as this version's structure of its kind. */
bool record_times__are_possible(const struct cuda_record *record, uint64_t latest);

#endif
