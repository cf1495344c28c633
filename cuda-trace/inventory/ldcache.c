// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads /etc/ld.so.cache of a tree without running its ldconfig. The file may be anything: every
 * offset is checked. The layout is glibc's "glibc-ld.so.cache1.1", alone or behind the old table.
 * Called by doctor_libraries and doctor_system; one thread.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/inventory/ldcache.h"

#define CACHE_MAX (16 << 20)

struct cache_header {
	char magic[20];
	uint32_t libraries;
	uint32_t strings;
	uint32_t unused[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t name;
	uint32_t path;
	uint32_t os_version;
	uint64_t hwcap;
};

/* No longer than a path: half a million entries may name one string of megabytes. */
static const char *string_at(const char *base, size_t size, uint32_t offset)
{
	size_t left = offset < size ? size - offset : 0;

	if (!left || !memchr(base + offset, '\0', left < PATH_MAX ? left : PATH_MAX))
		return NULL;
	return base + offset;
}

static int each_entry(const char *base, size_t size, const char *prefix, ldcache_fn each,
		      void *context)
{
	struct cache_header header;
	struct cache_entry entry;
	const char *name, *path;
	uint32_t i;

	memcpy(&header, base, sizeof(header));
	for (i = 0; i < header.libraries; i++) {
		if (sizeof(header) + (i + 1ull) * sizeof(entry) > size)
			return -EBADMSG;
		memcpy(&entry, base + sizeof(header) + i * sizeof(entry), sizeof(entry));
		name = string_at(base, size, entry.name);
		path = string_at(base, size, entry.path);
		if (!name || !path)
			return -EBADMSG;
		if (!strncmp(name, prefix, strlen(prefix)) && each(context, name, path))
			return 0;
	}
	return 0;
}

int ldcache__each(const struct filetree *tree, const char *prefix, ldcache_fn each, void *context)
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	char *cache = malloc(CACHE_MAX), *base;
	ssize_t size;
	int err;

	if (!cache)
		return -ENOMEM;
	size = filetree__read(tree, "/etc/ld.so.cache", cache, CACHE_MAX);
	if (size < 0) {
		err = size;
		goto out;
	}
	base = memmem(cache, size, magic, sizeof(magic) - 1);
	size -= base ? base - cache : 0;
	if (!base || (size_t)size < sizeof(struct cache_header))
		err = -EBADMSG;
	else
		err = each_entry(base, size, prefix, each, context);
out:
	free(cache);
	return err;
}
