// SPDX-License-Identifier: BSD-2-Clause
// An image's /etc/ld.so.cache.
#include <string.h>
#include "cuda-trace/inventory/ldcache.h"
#include "tests/fuzz/fuzz.h"

static int on_entry(void *context, const char *name, const char *path)
{
	return strlen(name) + strlen(path) > SIZE_MAX / 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char root[] = "/tmp/cuda-trace-fuzz.XXXXXX";
	static bool made;
	struct filetree tree;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/etc", root);
	if (!made &&
	    (!mkdtemp(root) || (snprintf(path, sizeof(path), "%s/etc", root), mkdir(path, 0755))))
		abort();
	made = true;
	snprintf(path, sizeof(path), "%s/etc/ld.so.cache", root);
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file) ||
	    filetree__open(&tree, root))
		abort();
	ldcache__each(&tree, "lib", on_entry, NULL);
	filetree__close(&tree);
	return 0;
}
