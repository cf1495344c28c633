// SPDX-License-Identifier: BSD-2-Clause
/*
 * The answer of the process that reads a file is checked like the file: it holds entries of
 * addresses that were wanted, or nothing is believed of it from there on.
 */
#include "cuda-trace/symbols/source_lines.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/symbols/debug_lines.h"
#include "cuda-trace/symbols/file_parser.h"
#include "cuda-trace/symbols/wanted_addresses.h"

#define MAX_ANSWER (16ul << 20)

struct line {
	uint64_t address;
	uint32_t line;
	const char *path; /* in the answer */
};

struct source_lines {
	struct line *list;
	size_t count;
	struct foreign_answer answer;
};

static int by_address(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void read_answer(struct source_lines *lines, size_t most)
{
	const uint8_t *at = lines->answer.bytes, *end = at + lines->answer.size;
	struct debug_line sent;

	while ((size_t)(end - at) >= sizeof(sent) && lines->count < most) {
		memcpy(&sent, at, sizeof(sent));
		at += sizeof(sent);
		if (!sent.path_size || sent.path_size > (size_t)(end - at) ||
		    at[sent.path_size - 1])
			break;
		lines->list[lines->count++] =
			(struct line){sent.address, sent.line, (const char *)at};
		at += sent.path_size;
	}
	qsort(lines->list, lines->count, sizeof(*lines->list), by_address);
}

struct source_lines *source_lines__read(int fd, const uint64_t *addresses, size_t count)
{
	static struct file_parser parser = {
		.job = debug_lines__send,
		.max_answer = MAX_ANSWER,
		.too_late = "reading debug information took 30 s: functions of further files have "
			    "no lines"};
	const struct wanted_addresses wanted = {addresses, count};
	struct source_lines *lines;
	struct foreign_file file;

	if (!count || foreign_file__of(&file, fd))
		return NULL;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		return NULL;
	lines->list = calloc(count, sizeof(*lines->list));
	if (lines->list && !file_parser__run(&parser, &file, &wanted, &lines->answer))
		read_answer(lines, count);
	if (lines->count)
		return lines;
	source_lines__free(lines);
	return NULL;
}

uint32_t source_lines__at(const struct source_lines *lines, uint64_t address, const char **path)
{
	struct line key = {.address = address}, *found = NULL;

	if (lines)
		found = bsearch(&key, lines->list, lines->count, sizeof(key), by_address);
	*path = found ? found->path : NULL;
	return found ? found->line : 0;
}

void source_lines__free(struct source_lines *lines)
{
	if (!lines)
		return;
	free(lines->list);
	free(lines->answer.bytes);
	free(lines);
}
