/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report --by: what a kernel belongs to, found from the call stack of its launch or from the NVTX
 * ranges that were open there. It is a path, from the outermost operator, module or range to the
 * innermost.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_ORIGINS_H
#define CUDA_TRACE_EXPORT_EXPORT_ORIGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/export/export_callstacks.h"
#include "cuda-trace/report/report_file.h"

#define ORIGIN_DEPTH 32 /* beyond it, the innermost are kept */
#define ORIGIN_NAME  256
#define ORIGIN_TEXT  (ORIGIN_DEPTH * (ORIGIN_NAME + 3))

struct origin_path {
	char names[ORIGIN_DEPTH][ORIGIN_NAME]; /* outermost first */
	size_t count;			       /* 0 = not found */
	const char *file;		       /* of a line: its path; else NULL */
};

/* Of a launch's stack, innermost frame first; not of ranges or kernels. */
void export_origins__of_frames(enum report_by by, const char *const *frames,
			       const struct chain_place *places, size_t count,
			       struct origin_path *path);

/* The path as one text: of modules the whole path, of others the innermost. Returns out. */
const char *export_origins__text(const struct origin_path *path, enum report_by by,
				 char out[ORIGIN_TEXT]);
/* "operator": as the option and the column say it. */
const char *export_origins__name(enum report_by by);
/* REPORT_BY_NONE of anything else. */
enum report_by export_origins__parse(const char *name);

#endif
