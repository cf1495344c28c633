/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeds the doctor's readers with damaged files: `fuzz TREE ROUNDS ELF`. Starts from a good library
 * and from TREE's loader cache, changes some bytes or cuts the file, and reads the outcome. Built
 * with sanitizers by tests/doctor/doctor.bats; always the same numbers, so that a fault comes back.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cuda-trace/inventory/elf_reader.h"
#include "cuda-trace/inventory/filetree.h"
#include "cuda-trace/inventory/ldcache.h"

#define SIZE_MAX_READ (1 << 20)

static const char *const wanted[] = {"cuptiGetVersion", "cuptiSubscribe", "cuptiNowhere"};
static unsigned long state = 1;

static unsigned long next(void)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 33;
}

static size_t load(const char *path, unsigned char *bytes)
{
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(bytes, 1, SIZE_MAX_READ, file) : 0;

	if (file)
		fclose(file);
	return n;
}

static size_t damage(unsigned char *bytes, size_t n, size_t head)
{
	static const unsigned char edges[] = {0, 1, 0x7f, 0x80, 0xff};
	unsigned int i, count = next() % 8;
	size_t at;

	for (i = 0; i < count && n; i++) {
		/* Headers more often than the rest: that is where meaning is. */
		at = next() % (next() % 4 ? (head < n ? head : n) : n);
		bytes[at] = next() % 2 ? edges[next() % sizeof(edges)] : next();
	}
	return next() % 6 ? n : next() % (n + 1);
}

static bool read_elf(const unsigned char *bytes, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf_facts facts;

	if (write(fd, bytes, n) != (ssize_t)n)
		exit(2);
	elf__inspect(fd, wanted, 3, &facts);
	close(fd);
	return facts.verdict == ELF_OK && facts.symbols == 3 &&
	       strlen(facts.soname) < sizeof(facts.soname);
}

static int count(void *context, const char *name, const char *path)
{
	*(size_t *)context += strlen(name) + strlen(path);
	return 0;
}

static bool read_cache(const char *root, const unsigned char *bytes, size_t n)
{
	struct filetree tree;
	char path[4096];
	size_t seen = 0;
	FILE *file;
	int err;

	snprintf(path, sizeof(path), "%s/etc/ld.so.cache", root);
	file = fopen(path, "w");
	if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) || filetree__open(&tree, root))
		exit(2);
	err = ldcache__each(&tree, "lib", count, &seen);
	filetree__close(&tree);
	return !err && seen;
}

int main(int argc, char **argv)
{
	static unsigned char elf[SIZE_MAX_READ], cache[SIZE_MAX_READ], bytes[SIZE_MAX_READ];
	unsigned long elf_fine = 0, cache_fine = 0, rounds, i;
	size_t elf_size, cache_size;
	char path[4096];

	if (argc != 4)
		return 2;
	rounds = strtoul(argv[2], NULL, 10);
	snprintf(path, sizeof(path), "%s/etc/ld.so.cache", argv[1]);
	elf_size = load(argv[3], elf);
	cache_size = load(path, cache);
	for (i = 0; i < rounds; i++) {
		memcpy(bytes, elf, elf_size);
		elf_fine += read_elf(bytes, damage(bytes, elf_size, 0x600));
		memcpy(bytes, cache, cache_size);
		cache_fine += read_cache(argv[1], bytes, damage(bytes, cache_size, 160));
	}
	printf("elf: %lu fine, %lu not; cache: %lu fine, %lu not\n", elf_fine, rounds - elf_fine,
	       cache_fine, rounds - cache_fine);
	return 0;
}
