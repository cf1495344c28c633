// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/driver/driver_paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void handle_folder(void (*handle)(void *context, const char *path), void *context,
			  const char *folder, size_t length)
{
	char path[PATH_MAX];

	if (length && snprintf(path, sizeof(path), "%.*s/libcuda.so.1", (int)length, folder) <
			      (int)sizeof(path))
		handle(context, path);
}

void driver_paths__each(void (*handle)(void *context, const char *path), void *context)
{
	static const char *const folders[] = {
		"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
		"/usr/local/nvidia/lib64",   "/usr/lib/wsl/lib",	   "/usr/lib"};
	const char *list = getenv("LD_LIBRARY_PATH");

	while (list && *list) {
		size_t length = strcspn(list, ":");

		handle_folder(handle, context, list, length);
		list += length + (list[length] == ':');
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		handle_folder(handle, context, folders[i], strlen(folders[i]));
}
