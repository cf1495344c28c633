// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/proc/python_name.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "cuda-trace/base/text.h"

#define LINES_MAX 65536 /* of a process that maps without end, the rest is not read */

static bool is_python(const char *file)
{
	return !strncmp(file, "libpython3.", 11) || !strncmp(file, "python3.", 8);
}

void python_name__read(uint32_t pid, char *name, size_t size)
{
	char path[64], line[8192];
	FILE *maps;

	*name = '\0';
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	maps = fopen(path, "re");
	for (int i = 0; maps && i < LINES_MAX && fgets(line, sizeof(line), maps); i++) {
		const char *file = strrchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (!file || !is_python(file + 1))
			continue;
		text__show(name, size, file + 1, 0);
		break;
	}
	if (maps)
		fclose(maps);
}
