// SPDX-License-Identifier: BSD-2-Clause
/* The table of the range profiler's functions. Filled once in InitializeInjection. */
#include "libcupti-usdt/cupti/cupti_range.h"

#include <dlfcn.h>
#include <stdbool.h>

static struct cupti_range range;
static bool complete;

static void bind_user_ranges(void *library)
{
	*(void **)&range.RangeProfilerPushRange = dlsym(library, "cuptiRangeProfilerPushRange");
	*(void **)&range.RangeProfilerPopRange = dlsym(library, "cuptiRangeProfilerPopRange");
	if (range.RangeProfilerPushRange && range.RangeProfilerPopRange)
		return;
	range.RangeProfilerPushRange = NULL;
	range.RangeProfilerPopRange = NULL;
}

void cupti_range__bind(void *library)
{
	complete = true;
#define BIND(name, type)                                       \
	*(void **)&range.name = dlsym(library, "cupti" #name); \
	complete &= range.name != NULL;
	CUPTI_RANGE_FUNCTIONS(BIND)
#undef BIND
	*(void **)&range.GetDeviceId = dlsym(library, "cuptiGetDeviceId");
	complete &= range.GetDeviceId != NULL;
	*(void **)&range.ProfilerGetCounterAvailability =
		dlsym(library, "cuptiProfilerGetCounterAvailability");
	bind_user_ranges(library);
}

const struct cupti_range *cupti_range__get(void)
{
	return complete ? &range : NULL;
}
