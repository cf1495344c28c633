/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From stacks in a spool to rows of CUDA_CALLCHAINS: host and Python frames become one chain. Used
 * by the import, and without a database by pc_stacks.c.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_CHAINS_H
#define CUDA_TRACE_RECORDING_STORE_CHAINS_H

#include <stdbool.h>
#include "cuda-trace/recording/store_db.h"
#include "cuda-trace/recording/store_spool.h"

struct chains;

/* NULL: store_chains__of() will not be called. */
struct chains *store_chains__new(struct db *db);
/* SPOOL_MODULE to SPOOL_PERIOD; others are ignored. */
int store_chains__fact(struct chains *chains, enum spool_kind kind, const uint8_t *data,
		       size_t size);
/* Is there any stack at all? */
bool store_chains__any(const struct chains *chains);
/* One in so many launches has a stack; the largest if it changed; 0 = none has. */
uint32_t store_chains__period(const struct chains *chains);
/* The record that a launch's stack is, of the process of that number in the spool. */
int store_chains__sample(struct chains *chains, uint32_t process,
			 const struct spool_sample *sample);
/* The chain of a launch, written when it is first asked for; DB_NULL = it has none. -errno. */
int64_t store_chains__of(struct chains *chains, uint32_t process, uint32_t correlation);
/* The chain that the stack of that number becomes, the outermost function first. */
void store_chains__frames(const struct chains *chains, uint32_t number,
			  void (*take)(void *context, const char *name, bool nameless),
			  void *context);
void store_chains__free(struct chains *chains);

#endif
