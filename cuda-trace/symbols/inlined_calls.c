// SPDX-License-Identifier: BSD-2-Clause
/*
 * The answer of the process that reads a file is checked like the file: it holds entries of
 * addresses that were wanted, each in one run, or nothing is believed of it from there on.
 */
#include "cuda-trace/symbols/inlined_calls.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/symbols/debug_inlines.h"
#include "cuda-trace/symbols/file_parser.h"
#include "cuda-trace/symbols/wanted_addresses.h"

#define MAX_ANSWER   (16ul << 20)
#define MAX_MESSAGES 16

/* Those of a wanted address: calls[first .. first + count). */
struct run {
	uint32_t first, count;
};

struct inlined_calls {
	uint64_t *addresses; /* a copy */
	struct run *runs;    /* of the addresses */
	size_t address_count;
	struct inlined_call *list;
	uint32_t count, capacity;
	struct foreign_answer answer;
};

static void say_missing(const struct foreign_file *file, uint32_t bits)
{
	static const struct {
		uint32_t bit;
		const char *reason;
	} reasons[] = {
		{DEBUG_INLINES_TOO_LARGE, "its debug information is too large"},
		{DEBUG_INLINES_TOO_DEEP, "its debug information is nested too deeply"},
		{DEBUG_INLINES_SHARED,
		 "their names are in a file that it shares with others (dwz)"},
		{DEBUG_INLINES_SPLIT, "its debug information is in .dwo files"},
	};
	static uint32_t messages;
	char shown[512];

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (bits & reasons[i].bit && messages++ < MAX_MESSAGES)
			fprintf(stderr, "cuda-trace: inlined functions of %s are missing: %s\n",
				foreign_file__show(file->path, shown, sizeof(shown)),
				reasons[i].reason);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static struct run *run_of(const struct inlined_calls *calls, uint64_t address)
{
	const uint64_t *found = bsearch(&address, calls->addresses, calls->address_count,
					sizeof(address), by_value);

	return found ? &calls->runs[found - calls->addresses] : NULL;
}

/* False: it was not wanted, is there already, or there is no memory. */
static bool add_call(struct inlined_calls *calls, const struct debug_inline *sent,
		     const char *texts)
{
	struct run *run = run_of(calls, sent->address);

	if (!run || run->count >= DEBUG_INLINES_DEPTH ||
	    (run->count && run->first + run->count != calls->count) ||
	    !array_grow__for_one(calls->list, calls->capacity, calls->count))
		return false;
	if (!run->count)
		run->first = calls->count;
	run->count++;
	calls->list[calls->count++] = (struct inlined_call){
		.name = texts + sent->path_size, .path = texts, .line = sent->call_line};
	return true;
}

static void read_answer(struct inlined_calls *calls, const struct foreign_file *file)
{
	const uint8_t *at = calls->answer.bytes, *end = at + calls->answer.size;
	struct debug_inline sent;

	while ((size_t)(end - at) >= sizeof(sent)) {
		uint64_t size;

		memcpy(&sent, at, sizeof(sent));
		at += sizeof(sent);
		if (sent.address == UINT64_MAX) {
			say_missing(file, sent.call_line);
			return;
		}
		size = (uint64_t)sent.path_size + sent.name_size;
		if (!sent.path_size || !sent.name_size || size > (size_t)(end - at) ||
		    at[sent.path_size - 1] || at[size - 1] ||
		    !add_call(calls, &sent, (const char *)at))
			return;
		at += size;
	}
}

static struct inlined_calls *new_calls(const struct wanted_addresses *wanted)
{
	struct inlined_calls *calls = calloc(1, sizeof(*calls));
	uint64_t *addresses = calloc(wanted->count, sizeof(*addresses));

	if (calls)
		calls->runs = calloc(wanted->count, sizeof(*calls->runs));
	if (!calls || !calls->runs || !addresses) {
		free(addresses);
		inlined_calls__free(calls);
		return NULL;
	}
	memcpy(addresses, wanted->list, wanted->count * sizeof(*addresses));
	calls->addresses = addresses;
	calls->address_count = wanted->count;
	return calls;
}

struct inlined_calls *inlined_calls__read(int fd, const uint64_t *addresses, size_t count)
{
	static struct file_parser parser = {
		.job = debug_inlines__send,
		.max_answer = MAX_ANSWER,
		.too_late = "reading debug information took 30 s: inlined functions of further "
			    "files are not shown"};
	const struct wanted_addresses wanted = {addresses, count};
	struct inlined_calls *calls;
	struct foreign_file file;

	if (!count || foreign_file__of(&file, fd))
		return NULL;
	calls = new_calls(&wanted);
	if (!calls)
		return NULL;
	if (!file_parser__run(&parser, &file, &wanted, &calls->answer))
		read_answer(calls, &file);
	if (calls->count)
		return calls;
	inlined_calls__free(calls);
	return NULL;
}

size_t inlined_calls__at(const struct inlined_calls *calls, uint64_t address,
			 const struct inlined_call **first)
{
	const struct run *run = calls ? run_of(calls, address) : NULL;

	*first = run && run->count ? &calls->list[run->first] : NULL;
	return run ? run->count : 0;
}

void inlined_calls__free(struct inlined_calls *calls)
{
	if (!calls)
		return;
	free(calls->addresses);
	free(calls->runs);
	free(calls->list);
	free(calls->answer.bytes);
	free(calls);
}
