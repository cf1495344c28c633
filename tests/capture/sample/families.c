// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads names of CUDA calls, one a line, and says of each beginning of each that cuda-trace would
 * not ask for the name's family if that beginning and a * were given as --api. Also says which
 * calls that a program makes thousands of times a second --idle would pay for, and which it would
 * miss.
 */
#include <stdio.h>
#include <string.h>

#include "cuda-trace/cli/event_groups.h"
#include "cuda-trace/idle/idle.h"

static const char *const only_ask[] = {
	"cudaGetDevice",
	"cuCtxGetDevice",
	"cuCtxGetCurrent",
	"cudaDeviceGetAttribute",
	"cuDevicePrimaryCtxGetState",
	"cuKernelGetName",
};

static const char *const may_wait[] = {
	"cuDevicePrimaryCtxRetain", "cudaSetDevice", "cuCtxSynchronize", "cuModuleLoadData",
	"cuKernelGetFunction",	    "cuMemcpyDtoH",  "cuMemAlloc",	 "cudaGetDeviceCount",
	"cudaGetDeviceProperties",
};

static int idle_pays(void)
{
	int failures = 0;

	for (size_t i = 0; i < sizeof(only_ask) / sizeof(only_ask[0]); i++)
		if (event_groups__of_calls(only_ask[i]) & IDLE_CALL_GROUPS)
			failures += printf("--idle: %s only asks\n", only_ask[i]) > 0;
	for (size_t i = 0; i < sizeof(may_wait) / sizeof(may_wait[0]); i++)
		if (!(event_groups__of_calls(may_wait[i]) & IDLE_CALL_GROUPS))
			failures += printf("--idle: %s may wait\n", may_wait[i]) > 0;
	return failures;
}

int main(void)
{
	char name[128], glob[130];
	int names = 0, failures = idle_pays();

	while (scanf("%127s", name) == 1) {
		uint32_t family = event_groups__of_calls(name);

		names++;
		if (!family || family & (family - 1))
			failures += printf("%s: not one family: %x\n", name, family) > 0;
		for (size_t length = 0; length <= strlen(name); length++) {
			snprintf(glob, sizeof(glob), "%.*s*", (int)length, name);
			if (!(event_groups__of_calls(glob) & family))
				failures += printf("%s is not in %s\n", name, glob) > 0;
		}
	}
	printf("%d names\n", names);
	return failures || names < 100;
}
