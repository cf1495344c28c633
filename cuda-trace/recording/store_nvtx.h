/* SPDX-License-Identifier: BSD-2-Clause */
/* NVTX's ranges and marks as rows. Inside of the import. */
#ifndef CUDA_TRACE_RECORDING_STORE_NVTX_H
#define CUDA_TRACE_RECORDING_STORE_NVTX_H

#include "cuda-trace/recording/store_objects.h"

/* The ids of names that an event or a part of a payload has; 0 = none. */
#define STORE_NVTX_NAMES 3
uint32_t store_nvtx__name(const struct cuda_record *record, int number);

/* -errno. Its payload's parts came before it. */
int store_nvtx__event(struct rows *rows, struct rows_process *process,
		      const struct cuda_nvtx *nvtx);

#endif
