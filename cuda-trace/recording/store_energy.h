/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What energy meters counted, in an import. Inside of it.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_ENERGY_H
#define CUDA_TRACE_RECORDING_STORE_ENERGY_H

#include "cuda-trace/recording/store_objects.h"

/* A struct spool_energy. */
int store_energy__step(struct rows *rows, const union any_record *record);

#endif
