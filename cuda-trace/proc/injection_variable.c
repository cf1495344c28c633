// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/proc/injection_variable.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/proc/process_environment.h"

#define VARIABLE "CUDA_INJECTION64_PATH="

enum injection_variable injection_variable__of(uint32_t pid)
{
	enum injection_variable found = INJECTION_VARIABLE_UNKNOWN;
	size_t size = 0;
	char *environment = process_environment__read(pid, &size);

	/* One that is cut may have it further behind. */
	if (environment && size < PROCESS_ENVIRONMENT_MAX)
		found = INJECTION_VARIABLE_NONE;
	for (size_t at = 0; at < size; at += strlen(environment + at) + 1) {
		const char *value = environment + at + sizeof(VARIABLE) - 1;

		if (strncmp(environment + at, VARIABLE, sizeof(VARIABLE) - 1) != 0 || !*value)
			continue;
		found = strstr(value, "libcupti-usdt") ? INJECTION_VARIABLE_OURS
						       : INJECTION_VARIABLE_OTHER;
		break;
	}
	free(environment);
	return found;
}

const char *injection_variable__reason(enum injection_variable variable)
{
	switch (variable) {
	case INJECTION_VARIABLE_NONE:
		return "its environment has no CUDA_INJECTION64_PATH (cleared by env -i or sudo, "
		       "or never set)";
	case INJECTION_VARIABLE_OTHER:
		return "its CUDA_INJECTION64_PATH names another injection library";
	case INJECTION_VARIABLE_OURS:
		return "it did not load the injection library";
	default:
		return NULL;
	}
}
