/* SPDX-License-Identifier: BSD-2-Clause */
/* Pyroscope's endpoint /ingest: the body is a pprof file, the rest is in the query. */
#ifndef CUDA_TRACE_PUSH_PUSH_PYROSCOPE_H
#define CUDA_TRACE_PUSH_PUSH_PYROSCOPE_H

#include "cuda-trace/push/push_labels.h"

/* Path and query; the caller frees it. Times in ns since 1970. NULL = no memory. */
char *push_pyroscope__target(const char *path, const char *service,
			     const struct push_labels *labels, uint64_t from, uint64_t until);

#endif
