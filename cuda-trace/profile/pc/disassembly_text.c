// SPDX-License-Identifier: BSD-2-Clause
/*
 * As nvdisasm 12.4 was seen to print it:
 *
 *	.section	.text.f0,"ax",@progbits
 *	.L_x_0:
 *	        /[*]0740[*]/              @P0 BRA `(.L_x_0) ;
 *
 * Labels are numbered through the whole file; offsets are shown in their place.
 */
#include "cuda-trace/profile/pc/disassembly_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/intern.h"

#define MAX_TEXTS  (1u << 16)
#define MAX_BYTES  (16u << 20)
#define MAX_LINES  (1u << 18) /* of all functions */
#define MAX_LABELS (1u << 16)
#define LINE_BYTES 160
#define NO_OFFSET  UINT64_MAX

struct disassembly_text {
	struct interned *texts;
	uint32_t lines;
	uint64_t labels[MAX_LABELS]; /* where they are */
};

/* Where the reader is. */
struct reading {
	struct disassembly_text *kept;
	struct disassembled *const *to;
	uint32_t count;
	uint32_t function;   /* `count` = none of ours */
	uint32_t new_labels; /* that the next instruction is at, by their numbers */
	uint32_t pending[16];
};

struct disassembly_text *disassembly_text__new(void)
{
	struct disassembly_text *kept = calloc(1, sizeof(*kept));

	if (kept)
		kept->texts = intern__new(MAX_TEXTS, MAX_BYTES);
	if (kept && kept->texts)
		return kept;
	free(kept);
	return NULL;
}

void disassembly_text__free(struct disassembly_text *kept)
{
	if (!kept)
		return;
	intern__free(kept->texts);
	free(kept);
}

/* ".L_x_12" or ".L_12": its number, and how long it is; MAX_LABELS = it is none. */
static uint32_t label_at(const char *text, size_t *length)
{
	const char *digits = text + 3;
	char *end;
	unsigned long number;

	if (strncmp(text, ".L_", 3))
		return MAX_LABELS;
	digits += strncmp(digits, "x_", 2) ? 0 : 2;
	if (!isdigit((unsigned char)*digits))
		return MAX_LABELS;
	number = strtoul(digits, &end, 10);
	*length = end - text;
	return number < MAX_LABELS ? number : MAX_LABELS;
}

/* "f3" behind ".text.": 3; `count` = none of ours. */
static uint32_t function_at(const char *line, uint32_t count)
{
	const char *name = strstr(line, ".text.f");
	unsigned long number;
	char *end;

	if (!name || !isdigit((unsigned char)name[7]))
		return count;
	number = strtoul(name + 7, &end, 10);
	return *end == ',' && number < count ? number : count;
}

/* Behind the comment with its offset; NULL: it is no instruction. */
static char *instruction_at(char *line, uint64_t *offset)
{
	char *at = line + strspn(line, " \t"), *end;

	if (strncmp(at, "/*", 2) || !isxdigit((unsigned char)at[2]))
		return NULL;
	*offset = strtoull(at + 2, &end, 16);
	return strncmp(end, "*/", 2) ? NULL : end + 2;
}

static bool append(char *to, size_t *at, const char *what, size_t length)
{
	if (length >= LINE_BYTES - *at)
		return false;
	memcpy(to + *at, what, length);
	*at += length;
	return true;
}

/* Blanks as one, and offsets in the place of labels. */
static void normalise(const struct disassembly_text *kept, const char *from, char to[LINE_BYTES])
{
	size_t at = 0, length;

	while (*from && strncmp(from, "/*", 2)) {
		uint32_t label = strncmp(from, "`(", 2) ? MAX_LABELS : label_at(from + 2, &length);
		char number[24];
		bool fits;

		if (isspace((unsigned char)*from)) {
			while (isspace((unsigned char)*from))
				from++;
			fits = append(to, &at, " ", at && *from);
		} else if (label < MAX_LABELS && kept->labels[label] != NO_OFFSET &&
			   from[2 + length] == ')') {
			int digits =
				snprintf(number, sizeof(number), "0x%" PRIx64, kept->labels[label]);

			from += 3 + length;
			fits = append(to, &at, number, digits);
		} else {
			fits = append(to, &at, from++, 1);
		}
		if (!fits)
			break;
	}
	while (at && (to[at - 1] == ';' || to[at - 1] == ' '))
		at--;
	to[at] = '\0';
}

static void keep_line(struct reading *reading, uint64_t offset, const char *text)
{
	struct disassembled *to = reading->to[reading->function];
	char normalised[LINE_BYTES];
	uint32_t number;
	size_t size;

	normalise(reading->kept, text, normalised);
	if (!*normalised || (to->count && to->lines[to->count - 1].offset >= offset) ||
	    reading->kept->lines == MAX_LINES)
		return;
	if (!array_grow__counted(to->lines, to->count))
		return;
	number = intern__number(reading->kept->texts, normalised, strlen(normalised) + 1, NULL);
	if (!number)
		return;
	reading->kept->lines++;
	to->lines[to->count++] = (struct disassembled_line){
		.offset = offset,
		.text = intern__at(reading->kept->texts, number, &size),
	};
}

static void find_labels(struct reading *reading, char *line)
{
	uint64_t offset;
	size_t length;
	uint32_t label = label_at(line, &length);

	if (label < MAX_LABELS && line[length] == ':') {
		if (reading->new_labels < sizeof(reading->pending) / sizeof(*reading->pending))
			reading->pending[reading->new_labels++] = label;
	} else if (reading->new_labels && instruction_at(line, &offset)) {
		while (reading->new_labels)
			reading->kept->labels[reading->pending[--reading->new_labels]] = offset;
	}
}

static void read_line(struct reading *reading, char *line)
{
	uint64_t offset;
	char *text;

	if (strstr(line, ".section")) {
		reading->function = function_at(line, reading->count);
		return;
	}
	text = reading->function < reading->count ? instruction_at(line, &offset) : NULL;
	if (text)
		keep_line(reading, offset, text);
}

static void each_line(struct reading *reading, char *text, size_t length,
		      void (*each)(struct reading *reading, char *line))
{
	for (char *line = text, *end; line < text + length; line = end + 1) {
		end = memchr(line, '\n', text + length - line);
		if (!end)
			end = text + length;
		*end = '\0';
		each(reading, line);
		if (end < text + length)
			*end = '\n';
	}
}

void disassembly_text__read(struct disassembly_text *kept, char *text, size_t length,
			    struct disassembled *const *to, uint32_t count)
{
	struct reading reading = {.kept = kept, .to = to, .count = count, .function = count};

	if (!length)
		return;
	for (uint32_t i = 0; i < MAX_LABELS; i++)
		kept->labels[i] = NO_OFFSET;
	each_line(&reading, text, length, find_labels);
	each_line(&reading, text, length, read_line);
}

void disassembly_text__complaint(const char *text, size_t length, char *said, size_t size)
{
	const char *found = memmem(text, length, "nvdisasm ", 9);
	size_t line = found ? strcspn(found, "\n") : 0;

	snprintf(said, size, "%.*s", (int)(line < size ? line : size - 1), found ? found : "");
}
