// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_curl.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define PUSH_CURL_ROW(name) {"curl_" #name, offsetof(struct push_curl, name)},
	PUSH_CURL_FUNCTIONS(PUSH_CURL_ROW)
#undef PUSH_CURL_ROW
};

bool push_curl__load(struct push_curl *curl)
{
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
	void *library = NULL;

	for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "cuda-trace push: libcurl.so.4 is missing: install libcurl4 "
				"(Debian) or libcurl (Fedora)\n");
		return false;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function) {
			fprintf(stderr,
				"cuda-trace push: libcurl has no %s: 7.68 or newer is needed\n",
				functions[i].name);
			return false;
		}
		*(void **)((char *)curl + functions[i].offset) = function;
	}
	return !curl->global_init(CURL_GLOBAL_DEFAULT);
}
