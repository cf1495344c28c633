// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/proc/injection_variable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE	"CUDA_INJECTION64_PATH="
#define ENVIRONMENT_MAX (256 << 10)

enum injection_variable injection_variable__of(uint32_t pid)
{
	enum injection_variable found = INJECTION_VARIABLE_UNKNOWN;
	char name[64], *environment;
	size_t size;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%u/environ", pid);
	file = fopen(name, "re");
	environment = file ? malloc(ENVIRONMENT_MAX + 1) : NULL;
	if (environment) {
		size = fread(environment, 1, ENVIRONMENT_MAX, file);
		environment[size] = 0;
		/* One that is cut may have it further behind. */
		if (size < ENVIRONMENT_MAX)
			found = INJECTION_VARIABLE_NONE;
		for (size_t at = 0; at < size; at += strlen(environment + at) + 1) {
			const char *value = environment + at + sizeof(VARIABLE) - 1;

			if (strncmp(environment + at, VARIABLE, sizeof(VARIABLE) - 1) || !*value)
				continue;
			found = strstr(value, "libcupti-usdt") ? INJECTION_VARIABLE_OURS
							       : INJECTION_VARIABLE_OTHER;
			break;
		}
	}
	free(environment);
	if (file)
		fclose(file);
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
