/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a recorded process ran: looked up when it starts, since /proc loses it at its end, and
 * written when it is known, at its end at the latest.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_ORIGIN_H
#define CUDA_TRACE_RECORDING_STORE_ORIGIN_H

#include <stddef.h>
#include <stdint.h>

struct process;
struct rows;
struct spool;
struct store_origin;

/* NULL: no memory, and the functions below do nothing. */
struct store_origin *store_origin__start(const struct process *process);
/* Writes what is known and frees it. number: the process's in the spool. 0 or -errno. */
int store_origin__end(struct store_origin *origin, struct spool *spool, uint32_t number);
/* The row of what was written. */
int store_rows__origin(struct rows *rows, uint32_t number, const uint8_t *data, size_t size);

#endif
