// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/recording/store_names.h"

#include "cuda-trace/recording/store_nvtx.h"

_Static_assert(STORE_NVTX_NAMES <= STORE_NAMES_MAX, "space for all of an event");

static int of_call(const struct cuda_api *call, uint32_t *ids)
{
	ids[0] = call->name;
	ids[1] = call->flags & CUDA_API_LAUNCH ? call->arguments.launch.kernel : 0;
	return 2;
}

int store_names__of(const struct cuda_record *record, uint32_t ids[STORE_NAMES_MAX])
{
	switch (record->kind) {
	case CUDA_RECORD_LAUNCH:
		ids[0] = ((const struct cuda_launch *)record)->name;
		return 1;
	case CUDA_RECORD_KERNEL:
		ids[0] = ((const struct cuda_kernel *)record)->name;
		return 1;
	case CUDA_RECORD_API:
	case CUDA_RECORD_GRAPH_INSTANTIATE:
		return of_call((const struct cuda_api *)record, ids);
	case CUDA_RECORD_MEMORY:
		ids[0] = ((const struct cuda_memory *)record)->name;
		return 1;
	case CUDA_RECORD_JIT:
		ids[0] = ((const struct cuda_jit *)record)->cache_path;
		return 1;
	case CUDA_RECORD_NVTX:
	case CUDA_RECORD_NVTX_PAYLOAD:
		for (int i = 0; i < STORE_NVTX_NAMES; i++)
			ids[i] = store_nvtx__name(record, i);
		return STORE_NVTX_NAMES;
	case CUDA_RECORD_DEVICE:
		ids[0] = ((const struct cuda_device *)record)->name;
		return 1;
	default:
		return 0;
	}
}
