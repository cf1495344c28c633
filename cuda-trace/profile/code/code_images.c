// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. the address is a lie: the kernel reads what that process itself may read, or
 * nothing.
 * 2. the process is gone, or is another one by now: then there is no image, and CUPTI's line stays.
 * 3. too many, too large, or the same again and again because it can never be read to its end:
 * there is a bound to what is copied, whatever comes of it. 4. images without lines take the places
 * of those with: these have their own. 5. an image that no parser survives: image_reader.h.
 */
#include "cuda-trace/profile/code/code_images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/demangle.h"
#include "cuda-trace/base/intern.h"
#include "cuda-trace/profile/code/image_reader.h"

#define MAX_IMAGES	256
#define MAX_BYTES	(64ul << 20) /* in all */
#define MAX_PLAIN	128	     /* without lines, of processes; beside the others */
#define MAX_PLAIN_BYTES (16ul << 20)
#define MAX_INLINED	(MAX_IMAGES * 64)
#define MAX_PATHS	8192
#define MAX_PATH_BYTES	(4u << 20)

struct pc_images {
	struct image {
		uint64_t cubin;
		uint8_t *bytes; /* NULL = could not be read */
		size_t size;
		bool plain; /* without lines */
		enum code_lines_from from;
	} list[MAX_IMAGES + MAX_PLAIN];
	uint32_t count, plain_count;
	uint64_t bytes, plain_bytes;
	bool code;			      /* somebody wants what has no lines */
	struct pc_line *inlined[MAX_INLINED]; /* that instructions point to */
	uint32_t inlined_count;
	struct interned *paths;
};

struct pc_images *pc_images__new(bool code)
{
	struct pc_images *images = calloc(1, sizeof(*images));

	if (images)
		images->code = code;
	if (images)
		images->paths = intern__new(MAX_PATHS, MAX_PATH_BYTES);
	if (images && !images->paths) {
		free(images);
		return NULL;
	}
	return images;
}

static struct image *find(const struct pc_images *images, uint64_t cubin)
{
	for (uint32_t i = 0; i < images->count; i++)
		if (images->list[i].cubin == cubin)
			return (struct image *)&images->list[i];
	return NULL;
}

static bool can_keep(const struct pc_images *images, bool plain, size_t size)
{
	if (size > MAX_BYTES - images->bytes)
		return false;
	return !plain || size <= MAX_PLAIN_BYTES - images->plain_bytes;
}

/* The image's place, or a new one; NULL = there is none. */
static struct image *place_of(struct pc_images *images, uint64_t cubin, bool plain)
{
	struct image *image = find(images, cubin);

	if (image)
		return image;
	if (plain ? images->plain_count == MAX_PLAIN
		  : images->count - images->plain_count == MAX_IMAGES)
		return NULL;
	images->plain_count += plain;
	return &images->list[images->count++];
}

static uint8_t *copy_image(struct pc_images *images, uint32_t pid,
			   const struct cuda_pc_image *announced)
{
	uint8_t *copy = malloc(announced->size);
	struct iovec to = {copy, announced->size},
		     from = {(void *)(uintptr_t)announced->address, announced->size};
	ssize_t copied = copy ? process_vm_readv(pid, &to, 1, &from, 1, 0) : -1;

	if (copied > 0) {
		images->bytes += copied;
		images->plain_bytes += announced->plain ? copied : 0;
	}
	if (copied == (ssize_t)announced->size)
		return copy;
	free(copy);
	return NULL;
}

void pc_images__record(struct pc_images *images, const struct process *process,
		       const struct cuda_record *record)
{
	const struct cuda_pc_image *announced = (const void *)record;
	struct image *image;
	bool plain;

	if (record->kind != CUDA_RECORD_PC_IMAGE || !announced->size)
		return;
	plain = announced->plain;
	if ((plain && !images->code) || pc_images__has(images, announced->cubin) ||
	    !can_keep(images, plain, announced->size))
		return;
	image = place_of(images, announced->cubin, plain);
	if (!image)
		return;
	*image = (struct image){.cubin = announced->cubin,
				.size = announced->size,
				.plain = plain,
				.from = CODE_LINES_MODULE};
	image->bytes = copy_image(images, process->pid, announced);
}

bool pc_images__has(const struct pc_images *images, uint64_t cubin)
{
	const struct image *image = find(images, cubin);

	return image && image->bytes;
}

const uint8_t *pc_images__bytes(const struct pc_images *images, uint64_t cubin, size_t *size)
{
	const struct image *image = find(images, cubin);

	*size = image && image->bytes ? image->size : 0;
	return image ? image->bytes : NULL;
}

void pc_images__add(struct pc_images *images, uint64_t cubin, uint8_t *bytes, size_t size,
		    enum code_lines_from from)
{
	struct image *image = NULL;

	if (!pc_images__has(images, cubin) && can_keep(images, false, size))
		image = place_of(images, cubin, false);
	if (!image) {
		free(bytes);
		return;
	}
	images->bytes += size;
	*image = (struct image){
		.cubin = cubin,
		.bytes = bytes,
		.size = size,
		.from = from,
	};
}

static struct pc_line *keep(const struct pc_line *chain, size_t depth)
{
	struct pc_line *copy = calloc(depth, sizeof(*copy));

