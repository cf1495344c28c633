/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From stacks in a spool to rows of CUDA_CALLCHAINS: host and Python frames become one chain. Used
 * by the import, and without a database by pc_stacks.c.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_CALLSTACKS_H
#define CUDA_TRACE_RECORDING_STORE_CALLSTACKS_H

#include <stdbool.h>
#include "cuda-trace/recording/store_db.h"
#include "cuda-trace/recording/store_spool.h"

struct store_callstacks;

/* NULL: store_callstacks__of() will not be called. */
struct store_callstacks *store_callstacks__new(struct db *db);
/* SPOOL_MODULE to SPOOL_PERIOD; others are ignored. */
int store_callstacks__fact(struct store_callstacks *stacks, enum spool_kind kind,
			   const uint8_t *data, size_t size);
/* Is there any stack at all? */
bool store_callstacks__any(const struct store_callstacks *stacks);
/* One in so many launches has a stack; the largest if it changed; 0 = none has. */
uint32_t store_callstacks__period(const struct store_callstacks *stacks);
/* The record that a launch's stack is, of the process of that number in the spool. */
int store_callstacks__sample(struct store_callstacks *stacks, uint32_t process,
			     const struct spool_sample *sample);
/* The call stack of a launch, written at its first use; DB_NULL = it has none. -errno. */
int64_t store_callstacks__of(struct store_callstacks *stacks, uint32_t process,
			     uint32_t correlation);
/* Untrusted texts. */
struct shown_frame {
	const char *name;
	const char *path;     /* of the file with the code, or Python's; NULL = not known */
	const char *build_id; /* hexadecimal; NULL = not known, or Python's */
	uint64_t address;     /* in that file, as its ELF headers count */
	bool nameless;
	bool inlined; /* into the next one outwards; its path, build and address are that one's */
};

/* What texts show after the name of such a function. */
#define INLINED_MARK " (inlined)"

/* The chain that the stack of that number becomes, the outermost function first. */
void store_callstacks__frames(const struct store_callstacks *stacks, uint32_t number,
			      void (*take)(void *context, const struct shown_frame *frame),
			      void *context);
void store_callstacks__free(struct store_callstacks *stacks);

#endif
