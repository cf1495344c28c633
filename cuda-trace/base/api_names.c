// SPDX-License-Identifier: BSD-2-Clause
/*
 * CUPTI's callback numbers are only ever appended to (cupti_driver_cbid.h, cupti_runtime_cbid.h),
 * so this table holds for every version. Runtime names keep the suffix that Nsight's files have.
 */
#include "cuda-trace/base/api_names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "libcupti-usdt/probes.h"

static const struct {
	uint8_t domain;
	uint16_t cbid;
	const char *name;
} calls[] = {
	{CUDA_DOMAIN_DRIVER, 115, "cuLaunch"},
	{CUDA_DOMAIN_DRIVER, 116, "cuLaunchGrid"},
	{CUDA_DOMAIN_DRIVER, 117, "cuLaunchGridAsync"},
	{CUDA_DOMAIN_DRIVER, 307, "cuLaunchKernel"},
	{CUDA_DOMAIN_DRIVER, 442, "cuLaunchKernel_ptsz"},
	{CUDA_DOMAIN_DRIVER, 477, "cuLaunchCooperativeKernel"},
	{CUDA_DOMAIN_DRIVER, 478, "cuLaunchCooperativeKernel_ptsz"},
	{CUDA_DOMAIN_DRIVER, 480, "cuLaunchCooperativeKernelMultiDevice"},
	{CUDA_DOMAIN_DRIVER, 514, "cuGraphLaunch"},
	{CUDA_DOMAIN_DRIVER, 515, "cuGraphLaunch_ptsz"},
	{CUDA_DOMAIN_DRIVER, 527, "cuLaunchHostFunc"},
	{CUDA_DOMAIN_DRIVER, 528, "cuLaunchHostFunc_ptsz"},
	{CUDA_DOMAIN_DRIVER, 652, "cuLaunchKernelEx"},
	{CUDA_DOMAIN_DRIVER, 653, "cuLaunchKernelEx_ptsz"},
	{CUDA_DOMAIN_RUNTIME, 13, "cudaLaunch_v3020"},
	{CUDA_DOMAIN_RUNTIME, 211, "cudaLaunchKernel_v7000"},
	{CUDA_DOMAIN_RUNTIME, 214, "cudaLaunchKernel_ptsz_v7000"},
	{CUDA_DOMAIN_RUNTIME, 269, "cudaLaunchCooperativeKernel_v9000"},
	{CUDA_DOMAIN_RUNTIME, 270, "cudaLaunchCooperativeKernel_ptsz_v9000"},
	{CUDA_DOMAIN_RUNTIME, 272, "cudaLaunchCooperativeKernelMultiDevice_v9000"},
	{CUDA_DOMAIN_RUNTIME, 284, "cudaLaunchHostFunc_v10000"},
	{CUDA_DOMAIN_RUNTIME, 285, "cudaLaunchHostFunc_ptsz_v10000"},
	{CUDA_DOMAIN_RUNTIME, 311, "cudaGraphLaunch_v10000"},
	{CUDA_DOMAIN_RUNTIME, 312, "cudaGraphLaunch_ptsz_v10000"},
	{CUDA_DOMAIN_RUNTIME, 430, "cudaLaunchKernelExC_v11060"},
	{CUDA_DOMAIN_RUNTIME, 431, "cudaLaunchKernelExC_ptsz_v11060"},
	{CUDA_DOMAIN_RUNTIME, 505, "__cudaLaunchKernel_v13000"},
	{CUDA_DOMAIN_RUNTIME, 506, "__cudaLaunchKernel_ptsz_v13000"},
};

const char *store__call_name(char *out, size_t size, uint8_t domain, uint16_t cbid)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].domain == domain && calls[i].cbid == cbid) {
			snprintf(out, size, "%s", calls[i].name);
			return out;
		}
	}
	snprintf(out, size, "[%s call %u]", domain == CUDA_DOMAIN_RUNTIME ? "runtime" : "driver",
		 cbid);
	return out;
}

unsigned int store__call_number(uint8_t domain, const char *name)
{
	static const char nameless[][16] = {"[runtime call ", "[driver call "};
	const char *head = nameless[domain != CUDA_DOMAIN_RUNTIME];

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].domain == domain && !strcmp(calls[i].name, name))
			return calls[i].cbid;
	return strncmp(name, head, strlen(head)) ? 0 : atoi(name + strlen(head)) & 0xffff;
}