	return copy ? memcpy(copy, chain, depth * sizeof(*copy)) : NULL;
}

/* As the agent joins CUPTI's folder and file, so that one file has one name. */
static const char *path_of(struct pc_images *images, const struct pc_line *line)
{
	bool is_below = *line->folder && *line->path != '/';
	char path[1024];
	size_t size;
	uint32_t number;

	snprintf(path, sizeof(path), "%s%s%s", is_below ? line->folder : "", is_below ? "/" : "",
		 line->path);
	number = intern__number(images->paths, path, strlen(path) + 1, NULL);
	return number ? intern__at(images->paths, number, &size) : NULL;
}

/* Instructions of an image, and where it goes what its line table says of them. */
struct wanted_lines {
	struct pc_images *images;
	const struct code_table *table;
	const struct image *image;
	struct image_place *places;
	uint32_t *instructions; /* of each place */
	uint32_t count;
};

static void keep_lines(void *context, uint32_t which, const struct pc_line *chain, size_t depth)
{
	const struct wanted_lines *wanted = context;
	struct pc_images *images = wanted->images;
	struct code_place *place = code_table__place(wanted->table, wanted->instructions[which]);
	struct code_function *function = code_table__function(wanted->table, place->function);

	if (!place->file) {
		place->file = path_of(images, &chain[0]);
		place->line = place->file ? chain[0].line : 0;
		if (place->file && !function->lines_from)
			function->lines_from = wanted->image->from;
	}
	/* One line alone is said already. */
	if (depth < 2 || !place->file || images->inlined_count == MAX_INLINED)
		return;
	place->chain = images->inlined[images->inlined_count] = keep(chain, depth);
	place->depth = place->chain ? depth : 0;
	images->inlined_count++;
}

static void find_places(struct wanted_lines *wanted)
{
	wanted->count = 0;
	for (uint32_t i = 0; i < wanted->table->instruction_count; i++) {
		const struct code_place *place = code_table__place(wanted->table, i);
		const struct code_function *function =
			code_table__function(wanted->table, place->function);

		if (function->cubin != wanted->image->cubin || !function->symbol ||
		    (!place->file && wanted->image->from == CODE_LINES_MODULE))
			continue;
		wanted->places[wanted->count] =
			(struct image_place){function->symbol, place->offset};
		wanted->instructions[wanted->count++] = i;
	}
}

static void say_unread(uint32_t count)
{
	if (count)
		fprintf(stderr,
			"cuda-trace profile: line tables of %u modules were not read: they are "
			"damaged, or take too long\n",
			count);
}

static void read_lines(struct wanted_lines *wanted)
{
	struct pc_images *images = wanted->images;
	uint64_t until_ms = monotonic__ms() + IMAGE_READER_MS;
	uint32_t unread = 0;

	for (uint32_t i = 0; i < images->count; i++) {
		const struct image_reader reader = {images->list[i].bytes, images->list[i].size,
						    until_ms};

		wanted->image = &images->list[i];
		if (!wanted->image->bytes || wanted->image->plain)
			continue;
		find_places(wanted);
		if (wanted->count &&
		    image_reader__lines(&reader, wanted->places, wanted->count, keep_lines, wanted))
			unread++;
	}
	say_unread(unread);
}

void pc_images__resolve(struct pc_images *images, const struct code_table *table)
{
	struct wanted_lines wanted = {
		.images = images,
		.table = table,
		.places = calloc(table->instruction_count + 1, sizeof(*wanted.places)),
		.instructions = calloc(table->instruction_count + 1, sizeof(*wanted.instructions)),
	};

	for (uint32_t i = 0; i < table->instruction_count; i++) {
		const struct code_place *place = code_table__place(table, i);

		if (place->file)
			code_table__function(table, place->function)->lines_from =
				CODE_LINES_MODULE;
	}
	if (wanted.places && wanted.instructions)
		read_lines(&wanted);
	free(wanted.places);
	free(wanted.instructions);
}

const char *pc_images__inlined(const struct code_place *place, char *text, size_t size)
{
	size_t at = 0;

	*text = '\0';
	for (uint32_t i = 0; i < place->depth && at + 1 < size; i++) {
		const char *mangled = place->chain[i].function;
		char *pretty = mangled ? demangle(mangled) : NULL;

		if (mangled)
			at += snprintf(text + at, size - at, "%s%s", i ? " < " : "",
				       pretty ? pretty : mangled);
		free(pretty);
	}
	return text;
}

const char *pc_images__name(const struct code_place *place, const char *lead, char *text,
			    size_t size)
{
	char inlined[256];
	size_t length;

	code_place__name(place, lead, text, size);
	length = strlen(text);
	if (*pc_images__inlined(place, inlined, sizeof(inlined)))
		snprintf(text + length, size - length, "  in %s", inlined);
	return text;
}

void pc_images__free(struct pc_images *images)
{
	if (!images)
		return;
	for (uint32_t i = 0; i < images->count; i++)
		free(images->list[i].bytes);
	for (uint32_t i = 0; i < images->inlined_count; i++)
		free(images->inlined[i]);
	intern__free(images->paths);
	free(images);
}
