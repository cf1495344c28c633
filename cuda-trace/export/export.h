/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording in other tools' formats. Each writes to a FILE that the caller opened and reports
 * trouble on stderr; 0 or -errno.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_H
#define CUDA_TRACE_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "cuda-trace/base/pattern.h"
#include "cuda-trace/report/report_file.h"
#include "cuda-trace/report/report_output.h"

/* Trace events in the conventions of PyTorch's Kineto: Perfetto, TensorBoard, HTA read it. */
int export_timeline(const struct report_file *file, FILE *out);
/* Perfetto's own format, protocol buffers. */
int export_perfetto(const struct report_file *file, FILE *out);
/* One stack a line with nanoseconds on the GPU, for flamegraph.pl, speedscope and their like. */
int export_folded(const struct report_file *file, FILE *out);
/* A gzipped profile for `pprof`. */
int export_pprof(const struct report_file *file, FILE *out);
/* A flame graph as one SVG file that can be searched and zoomed in a browser. */
int export_flamegraph(const struct report_file *file, FILE *out);
/* One page that holds everything, without a network. */
int export_html(const struct report_file *file, FILE *out);
/* The table of file->by; `limit` rows, 0 = all, and those of what was not found. */
int export_by(const struct report_file *file, FILE *out, enum report_format format, int64_t limit);

struct by_row {
	char *name;
	char *file; /* of a line: its path, or "" */
	uint64_t ns, count;
	bool missing; /* what was not found: "[no operator]" */
};

/* The same as rows: longest first, and what is missing last. */
struct by_rows {
	struct by_row *list;
	size_t count;
	uint32_t period; /* one launch in so many has a stack; 0 = there are none */
};

/* `kernels`: only those whose name matches; NULL = all. 0 or -errno, printed. */
int by_rows__read(struct by_rows *rows, const struct report_file *file, struct pattern *kernels);
void by_rows__free(struct by_rows *rows);

#endif
