/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of frames' functions: from the symbol tables of files, and from what compilers at run
 * time say of theirs. One thread.
 */
#ifndef CUDA_TRACE_RECORDING_CALLSTACK_NAMES_H
#define CUDA_TRACE_RECORDING_CALLSTACK_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/base/intern.h"
#include "cuda-trace/symbols/mappings.h"

struct frame_key {
	uint32_t module, function;
	int32_t line;
	uint32_t pad;
	uint64_t address;
};

struct jit;

/* All zero is an empty one. */
struct callstack_names {
	struct jit *jits;
	uint32_t jit_count;
	uint32_t named; /* of the frames, the first so many */
};

/* Memory without a file may hold compiled code: its names must be found while the process lives. */
void callstack_names__remember_jit(struct callstack_names *names, uint32_t pid);
/* Of frames (struct frame_key) that were added since the last call; `put` gets the name as it is in
 * the file. */
void callstack_names__find(struct callstack_names *names, const struct modules *modules,
			   const struct interned *frames,
			   void (*put)(void *context, uint32_t frame, const char *name),
			   void *context);
void callstack_names__free(struct callstack_names *names);

#endif
