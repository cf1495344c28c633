/* SPDX-License-Identifier: BSD-2-Clause */
/* The sizes of the structures in probes.h, which are a promise to other programs. */
#ifndef LIBCUPTI_USDT_EMIT_PROBE_LAYOUTS_H
#define LIBCUPTI_USDT_EMIT_PROBE_LAYOUTS_H

#include "libcupti-usdt/probes.h"

#define CUDA_SIZE(type, bytes) (sizeof(struct cuda_##type) == (bytes))
_Static_assert(CUDA_SIZE(record, 8) && CUDA_SIZE(counters_metric, 24) && CUDA_SIZE(launch, 80) &&
		       CUDA_SIZE(kernel, 96) && CUDA_SIZE(memcpy, 80) && CUDA_SIZE(memset, 64) &&
		       CUDA_SIZE(memory, 88) && CUDA_SIZE(memory_pool, 64) && CUDA_SIZE(sync, 56) &&
		       CUDA_SIZE(graph, 48) && CUDA_SIZE(graph_node, 48) &&
		       CUDA_SIZE(graph_change, 48) && CUDA_SIZE(api, 80) &&
		       CUDA_SIZE(overhead, 48) && CUDA_SIZE(jit, 56) && CUDA_SIZE(uvm, 64) &&
		       CUDA_SIZE(nvtx, 80) && CUDA_SIZE(nvtx_payload, 80) &&
		       CUDA_SIZE(device, 104) && CUDA_SIZE(context, 32) && CUDA_SIZE(stream, 24) &&
		       CUDA_SIZE(counter, 16) && CUDA_SIZE(counters_state, 96) &&
		       CUDA_SIZE(counters, 96) && CUDA_SIZE(sass, 128) &&
		       CUDA_SIZE(pc_sample, 64) && CUDA_SIZE(pc_image, 40) &&
		       CUDA_SIZE(pc_window, 72) && CUDA_SIZE(status, 2016),
	       "layout");
_Static_assert(sizeof(struct cuda_counters) + CUDA_COUNTERS_METRICS * sizeof(struct cuda_counter) <=
		       CUDA_BATCH_MAX,
	       "a kernel's counters fit into one batch");
_Static_assert(CUDA_GROUP_COUNT <= 32 && CUDA_LOST_COUNT <= 16, "capacity of struct cuda_status");

#endif
