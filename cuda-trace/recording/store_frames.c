// SPDX-License-Identifier: BSD-2-Clause
/* All numbers come from a file, so each is checked before it is used. */
#include "cuda-trace/recording/store_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/symbols/debug_inlines.h"

/* Space for the element of that number; false = the file claims too many, or no memory. */
#define make_space(list, capacity, number)          \
	((number) && (number) < STORE_FRAMES_MAX && \
	 array_grow__zeroed(list, capacity, (number) + 1))

static void read_module(struct store_frames *frames, const uint8_t *data, size_t size)
{
	struct spool_module fact;
	struct stored_module *module;

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	if (!make_space(frames->modules, frames->module_capacity, fact.number))
		return;
	module = &frames->modules[fact.number];
	if (module->path)
		return;
	module->path = strndup((const char *)data + sizeof(fact), size - sizeof(fact));
	for (uint32_t i = 0; i < fact.build_id_size && i < sizeof(fact.build_id); i++)
		snprintf(module->build_id + 2 * i, 3, "%02x", fact.build_id[i]);
}

static void read_function(struct store_frames *frames, const uint8_t *data, size_t size)
{
	struct spool_function fact;
	struct stored_function *function;
	const char *text = (const char *)data + sizeof(fact);

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	size -= sizeof(fact);
	if (fact.file_bytes > size ||
	    !make_space(frames->functions, frames->function_capacity, fact.number))
		return;
	function = &frames->functions[fact.number];
	if (function->file)
		return;
	function->file = strndup(text, fact.file_bytes);
	function->name = strndup(text + fact.file_bytes, size - fact.file_bytes);
}

static void read_frame(struct store_frames *frames, const uint8_t *data, size_t size)
{
	struct spool_frame fact;

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	if (make_space(frames->frames, frames->frame_capacity, fact.number))
		frames->frames[fact.number].fact = fact;
}

static void read_symbol(struct store_frames *frames, const uint8_t *data, size_t size)
{
	uint32_t number;

	if (size < sizeof(number))
		return;
	memcpy(&number, data, sizeof(number));
	if (number < frames->frame_capacity && !frames->frames[number].symbol)
		frames->frames[number].symbol =
			strndup((const char *)data + sizeof(number), size - sizeof(number));
}

static void read_line(struct store_frames *frames, const uint8_t *data, size_t size)
{
	uint32_t head[2];

	if (size < sizeof(head))
		return;
	memcpy(head, data, sizeof(head));
	if (head[0] >= frames->frame_capacity || frames->frames[head[0]].source)
		return;
	frames->frames[head[0]].line = head[1];
	frames->frames[head[0]].source =
		strndup((const char *)data + sizeof(head), size - sizeof(head));
}

static void read_inlined(struct store_frames *frames, const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + sizeof(struct spool_inlined);
	struct spool_inlined fact;
	struct stored_inlined inlined;
	struct stored_frame *frame;

	if (size < sizeof(fact))
		return;
	memcpy(&fact, data, sizeof(fact));
	size -= sizeof(fact);
	if (fact.frame >= frames->frame_capacity || fact.path_bytes > size)
		return;
	frame = &frames->frames[fact.frame];
	if (fact.level != frame->inlined_count || fact.level == DEBUG_INLINES_DEPTH ||
	    !array_grow__counted(frame->inlined, frame->inlined_count))
		return;
	inlined = (struct stored_inlined){
		.name = strndup(text + fact.path_bytes, size - fact.path_bytes),
		.source = fact.path_bytes && fact.line ? strndup(text, fact.path_bytes) : NULL,
		.line = fact.line,
	};
	if (inlined.name)
		frame->inlined[frame->inlined_count++] = inlined;
	else
		free(inlined.source);
}

void store_frames__fact(struct store_frames *frames, enum spool_kind kind, const uint8_t *data,
			size_t size)
{
	if (kind == SPOOL_MODULE)
		read_module(frames, data, size);
	else if (kind == SPOOL_FUNCTION)
		read_function(frames, data, size);
	else if (kind == SPOOL_FRAME)
		read_frame(frames, data, size);
	else if (kind == SPOOL_SYMBOL)
		read_symbol(frames, data, size);
	else if (kind == SPOOL_LINE)
		read_line(frames, data, size);
	else if (kind == SPOOL_INLINED)
		read_inlined(frames, data, size);
}

const struct stored_frame *store_frames__at(const struct store_frames *frames, uint32_t number)
{
	static const struct stored_frame unknown;

	number &= ~SPOOL_FRAME_ENTRY;
	return number && number < frames->frame_capacity ? &frames->frames[number] : &unknown;
}

const struct stored_module *store_frames__module(const struct store_frames *frames,
						 const struct stored_frame *frame)
{
	uint32_t number = frame->fact.module;

	return number && number < frames->module_capacity && frames->modules[number].path
		       ? &frames->modules[number]
		       : NULL;
}

const struct stored_function *store_frames__python(const struct store_frames *frames,
						   const struct stored_frame *frame)
{
	uint32_t number = frame->fact.function;

	return number && number < frames->function_capacity && frames->functions[number].file
		       ? &frames->functions[number]
		       : NULL;
}

const char *store_frames__base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *store_frames__name(const struct store_frames *frames, const struct stored_frame *frame,
			       uint32_t level, bool *unresolved, char text[FRAME_NAME])
{
	const struct stored_module *module = store_frames__module(frames, frame);
	const struct stored_function *function = store_frames__python(frames, frame);
	const size_t size = FRAME_NAME;

	*unresolved = false;
	if (level < frame->inlined_count)
		return frame->inlined[level].name;
	if (function) {
		*unresolved = !function->name || !*function->name;
		if (*unresolved)
			snprintf(text, size, "[Python]");
		else if (frame->fact.line)
			snprintf(text, size, "%s:%d %s", store_frames__base_name(function->file),
				 frame->fact.line, function->name);
		else
			snprintf(text, size, "%s %s", store_frames__base_name(function->file),
				 function->name);
	} else if (frame->symbol) {
		return frame->symbol;
	} else {
		*unresolved = true;
		snprintf(text, size, "%s%s0x%llx",
			 module ? store_frames__base_name(module->path) : "", module ? "+" : "",
			 (unsigned long long)frame->fact.address);
	}
	return text;
}

const char *store_frames__source(const struct stored_frame *frame, uint32_t level, uint32_t *line)
{
	*line = level ? frame->inlined[level - 1].line : frame->line;
	return level ? frame->inlined[level - 1].source : frame->source;
}

static void free_inlined(struct stored_frame *frame)
{
	for (uint32_t level = 0; level < frame->inlined_count; level++) {
		free(frame->inlined[level].name);
		free(frame->inlined[level].source);
	}
	free(frame->inlined);
}

void store_frames__free(struct store_frames *frames)
{
	for (uint32_t i = 0; i < frames->module_capacity; i++)
		free(frames->modules[i].path);
	for (uint32_t i = 0; i < frames->function_capacity; i++) {
		free(frames->functions[i].file);
		free(frames->functions[i].name);
	}
	for (uint32_t i = 0; i < frames->frame_capacity; i++) {
		free(frames->frames[i].symbol);
		free(frames->frames[i].source);
		free_inlined(&frames->frames[i]);
	}
	free(frames->modules);
	free(frames->functions);
	free(frames->frames);
}
