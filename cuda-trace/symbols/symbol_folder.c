// SPDX-License-Identifier: BSD-2-Clause
/* A file is read at the first question about it, and its answer is kept until the end. */
#include "cuda-trace/symbols/symbol_folder.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/symbols/inlined_calls.h"
#include "cuda-trace/symbols/source_lines.h"
#include "cuda-trace/symbols/symbol_files.h"

#define MAX_BUILDS 256

struct symbol_build {
	const char *folder;
	char *id, *path;
	uint64_t *wanted;
	size_t wanted_count, wanted_capacity;
	bool has_read_symbols, has_read_lines;
	struct symbols *symbols;       /* NULL = not found */
	struct source_lines *lines;    /* NULL = none */
	struct inlined_calls *inlined; /* NULL = none */
};

struct symbol_folder {
	const char *path;
	struct symbol_build builds[MAX_BUILDS];
	size_t count;
	size_t last; /* of builds: that of the question before */
	bool complained;
};

struct symbol_folder *symbol_folder__new(const char *path)
{
	struct symbol_folder *folder = calloc(1, sizeof(*folder));

	if (folder)
		folder->path = path;
	return folder;
}

static struct symbol_build *add_build(struct symbol_folder *folder, const char *build_id,
				      const char *path)
{
	struct symbol_build *build = &folder->builds[folder->count];

	if (folder->count == MAX_BUILDS) {
		if (!folder->complained)
			fprintf(stderr,
				"cuda-trace: call stacks lead through more than %d files: "
				"--symbols looks for the first ones\n",
				MAX_BUILDS);
		folder->complained = true;
		return NULL;
	}
	*build = (struct symbol_build){
		.folder = folder->path, .id = strdup(build_id), .path = strdup(path)};
	if (!build->id || !build->path) {
		free(build->id);
		free(build->path);
		return NULL;
	}
	folder->last = folder->count++;
	return build;
}

struct symbol_build *symbol_folder__build(struct symbol_folder *folder, const char *build_id,
					  const char *path)
{
	if (folder->count && !strcmp(folder->builds[folder->last].id, build_id))
		return &folder->builds[folder->last];
	for (size_t i = 0; i < folder->count; i++) {
		if (strcmp(folder->builds[i].id, build_id) != 0)
			continue;
		folder->last = i;
		return &folder->builds[i];
	}
	return add_build(folder, build_id, path);
}

void symbol_build__want(struct symbol_build *build, uint64_t address)
{
	if (array_grow__for_one(build->wanted, build->wanted_capacity, build->wanted_count))
		build->wanted[build->wanted_count++] = address;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts, and leaves one of each. */
static void sort_wanted(struct symbol_build *build)
{
	size_t count = 0;

	if (!build->wanted_count)
		return;
	qsort(build->wanted, build->wanted_count, sizeof(*build->wanted), by_value);
	for (size_t i = 0; i < build->wanted_count; i++)
		if (!count || build->wanted[count - 1] != build->wanted[i])
			build->wanted[count++] = build->wanted[i];
	build->wanted_count = count;
}

/* From the first file that has lines: those without have no inlined functions either. */
static void read_lines(struct symbol_build *build)
{
	unsigned int place = 0;
	int fd;

	if (build->has_read_lines)
		return;
	build->has_read_lines = true;
	sort_wanted(build);
	while (build->wanted_count && !build->lines &&
	       (fd = symbol_files__open(build->folder, build->id, build->path, &place)) >= 0) {
		build->lines = source_lines__read(fd, build->wanted, build->wanted_count);
		if (build->lines)
			build->inlined =
				inlined_calls__read(fd, build->wanted, build->wanted_count);
		close(fd);
	}
}

const char *symbol_build__function(struct symbol_build *build, uint64_t address)
{
	if (!build->has_read_symbols)
		build->symbols = symbol_files__find(build->folder, build->id, build->path);
	build->has_read_symbols = true;
	return build->symbols ? symbols__at(build->symbols, address) : NULL;
}

uint32_t symbol_build__line(struct symbol_build *build, uint64_t address, const char **path)
{
	read_lines(build);
	return source_lines__at(build->lines, address, path);
}

size_t symbol_build__inlined(struct symbol_build *build, uint64_t address,
			     const struct inlined_call **first)
{
	read_lines(build);
	return inlined_calls__at(build->inlined, address, first);
}

void symbol_folder__free(struct symbol_folder *folder)
{
	if (!folder)
		return;
	for (size_t i = 0; i < folder->count; i++) {
		struct symbol_build *build = &folder->builds[i];

		free(build->id);
		free(build->path);
		free(build->wanted);
		symbols__free(build->symbols);
		source_lines__free(build->lines);
		inlined_calls__free(build->inlined);
	}
	free(folder);
}
