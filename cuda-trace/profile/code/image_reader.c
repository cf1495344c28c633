// SPDX-License-Identifier: BSD-2-Clause
/*
 * Texts and code are sent as offsets in the image, which the tool has, too: an answer is small, and
 * a wrong one names other bytes of the same image.
 */
#include "cuda-trace/profile/code/image_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/foreign/foreign_job.h"

#define MAX_MS	     2000 /* of an image */
#define MAX_ANSWER   (32u << 20)
#define LONGEST_TEXT 65536

/* A line of a chain. Offset 0 is the image's header: there is no such text. */
struct sent_line {
	uint32_t place, line;
	uint32_t path, folder, function;
};

struct sent_code {
	uint32_t at, size; /* 0 = none */
	uint8_t ident[16];
	uint32_t version, flags;
};

struct codes_job {
	const struct image_reader *reader;
	const char *const *functions;
	uint32_t count;
};

/* ---- in a process without rights ---- */

/* 0: it is a constant, or there is none. */
static uint32_t offset_of(const struct image_reader *reader, const void *at)
{
	uintptr_t offset = (uintptr_t)at - (uintptr_t)reader->image;

	return at && offset < reader->size ? offset : 0;
}

static void send_chain(const struct image_reader *reader, uint32_t place,
		       const struct pc_line *chain, size_t depth, struct foreign_output *output)
{
	for (size_t i = 0; i < depth; i++) {
		struct sent_line sent = {
			.place = place,
			.line = chain[i].line,
			.path = offset_of(reader, chain[i].path),
			.folder = offset_of(reader, chain[i].folder),
			.function = offset_of(reader, chain[i].function),
		};

		foreign_output__put(output, &sent, sizeof(sent));
	}
}

int image_reader__send_lines(int fd, uint64_t size, const void *argument,
			     struct foreign_output *output)
{
	const struct image_reader_lines_job *job = argument;
	const struct image_reader *reader = job->reader;
	struct pc_lines *lines = pc_lines__open(reader->image, reader->size);
	struct pc_line chain[PC_LINES_DEEPEST];

	for (uint32_t i = 0; lines && i < job->count; i++) {
		const struct image_place *place = &job->places[i];
		size_t depth = pc_lines__at(lines, place->function, place->offset, chain);

		if (!foreign_output__fits(output, sizeof(struct sent_line) * depth))
			break;
		send_chain(reader, i, chain, depth, output);
	}
	pc_lines__free(lines);
	(void)fd;
	(void)size;
	return 0;
}

static int send_codes(int fd, uint64_t size, const void *argument, struct foreign_output *output)
{
	const struct codes_job *job = argument;
	const struct image_reader *reader = job->reader;

	for (uint32_t i = 0; i < job->count; i++) {
		struct sent_code sent = {0};
		struct cubin_code code;

		if (cubin__code(reader->image, reader->size, job->functions[i], &code)) {
			sent.at = offset_of(reader, code.bytes);
			sent.size = code.size;
			sent.version = code.version;
			sent.flags = code.flags;
			memcpy(sent.ident, code.ident, sizeof(sent.ident));
		}
		foreign_output__put(output, &sent, sizeof(sent));
	}
	(void)fd;
	(void)size;
	return 0;
}

/* ---- the tool ---- */

static uint32_t time_left(const struct image_reader *reader)
{
	uint64_t now = monotonic__ms(), left = now < reader->until_ms ? reader->until_ms - now : 0;

	return left < MAX_MS ? left : MAX_MS;
}

static int run(foreign_job job, const void *argument, const struct image_reader *reader,
	       size_t most, struct foreign_answer *answer)
{
	uint32_t ms = time_left(reader);

	if (!ms)
		return -ETIMEDOUT;
	if (reader->size > UINT32_MAX)
		return -EFBIG;
	return foreign_job__run_in_memory(job, argument, ms, most, answer);
}

/* A text of the image that ends in it; else `otherwise`. */
static const char *text_at(const struct image_reader *reader, uint32_t at, const char *otherwise)
{
	size_t left;

	if (!at || at >= reader->size)
		return otherwise;
	left = reader->size - at;
	return memchr(reader->image + at, '\0', left < LONGEST_TEXT ? left : LONGEST_TEXT)
		       ? (const char *)reader->image + at
		       : otherwise;
}

static struct pc_line line_of(const struct image_reader *reader, const struct sent_line *sent)
{
	const char *path = text_at(reader, sent->path, "?"), *slash = strrchr(path, '/');

	return (struct pc_line){
		.file = slash ? slash + 1 : path,
		.path = path,
		.folder = text_at(reader, sent->folder, ""),
		.function = text_at(reader, sent->function, NULL),
		.line = sent->line,
	};
}

void image_reader__read_lines(const struct image_reader_lines_job *job, const uint8_t *answer,
			      size_t answer_size,
			      void (*found)(void *context, uint32_t place,
					    const struct pc_line *chain, size_t depth),
			      void *context)
{
	struct pc_line chain[PC_LINES_DEEPEST];
	uint32_t place = 0;
	size_t depth = 0;

	for (size_t at = 0; answer_size - at >= sizeof(struct sent_line);
	     at += sizeof(struct sent_line)) {
		struct sent_line sent;

		memcpy(&sent, answer + at, sizeof(sent));
		if (sent.place >= job->count || (depth && sent.place < place))
			break;
		if (depth && sent.place != place) {
			found(context, place, chain, depth);
			depth = 0;
		}
		place = sent.place;
		if (depth < PC_LINES_DEEPEST)
			chain[depth++] = line_of(job->reader, &sent);
	}
	if (depth)
		found(context, place, chain, depth);
}

int image_reader__lines(const struct image_reader *reader, const struct image_place *places,
			uint32_t count,
			void (*found)(void *context, uint32_t place, const struct pc_line *chain,
				      size_t depth),
			void *context)
{
	const struct image_reader_lines_job job = {reader, places, count};
	struct foreign_answer answer;
	int err = run(image_reader__send_lines, &job, reader, MAX_ANSWER, &answer);

	if (err)
		return err;
	image_reader__read_lines(&job, answer.bytes, answer.size, found, context);
	free(answer.bytes);
	return 0;
}

static struct cubin_code code_of(const struct image_reader *reader, const struct sent_code *sent)
{
	struct cubin_code code = {.version = sent->version, .flags = sent->flags};

	if (!sent->size || sent->size > CUBIN_MAX_CODE || sent->at > reader->size ||
	    sent->size > reader->size - sent->at)
		return (struct cubin_code){0};
	code.bytes = reader->image + sent->at;
	code.size = sent->size;
	memcpy(code.ident, sent->ident, sizeof(code.ident));
	return code;
}

int image_reader__codes(const struct image_reader *reader, const char *const *functions,
			uint32_t count, struct cubin_code *codes)
{
	const struct codes_job job = {reader, functions, count};
	struct foreign_answer answer;
	struct sent_code sent;
	int err = run(send_codes, &job, reader, count * sizeof(sent), &answer);

	memset(codes, 0, count * sizeof(*codes));
	if (err)
		return err;
	for (uint32_t i = 0; i < count && answer.size / sizeof(sent) > i; i++) {
		memcpy(&sent, answer.bytes + i * sizeof(sent), sizeof(sent));
		codes[i] = code_of(reader, &sent);
	}
	free(answer.bytes);
	return 0;
}
