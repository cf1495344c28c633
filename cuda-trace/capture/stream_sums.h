/* SPDX-License-Identifier: BSD-2-Clause */
/* What the stream program counted, over all CPUs. */
#ifndef CUDA_TRACE_CAPTURE_STREAM_SUMS_H
#define CUDA_TRACE_CAPTURE_STREAM_SUMS_H

#include "bpf/event.h"

/* map: the program's `counters`. */
void stream_sums__read(int map, struct stream_counters *sum);

#endif
