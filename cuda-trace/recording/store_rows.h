/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From records to rows: which record goes to which table and what its fields are called there.
 * Used by the import only.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_ROWS_H
#define CUDA_TRACE_RECORDING_STORE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/recording/store_db.h"
#include "cuda-trace/recording/store_spool.h"

struct rows;

/* Times become relative to `epoch`, a CLOCK_MONOTONIC in ns. */
int store_rows__new(struct rows **rows, struct db *db, uint64_t epoch, bool gaps);
/* Processes are numbered as in the spool, from 1. */
int store_rows__process(struct rows *rows, uint32_t number, const struct spool_process *process);
int store_rows__name(struct rows *rows, uint32_t number, uint32_t id, const char *text,
		     size_t length);
int store_rows__status(struct rows *rows, uint32_t number, const struct cuda_status *status);
/* By what it is seen from then on, a u32 enum event_source. */
int store_rows__source(struct rows *rows, uint32_t number, const uint8_t *data, size_t size);
/* A communicator of NCCL, a struct event_collective. */
int store_rows__comm(struct rows *rows, uint32_t number, const uint8_t *data, size_t size);
/* A text of thread states, an entry SPOOL_TEXT. */
int store_rows__text(struct rows *rows, const uint8_t *data, size_t size);
int store_rows__ended(struct rows *rows, uint32_t number, uint64_t time);
/* Entries of stacks; others are ignored. */
int store_rows__chain(struct rows *rows, enum spool_kind kind, const uint8_t *data, size_t size);
/* Which launches have stacks must be known before the launches: are there any, and the record of
 * one. */
bool store_rows__want_samples(const struct rows *rows);
int store_rows__sample(struct rows *rows, uint32_t number, const struct cuda_record *record,
		       size_t size);
/* All names must have come before the first record. `size` bytes are readable. */
int store_rows__record(struct rows *rows, uint32_t number, uint8_t group,
		       const struct cuda_record *record, size_t size);
/* What is only known at the end: processes. */
int store_rows__finish(struct rows *rows);
uint64_t store_rows__count(const struct rows *rows);
void store_rows__free(struct rows *rows);

#endif
