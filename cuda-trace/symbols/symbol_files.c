// SPDX-License-Identifier: BSD-2-Clause
/* Files of symbols, by build-id. */
#include "cuda-trace/symbols/symbol_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/symbols/debuginfod.h"

#define DEBUG_FOLDER "/usr/lib/debug"

static void format_build_id(char out[2 * BUILD_ID_MAX + 1], const struct elf_outline *outline)
{
	out[0] = 0;
	for (uint32_t i = 0; i < outline->build_id_size; i++)
		snprintf(out + 2 * i, 3, "%02x", outline->build_id[i]);
}

/* What calls itself so and is another build would give wrong names. -1 = it is not that build. */
static int open_if_same(const char *path, const char *build_id)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char own[2 * BUILD_ID_MAX + 1];
	struct elf_outline outline;
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !elf_outline__read(&outline, fd)) {
		format_build_id(own, &outline);
		if (*own && !strcmp(own, build_id))
			return fd;
	}
	close(fd);
	return -1;
}

static struct symbols *read_if_same(const char *path, const char *build_id)
{
	int fd = open_if_same(path, build_id);
	struct symbols *symbols = fd >= 0 ? symbols__read(fd) : NULL;

	if (fd >= 0)
		close(fd);
	return symbols;
}

int symbol_files__open_debug(const struct elf_outline *outline)
{
	char build_id[2 * BUILD_ID_MAX + 1], path[PATH_MAX];
	const char *fetched;
	int fd;

	format_build_id(build_id, outline);
	if (strlen(build_id) < 4)
		return -1;
	snprintf(path, sizeof(path), DEBUG_FOLDER "/.build-id/%.2s/%s.debug", build_id,
		 build_id + 2);
	fd = open_if_same(path, build_id);
	fetched = fd < 0 ? debuginfod__find(outline->build_id, outline->build_id_size) : NULL;
	return fetched ? open_if_same(fetched, build_id) : fd;
}

/* Where the file may be; false = there is no place of that number. */
static bool format_place(char out[PATH_MAX], const char *folder, const char *build_id,
			 const char *path, unsigned int place)
{
	const char *name = strrchr(path, '/');
	char rest[PATH_MAX] = "";

	if (place == 0)
		snprintf(rest, sizeof(rest), ".build-id/%.2s/%s.debug", build_id, build_id + 2);
	else if (place == 1)
		snprintf(rest, sizeof(rest), ".build-id/%.2s/%s", build_id, build_id + 2);
	else if (place == 2)
		snprintf(rest, sizeof(rest), "usr/lib/debug/.build-id/%.2s/%s.debug", build_id,
			 build_id + 2);
	else if (place == 3)
		snprintf(rest, sizeof(rest), "%s/debuginfo", build_id);
	else if (place == 4)
		snprintf(rest, sizeof(rest), "%s", path);
	else if (place == 5 && name)
		snprintf(rest, sizeof(rest), "%s", name + 1);
	else
		return false;
	if (snprintf(out, PATH_MAX, "%s/%s", folder, rest) >= PATH_MAX)
		*out = 0;
	return true;
}

int symbol_files__open(const char *folder, const char *build_id, const char *path,
		       unsigned int *place)
{
	char name[PATH_MAX];
	int fd = -1;

	/* It names a file: nothing but digits may stand in it. */
	if (strlen(build_id) < 4 || strspn(build_id, "0123456789abcdef") != strlen(build_id))
		return -1;
	while (fd < 0 && format_place(name, folder, build_id, path, *place)) {
		fd = open_if_same(name, build_id);
		++*place;
	}
	return fd;
}

struct symbols *symbol_files__find(const char *folder, const char *build_id, const char *path)
{
	struct symbols *symbols = NULL;
	unsigned int place = 0;
	int fd;

	while (!symbols && (fd = symbol_files__open(folder, build_id, path, &place)) >= 0) {
		symbols = symbols__read(fd);
		close(fd);
	}
	return symbols;
}

struct symbols *symbol_files__read(int fd, const struct elf_outline *outline)
{
	char build_id[2 * BUILD_ID_MAX + 1];
	struct symbols *symbols = NULL;

	format_build_id(build_id, outline);
	/* With what is exported alone, a private function would get its neighbour's name: sizes see
	 * to that it gets none. */
	if (*build_id)
		symbols = symbol_files__find(DEBUG_FOLDER, build_id, "");
	return symbols ? symbols : symbols__read(fd);
}

struct symbols *symbol_files__fetch(const struct elf_outline *outline)
{
	const char *path = debuginfod__find(outline->build_id, outline->build_id_size);
	char build_id[2 * BUILD_ID_MAX + 1];

	format_build_id(build_id, outline);
	return path ? read_if_same(path, build_id) : NULL;
}
