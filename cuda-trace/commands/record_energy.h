/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `record --energy`: the steps of the GPUs' energy meters go to the recording, in which report
 * --energy divides them. One thread.
 */
#ifndef CUDA_TRACE_COMMANDS_RECORD_ENERGY_H
#define CUDA_TRACE_COMMANDS_RECORD_ENERGY_H

#include <stdbool.h>
#include "cuda-trace/energy/energy_meter.h"
#include "cuda-trace/recording/store.h"

/* NULL after a message: there are no meters. The others accept NULL. */
struct energy_meter *record_energy__open(void);
/* What was read since the last call. */
void record_energy__read(struct energy_meter *meter, struct store *store);
/* Reads once more. */
void record_energy__finish(struct energy_meter *meter, struct store *store);

#endif
