// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/export/export_runtime_names.h"
#include <stddef.h>
#include <string.h>

/* The first whose beginning fits. */
static const struct {
	const char *beginning, *runtime, *runtime_async;
} calls[] = {
	{"cuLaunchKernelEx", "cudaLaunchKernelExC", "cudaLaunchKernelExC"},
	{"cuLaunchKernel", "cudaLaunchKernel", "cudaLaunchKernel"},
	{"cuLaunchCooperativeKernelMultiDevice", "cudaLaunchCooperativeKernelMultiDevice",
	 "cudaLaunchCooperativeKernelMultiDevice"},
	{"cuLaunchCooperativeKernel", "cudaLaunchCooperativeKernel", "cudaLaunchCooperativeKernel"},
	{"cuGraphLaunch", "cudaGraphLaunch", "cudaGraphLaunch"},
	{"cuMemcpy", "cudaMemcpy", "cudaMemcpyAsync"},
	{"cuMemset", "cudaMemset", "cudaMemsetAsync"},
};

const char *export_runtime_names__of(const char *driver_call)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strncmp(driver_call, calls[i].beginning, strlen(calls[i].beginning)))
			return strstr(driver_call, "Async") ? calls[i].runtime_async
							    : calls[i].runtime;
	return NULL;
}
