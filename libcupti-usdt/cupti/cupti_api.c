// SPDX-License-Identifier: BSD-2-Clause
/* The table of libcupti's functions. Filled once in InitializeInjection, read by all threads. */
#include "libcupti-usdt/cupti/cupti_api.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "libcupti-usdt/cupti/cupti_range.h"
#include "libcupti-usdt/cupti/cupti_sass.h"

static struct cupti cupti;

struct function {
	const char *name;
	size_t offset;
	bool required;
};

static const struct function functions[] = {
#define CUPTI_FUNCTION(required, name, parameters) \
	{"cupti" #name, offsetof(struct cupti, name), required},
	CUPTI_FUNCTIONS(CUPTI_FUNCTION)
#undef CUPTI_FUNCTION
};

const struct cupti *cupti_api__get(void)
{
	return &cupti;
}

const char *cupti_api__bind(void *library, uint32_t soname_major)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *symbol = dlsym(library, functions[i].name);

		if (!symbol && functions[i].required)
			return functions[i].name;
		*(void **)((char *)&cupti + functions[i].offset) = symbol;
	}
	if (cupti.GetVersion(&cupti.version))
		return "a version";
	cupti_range__bind(library);
	cupti_sass__bind(library);
	cupti.major = cupti.version >= CUPTI_VERSION_13_0 ? cupti.version / 10000 : soname_major;
	return NULL;
}

const char *cupti_api__result_text(int result)
{
	const char *text = NULL;

	if (!cupti.GetResultString || cupti.GetResultString(result, &text) || !text)
		return "no text";
	return text;
}
