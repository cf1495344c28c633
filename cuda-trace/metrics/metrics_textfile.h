/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A document in a file, for node_exporter's textfile collector.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_TEXTFILE_H
#define CUDA_TRACE_METRICS_METRICS_TEXTFILE_H

struct exporter;

/* Replaces the file at once, so that a reader sees the old document or the new one. "-" is stdout.
 * 0, or -errno after one line on stderr. */
int textfile__write(struct exporter *exporter, const char *path);

#endif
