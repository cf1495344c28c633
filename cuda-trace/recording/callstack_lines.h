/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines of frames, and the functions that were inlined there. One thread. */
#ifndef CUDA_TRACE_RECORDING_CALLSTACK_LINES_H
#define CUDA_TRACE_RECORDING_CALLSTACK_LINES_H

#include "cuda-trace/base/intern.h"
#include "cuda-trace/recording/store_spool.h"
#include "cuda-trace/symbols/mappings.h"

/* Where they go: as `put` of struct callstacks_sink. */
struct callstack_lines_sink {
	void *context;
	void (*put)(void *context, enum spool_kind kind, const void *data, size_t size,
		    const void *more, size_t more_size);
};

/* Puts SPOOL_LINE and SPOOL_INLINED of the frames (struct frame_key) after the first `from`. */
void callstack_lines__put(const struct modules *modules, const struct interned *frames,
			  uint32_t from, const struct callstack_lines_sink *sink);

#endif
