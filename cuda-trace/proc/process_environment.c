// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/proc/process_environment.h"

#include <stdio.h>
#include <stdlib.h>

char *process_environment__read(uint32_t pid, size_t *size)
{
	char path[64], *bytes;
	FILE *file;

	*size = 0;
	snprintf(path, sizeof(path), "/proc/%u/environ", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	bytes = malloc(PROCESS_ENVIRONMENT_MAX + 1);
	if (bytes) {
		*size = fread(bytes, 1, PROCESS_ENVIRONMENT_MAX, file);
		bytes[*size] = 0;
	}
	fclose(file);
	return bytes;
}
