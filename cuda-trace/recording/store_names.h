/* SPDX-License-Identifier: BSD-2-Clause */
/* The ids of names that a record carries, wherever they stand in it. No state. */
#ifndef CUDA_TRACE_RECORDING_STORE_NAMES_H
#define CUDA_TRACE_RECORDING_STORE_NAMES_H

#include <stdint.h>
#include "libcupti-usdt/probes.h"

#define STORE_NAMES_MAX 4

/* How many; of those, 0 = none. */
int store_names__of(const struct cuda_record *record, uint32_t ids[STORE_NAMES_MAX]);

#endif
