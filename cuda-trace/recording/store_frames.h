/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of call stacks as a spool has them, with their files, names and lines. All texts are
 * untrusted. */
#ifndef CUDA_TRACE_RECORDING_STORE_FRAMES_H
#define CUDA_TRACE_RECORDING_STORE_FRAMES_H

#include <stdbool.h>
#include "cuda-trace/recording/store_spool.h"

#define STORE_FRAMES_MAX (1u << 20) /* things of one kind */
#define FRAME_NAME	 8192

struct stored_module {
	char *path;
	char build_id[65];
};

struct stored_function {
	char *file, *name;
};

/* A function that was inlined, and where it is called. */
struct stored_inlined {
	char *name, *source; /* the file: NULL = unknown */
	uint32_t line;
};

struct stored_frame {
	struct spool_frame fact;
	char *symbol; /* NULL = unknown */
	char *source; /* file; NULL = unknown */
	uint32_t line;
	uint32_t inlined_count;
	struct stored_inlined *inlined; /* the innermost first */
};

/* All zero is an empty one. */
struct store_frames {
	struct stored_module *modules;
	struct stored_function *functions;
	struct stored_frame *frames;
	uint32_t module_capacity, function_capacity, frame_capacity;
};

/* SPOOL_MODULE to SPOOL_SYMBOL, SPOOL_LINE and SPOOL_INLINED; others are ignored. */
void store_frames__fact(struct store_frames *frames, enum spool_kind kind, const uint8_t *data,
			size_t size);
/* By its number, with or without SPOOL_FRAME_ENTRY; of an unknown one an empty frame. */
const struct stored_frame *store_frames__at(const struct store_frames *frames, uint32_t number);
/* NULL = none is known. */
const struct stored_module *store_frames__module(const struct store_frames *frames,
						 const struct stored_frame *frame);
/* The function of a Python frame; NULL = it is none. */
const struct stored_function *store_frames__python(const struct store_frames *frames,
						   const struct stored_frame *frame);
/* A function of a frame: level 0 is the innermost that was inlined there, and the last one, of the
 * number inlined_count, the function itself. Returns its name, in `text` if it has to be made. */
const char *store_frames__name(const struct store_frames *frames, const struct stored_frame *frame,
			       uint32_t level, bool *unresolved, char text[FRAME_NAME]);
/* Where a function of a frame goes on: of all but the innermost that is a call. NULL = it is not
 * known, nor the line. */
const char *store_frames__source(const struct stored_frame *frame, uint32_t level, uint32_t *line);
/* Of a path, in it. */
const char *store_frames__base_name(const char *path);
void store_frames__free(struct store_frames *frames);

#endif
