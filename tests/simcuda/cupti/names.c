// SPDX-License-Identifier: BSD-2-Clause
// CUPTI's own names of its callbacks.
#include "tests/simcuda/cupti/tracer.h"

#define NAME_ROW(number, function, ...) {number, #function},

static const struct {
	uint32_t cbid;
	const char *name;
} driver[] = {DRIVER_CALLS(NAME_ROW) DRIVER_CALLS_BARE(NAME_ROW)};

CUptiResult cuptiGetCallbackName(int domain, uint32_t cbid, const char **name)
{
	if (!name)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (domain == CUPTI_DOMAIN_DRIVER)
		for (size_t i = 0; i < sizeof(driver) / sizeof(*driver); i++)
			if (driver[i].cbid == cbid) {
				*name = driver[i].name;
				return CUPTI_SUCCESS;
			}
	return CUPTI_ERROR_INVALID_PARAMETER;
}
