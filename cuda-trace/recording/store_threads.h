/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads did, in an import. Inside of it.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_THREADS_H
#define CUDA_TRACE_RECORDING_STORE_THREADS_H

#include "cuda-trace/recording/store_objects.h"

/* An entry SPOOL_TEXT. */
int store_threads__text(struct rows *rows, const uint8_t *data, size_t size);
/* A struct spool_thread. */
int store_threads__state(struct rows *rows, const union any_record *record);
int store_threads__finish(struct rows *rows);

#endif
