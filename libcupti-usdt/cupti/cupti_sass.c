// SPDX-License-Identifier: BSD-2-Clause
/* The table of the functions for SASS metrics. Filled once in InitializeInjection. */
#include "libcupti-usdt/cupti/cupti_sass.h"

#include <dlfcn.h>
#include <stdbool.h>

static struct cupti_sass sass;
static bool complete;

void cupti_sass__bind(void *library)
{
	complete = true;
#define BIND(name, type)                                      \
	*(void **)&sass.name = dlsym(library, "cupti" #name); \
	complete &= sass.name != NULL;
	CUPTI_SASS_FUNCTIONS(BIND)
#undef BIND
}

const struct cupti_sass *cupti_sass__get(void)
{
	return complete ? &sass : NULL;
}
