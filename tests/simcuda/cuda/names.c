// SPDX-License-Identifier: BSD-2-Clause
// Entry points by name, as programs that link nothing ask for them.
#include <string.h>
#include "tests/simcuda/cuda/driver.h"

#define NAME_ROW(cbid, name, ...) {#name, (void *)name},
static const struct {
	const char *name;
	void *function;
} entries[] = {DRIVER_CALLS(NAME_ROW) DRIVER_CALLS_BARE(NAME_ROW)};

/* The newest version of a call: cuMemAlloc gives cuMemAlloc_v2. */
static void *entry__find(const char *symbol, bool per_thread)
{
	static const char *const endings[] = {"_ptsz", "_v4", "_v2", ""};
	size_t length = strlen(symbol);

	for (size_t e = per_thread ? 0 : 1; e < 4; e++)
		for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++)
			if (!strncmp(entries[i].name, symbol, length) &&
			    !strcmp(entries[i].name + length, endings[e]))
				return entries[i].function;
	return NULL;
}

CUresult sim_cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags,
				 int *status)
{
	if (!symbol || !pfn)
		return CUDA_ERROR_INVALID_VALUE;
	*pfn = entry__find(symbol, flags & 2);
	if (!strcmp(symbol, "cuGetProcAddress") && version < 12000)
		*pfn = (void *)cuGetProcAddress;
	if (status)
		*status = *pfn ? 0 : 1;
	return *pfn || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags)
{
	return sim_cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}
