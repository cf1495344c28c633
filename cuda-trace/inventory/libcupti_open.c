// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where libcupti may be. The agent looks for the one that a program uses (cupti_search.c); here any
 * will do.
 */
#include "cuda-trace/inventory/libcupti_open.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

void *libcupti_open__open(char *path, size_t size)
{
	static const char *const places[] = {
		"libcupti.so.13",
		"libcupti.so.12",
		"/usr/local/cuda/lib64/libcupti.so.1[23]",
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1[23]",
		"/usr/local/cuda-1[23]*/lib64/libcupti.so.1[23]",
		"/usr/local/cuda-1[23]*/extras/CUPTI/lib64/libcupti.so.1[23]",
		"/opt/cuda/extras/CUPTI/lib64/libcupti.so.1[23]",
		"/usr/lib/*-linux-gnu/libcupti.so.1[23]",
		"/usr/lib/cuda-trace/cupti/1[23]/libcupti.so.1[23]"};
	const char *named = getenv("CUDA_TRACE_LIBCUPTI");
	void *library = named ? dlopen(named, RTLD_NOW) : NULL;

	snprintf(path, size, "%s", named ? named : "");
	for (size_t i = 0; !library && !named && i < sizeof(places) / sizeof(places[0]); i++) {
		glob_t found = {};

		if (places[i][0] != '/') {
			snprintf(path, size, "%s", places[i]);
			library = dlopen(path, RTLD_NOW);
			continue;
		}
		if (!glob(places[i], 0, NULL, &found))
			for (size_t k = found.gl_pathc; !library && k--;) {
				snprintf(path, size, "%s", found.gl_pathv[k]);
				library = dlopen(path, RTLD_NOW);
			}
		globfree(&found);
	}
	return library;
}
