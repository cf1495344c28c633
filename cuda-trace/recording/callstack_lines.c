// SPDX-License-Identifier: BSD-2-Clause
/*
 * One module's debug information is in memory at a time. Inlined functions are looked for where
 * lines are: a file without lines has no debug information, and one of lines alone no functions.
 */
#include "cuda-trace/recording/callstack_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/base/demangle.h"
#include "cuda-trace/recording/callstack_names.h"
#include "cuda-trace/symbols/inlined_calls.h"
#include "cuda-trace/symbols/source_lines.h"
#include "cuda-trace/symbols/symbol_files.h"

#define LONGEST_TEXT 4096

static void put_line(const struct callstack_lines_sink *sink, uint32_t frame,
		     const struct source_lines *lines, uint64_t address)
{
	const char *path;
	const uint32_t head[2] = {frame, source_lines__at(lines, address, &path)};

	if (head[1])
		sink->put(sink->context, SPOOL_LINE, head, sizeof(head), path,
			  strnlen(path, LONGEST_TEXT));
}

static void put_call(const struct callstack_lines_sink *sink, uint32_t frame, uint32_t level,
		     const struct inlined_call *call)
{
	size_t path_bytes = strnlen(call->path, LONGEST_TEXT), name_bytes;
	struct spool_inlined entry = {
		.frame = frame, .level = level, .line = call->line, .path_bytes = path_bytes};
	char *pretty = demangle(call->name);
	const char *name = pretty ? pretty : call->name;
	char texts[2 * LONGEST_TEXT];

	name_bytes = strnlen(name, LONGEST_TEXT);
	memcpy(texts, call->path, path_bytes);
	memcpy(texts + path_bytes, name, name_bytes);
	sink->put(sink->context, SPOOL_INLINED, &entry, sizeof(entry), texts,
		  path_bytes + name_bytes);
	free(pretty);
}

/* The module's frames that are new. */
struct batch {
	const struct module *module;
	uint32_t number; /* of the module */
	const struct interned *frames;
	uint32_t from;
	uint64_t *addresses;
	size_t count;
};

static void put_frames(const struct batch *batch, const struct source_lines *lines,
		       const struct inlined_calls *inlined, const struct callstack_lines_sink *sink)
{
	for (uint32_t i = batch->from + 1; i <= intern__count(batch->frames); i++) {
		const struct frame_key *key = intern__at(batch->frames, i, NULL);
		const struct inlined_call *calls;
		size_t count;

		if (key->module != batch->number)
			continue;
		put_line(sink, i, lines, key->address);
		count = inlined_calls__at(inlined, key->address, &calls);
		for (uint32_t level = 0; level < count; level++)
			put_call(sink, i, level, &calls[level]);
	}
}

/* False: there is no line in that file. */
static bool put_from(int fd, const struct batch *batch, const struct callstack_lines_sink *sink)
{
	struct source_lines *lines = source_lines__read(fd, batch->addresses, batch->count);
	struct inlined_calls *inlined;

	if (!lines)
		return false;
	inlined = inlined_calls__read(fd, batch->addresses, batch->count);
	put_frames(batch, lines, inlined, sink);
	inlined_calls__free(inlined);
	source_lines__free(lines);
	return true;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* From the file, or, if it has no lines, that of the same build in /usr/lib/debug. */
static void put_batch(struct batch *batch, const struct callstack_lines_sink *sink)
{
	int other;

	for (uint32_t i = batch->from + 1; i <= intern__count(batch->frames); i++) {
		const struct frame_key *key = intern__at(batch->frames, i, NULL);

		if (key->module == batch->number)
			batch->addresses[batch->count++] = key->address;
	}
	if (!batch->count)
		return;
	qsort(batch->addresses, batch->count, sizeof(*batch->addresses), by_value);
	if (put_from(batch->module->fd, batch, sink))
		return;
	other = symbol_files__open_debug(&batch->module->outline);
	if (other < 0)
		return;
	put_from(other, batch, sink);
	close(other);
}

void callstack_lines__put(const struct modules *modules, const struct interned *frames,
			  uint32_t from, const struct callstack_lines_sink *sink)
{
	struct batch batch = {.frames = frames, .from = from};

	if (from == intern__count(frames))
		return;
	batch.addresses = calloc(intern__count(frames) - from, sizeof(*batch.addresses));
	for (uint32_t i = 1; batch.addresses && i <= modules__count(modules); i++) {
		batch.module = modules__at(modules, i);
		batch.number = i;
		batch.count = 0;
		if (batch.module->is_elf)
			put_batch(&batch, sink);
	}
	free(batch.addresses);
}
