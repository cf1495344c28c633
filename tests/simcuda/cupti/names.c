// SPDX-License-Identifier: BSD-2-Clause
// CUPTI's own names of its callbacks.
#include "tests/simcuda/cudart.h"
#include "tests/simcuda/cupti/tracer.h"

/* clang-format off */
#define DRIVER_ROW(number, function, ...)           { 1, number, #function },
#define RUNTIME_ROW(number, function, version, ...) { 2, number, #function "_v" #version },
#define BARE_ROW(number, function, version)         { 2, number, #function "_v" #version },
/* clang-format on */

static const struct {
	int domain; /* CUPTI_DOMAIN_DRIVER or CUPTI_DOMAIN_RUNTIME */
	uint32_t cbid;
	const char *name;
} names[] = {DRIVER_CALLS(DRIVER_ROW) DRIVER_CALLS_BARE(DRIVER_ROW) RUNTIME_CALLS(RUNTIME_ROW)
		     RUNTIME_CALLS_BARE(BARE_ROW)};

CUptiResult cuptiGetCallbackName(int domain, uint32_t cbid, const char **name)
{
	if (!name)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].domain == domain && names[i].cbid == cbid) {
			*name = names[i].name;
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_INVALID_PARAMETER;
}
