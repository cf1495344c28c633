// SPDX-License-Identifier: BSD-2-Clause
/*
 * "START SIZE NAME" in hexadecimal, one function a line, appended to while the program runs. It is
 * opened while the process lives, in the process's own root and by its own number there, and read
 * when names are wanted. Untrusted: whoever may write to that folder may have written anything.
 *
 * What can go wrong: 1. it is a terabyte, or one line of that: a bounded part is read, in pieces.
 * 2. every line fits every address: a line is noted for a range of addresses at once, in a tree,
 * where the later one wins, and names are read only of the lines that have won. 3. a fault here: a
 * process without rights reads the file, and its answer is checked.
 */
#include "cuda-trace/symbols/perf_map.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "cuda-trace/foreign/foreign_job.h"

#define LONGEST_NAME 4096
#define LONGEST_HEAD 64 /* both numbers */
#define LONGEST_LINE (LONGEST_HEAD + LONGEST_NAME)
#define MAX_MS	     5000
#define MAX_ANSWER   (16ul << 20)

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

/* ---- in a process without rights ---- */

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
	return sorted__count_before(count, i, wishes[i].address < address);
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
static bool read_name(int fd, off_t begin, char name[LONGEST_NAME])
{
	char line[LONGEST_LINE];
	ssize_t n = pread(fd, line, sizeof(line) - 1, begin);
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

/* Names go behind their heads, in the order of wishes; the last head has no name, and says what may
 * still be read. */
struct sent_name {
	uint32_t wish; /* index */
	uint32_t size; /* with its NUL; 0 = that was all */
	uint64_t left;
};

static bool send_name(struct foreign_output *output, uint32_t wish, const char *name)
{
	const struct sent_name sent = {.wish = wish, .size = strlen(name) + 1};

	if (!foreign_output__fits(output, 2 * sizeof(sent) + sent.size))
		return false;
	foreign_output__put(output, &sent, sizeof(sent));
	foreign_output__put(output, name, sent.size);
	return true;
}

int perf_map__send(int fd, uint64_t size, const void *argument, struct foreign_output *output)
{
	const struct perf_map_job *job = argument;
	struct lines *lines = calloc(1, sizeof(*lines));
	uint64_t *tree = calloc(2 * job->count + 1, sizeof(*tree));
	size_t left = job->left;
	char name[LONGEST_NAME];

	(void)size;
	if (!lines || !tree)
		return -ENOMEM;
	lines->fd = fd;
	lines->left = &left;
	note_lines(job->wishes, job->count, lines, tree);
	for (size_t i = 0; i < job->count; i++) {
		uint64_t line = noted_for(tree, job->count, i);

		if (line && read_name(fd, line - 1, name) && !send_name(output, i, name))
			break;
	}
	foreign_output__put(output, &(struct sent_name){.left = left}, sizeof(struct sent_name));
	free(lines);
	free(tree);
	return 0;
}

/* ---- the tool ---- */

void perf_map__take(struct perf_map_job *job, const uint8_t *answer, size_t size,
		    void (*found)(void *context, uint32_t number, const char *name), void *context)
{
	struct sent_name sent;
	size_t next = 0;

	for (size_t at = 0; size - at >= sizeof(sent); at += sent.size) {
		memcpy(&sent, answer + at, sizeof(sent));
		at += sizeof(sent);
		if (!sent.size && sent.left < job->left)
			job->left = sent.left;
		if (!sent.size || sent.size > LONGEST_NAME || sent.size > size - at ||
		    answer[at + sent.size - 1] || sent.wish < next || sent.wish >= job->count)
			return;
		next = sent.wish + 1;
		found(context, job->wishes[sent.wish].number, (const char *)answer + at);
	}
}

void perf_map__names(const struct perf_map *map, struct perf_map_wish *wishes, size_t count,
		     size_t *left, void (*found)(void *context, uint32_t number, const char *name),
		     void *context)
{
	struct perf_map_job job = {wishes, count, *left};
	struct foreign_answer answer;
	struct foreign_file file;

	qsort(wishes, count, sizeof(*wishes), compare_addresses);
	if (foreign_file__of(&file, map->fd) ||
	    foreign_job__run(perf_map__send, &file, &job, MAX_MS, MAX_ANSWER, &answer))
		return;
	perf_map__take(&job, answer.bytes, answer.size, found, context);
	free(answer.bytes);
	*left = job.left;
}

void perf_map__free(struct perf_map *map)
{
	if (!map)
		return;
	if (map->fd >= 0)
		close(map->fd);
	free(map);
}
