// SPDX-License-Identifier: BSD-2-Clause
/*
 * "START SIZE NAME" in hexadecimal, one function a line, appended to while the program runs. It is
 * opened while the process lives, in the process's own root and by its own number there, and read
 * when names are wanted. Untrusted: whoever may write to that folder may have written anything.
 *
 * What can go wrong: 1. it is a terabyte, or one line of that: a bounded part is read, in pieces.
 * 2. every line fits every address: a line is noted for a range of addresses at once, in a tree,
 * where the later one wins, and names are read only of the lines that have won.
 */
#include "cuda-trace/symbols/perf_map.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/foreign/foreign_file.h"

#define LONGEST_NAME 4096
#define LONGEST_HEAD 64 /* both numbers */
#define LONGEST_LINE (LONGEST_HEAD + LONGEST_NAME)

struct perf_map {
	int fd;
};

/* The last of the numbers of NSpid: as the process itself knows it. */
static uint32_t own_number(uint32_t pid)
{
	char path[32], *line = NULL, *last;
	uint32_t number = pid;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		last = strrchr(line, '\t');
		if (last)
			number = strtoul(last + 1, NULL, 10);
		break;
	}
	free(line);
	if (file)
		fclose(file);
	return number;
}

struct perf_map *perf_map__of(int fd)
{
	struct perf_map *map = calloc(1, sizeof(*map));

	if (map)
		map->fd = fd;
	else
		close(fd);
	return map;
}

struct perf_map *perf_map__open(uint32_t pid)
{
	struct foreign_file file;
	char name[64];

	snprintf(name, sizeof(name), "/tmp/perf-%u.map", own_number(pid));
	return foreign_file__open(&file, pid, name, true) ? NULL : perf_map__of(file.fd);
}

/* Lines of the file, a piece at a time. */
struct lines {
	int fd;
	size_t *left;
	off_t next; /* of the file, what to read next */
	size_t from, have;
	bool is_skipping; /* the rest of a line that is too long */
	char piece[1 << 16];
};

static bool read_more(struct lines *lines)
{
	size_t capacity;
	ssize_t n;

	if (lines->from) {
		lines->have -= lines->from;
		memmove(lines->piece, lines->piece + lines->from, lines->have);
		lines->from = 0;
	}
	if (lines->have == sizeof(lines->piece)) {
		lines->is_skipping = true;
		lines->have = 0;
	}
	capacity = sizeof(lines->piece) - lines->have;
	n = pread(lines->fd, lines->piece + lines->have,
		  capacity < *lines->left ? capacity : *lines->left, lines->next);
	if (n <= 0)
		return false;
	lines->have += n;
	lines->next += n;
	*lines->left -= n;
	return true;
}

/* A line that has ended, with where it begins in the file; NULL = there is none any more. */
static const char *next_line(struct lines *lines, off_t *begin)
{
	for (;;) {
		char *line = lines->piece + lines->from;
		char *end = memchr(line, '\n', lines->have - lines->from);
		bool is_rest = lines->is_skipping;

		if (!end && !read_more(lines))
			return NULL;
		if (!end)
			continue;
		*end = 0;
		*begin = lines->next - lines->have + lines->from;
		lines->from = end + 1 - lines->piece;
		lines->is_skipping = false;
		if (!is_rest)
			return line;
	}
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t first = ((const struct perf_map_wish *)a)->address;
	uint64_t second = ((const struct perf_map_wish *)b)->address;

	return (first > second) - (first < second);
}

/* The first wish at that address or above. */
static size_t place_of(const struct perf_map_wish *wishes, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (wishes[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Code may be thrown away and its place be used again: the last line that fits counts. */
static void note_lines(const struct perf_map_wish *wishes, size_t count, struct lines *lines,
		       uint64_t *tree)
{
	const char *line;
	off_t begin;

	while ((line = next_line(lines, &begin))) {
		unsigned long long start, length, end;
		size_t low, high;

		if (sscanf(line, "%llx %llx", &start, &length) < 2)
			continue;
		end = start + length < start ? ULLONG_MAX : start + length;
		low = place_of(wishes, count, start) + count;
		high = place_of(wishes, count, end) + count;
		for (; low < high; low /= 2, high /= 2) {
			if (low & 1)
				tree[low++] = begin + 1;
			if (high & 1)
				tree[--high] = begin + 1;
		}
	}
}

/* The line that was noted last for a wish, from 1; 0 = none. */
static uint64_t noted_for(const uint64_t *tree, size_t count, size_t wish)
{
	uint64_t last = 0;

	for (size_t i = wish + count; i; i /= 2)
		last = tree[i] > last ? tree[i] : last;
	return last;
}

/* False: it is not there any more. */
static bool read_name(const struct perf_map *map, off_t begin, char name[LONGEST_NAME])
{
	char line[LONGEST_LINE];
	ssize_t n = pread(map->fd, line, sizeof(line) - 1, begin);
	unsigned long long start, length;
	int at = 0;

	if (n <= 0)
		return false;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%llx %llx %n", &start, &length, &at) < 2 || !at || !line[at])
		return false;
	snprintf(name, LONGEST_NAME, "%s", line + at);
	return true;
}

void perf_map__names(const struct perf_map *map, struct perf_map_wish *wishes, size_t count,
		     size_t *left, void (*found)(void *context, uint32_t number, const char *name),
		     void *context)
{
	struct lines *lines = calloc(1, sizeof(*lines));
	uint64_t *tree = calloc(2 * count + 1, sizeof(*tree));

	if (lines && tree) {
		lines->fd = map->fd;
		lines->left = left;
		qsort(wishes, count, sizeof(*wishes), compare_addresses);
		note_lines(wishes, count, lines, tree);
	}
	for (size_t i = 0; lines && tree && i < count; i++) {
		uint64_t line = noted_for(tree, count, i);
		char name[LONGEST_NAME];

		if (line && read_name(map, line - 1, name))
			found(context, wishes[i].number, name);
	}
	free(lines);
	free(tree);
}

void perf_map__free(struct perf_map *map)
{
	if (!map)
		return;
	if (map->fd >= 0)
		close(map->fd);
	free(map);
}
