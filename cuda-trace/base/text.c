// SPDX-License-Identifier: BSD-2-Clause
/*
 * Escaping and number formats. Used by the writers; no state, any thread.
 */
#include "cuda-trace/base/text.h"

#include <stdbool.h>
#include <string.h>

/* Length of the UTF-8 sequence at `in` and its code point; 0 = invalid (also: overlong,
 * surrogate, beyond U+10FFFF). Never looks beyond a NUL. */
static int decode(const char *in, uint32_t *code)
{
	const unsigned char *byte = (const unsigned char *)in;
	uint32_t least;
	int length;

	if (byte[0] < 0x80) {
		*code = byte[0];
		return 1;
	}
	if ((byte[0] & 0xe0) == 0xc0) {
		length = 2;
		least = 0x80;
		*code = byte[0] & 0x1f;
	} else if ((byte[0] & 0xf0) == 0xe0) {
		length = 3;
		least = 0x800;
		*code = byte[0] & 0x0f;
	} else if ((byte[0] & 0xf8) == 0xf0) {
		length = 4;
		least = 0x10000;
		*code = byte[0] & 0x07;
	} else {
		return 0;
	}
	for (int i = 1; i < length; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (byte[i] & 0x3f);
	}
	if (*code < least || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return length;
}

bool text__is_utf8(const char *in, size_t size)
{
	const char *end = in + size;

	while (in < end) {
		uint32_t code;
		int length = decode(in, &code);

		if (!length || length > end - in)
			return false;
		in += length;
	}
	return true;
}

/* C0, DEL, C1, line separators, and the marks that reorder or hide what follows them. */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
	       (code >= 0xe0000 && code <= 0xe0fff);
}

static size_t put_escaped(char *out, size_t size, const char *in, int length)
{
	size_t used = 0;

	for (int i = 0; i < length && used + 5 <= size; i++)
		used += snprintf(out + used, size - used, "\\x%02x", (unsigned char)in[i]);
	return used;
}

const char *text__show(char *out, size_t size, const char *in, size_t columns)
{
	static const char mark[] = "…";
	size_t used = 0, shown = 0, cut = 0;

	while (*in) {
		uint32_t code = 0;
		int length = decode(in, &code);
		bool plain = length && !is_control(code);
		size_t bytes = plain ? (size_t)length : 4 * (size_t)(length ? length : 1);
		size_t width = plain ? 1 : bytes;

		if (used + bytes + sizeof(mark) > size || (columns && shown + width > columns)) {
			memcpy(out + cut, mark, sizeof(mark));
			return out;
		}
		if (plain)
			memcpy(out + used, in, length);
		else
			put_escaped(out + used, size - used, in, length ? length : 1);
		used += bytes;
		shown += width;
		in += length ? length : 1;
		/* Where the mark would go: one column before the edge. */
		if (!columns || shown < columns) {
			cut = used;
		}
	}
	out[used] = 0;
	return out;
}

static void escape(FILE *file, uint32_t code, bool plain)
{
	static const char letters[] = "\bb\ff\nn\rr\tt";

	for (const char *letter = letters; plain && *letter; letter += 2)
		if (code == (uint32_t)*letter) {
			fprintf(file, "\\%c", letter[1]);
			return;
		}
	if (code < 0x10000)
		fprintf(file, "\\u%04x", code);
	else
		fprintf(file, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
			0xdc00 + ((code - 0x10000) & 0x3ff));
}

static void write_json(FILE *file, const char *in, bool plain)
{
	putc_unlocked('"', file);
	while (*in) {
		const char *start = in;
		uint32_t code = 0;
		int length;

		/* Most text is plain ASCII: write it in one go. */
		while ((unsigned char)*in >= 0x20 && (unsigned char)*in < 0x7f && *in != '"' &&
		       *in != '\\' && !(plain && *in == '/'))
			in++;
		if (in != start)
			fwrite_unlocked(start, 1, in - start, file);
		if (!*in)
			break;
		length = decode(in, &code);
		if (*in == '"' || *in == '\\' || *in == '/')
			fprintf(file, "\\%c", *in);
		else if (!length)
			fprintf(file, "\\\\x%02x", (unsigned char)*in);
		else if (is_control(code) && (!plain || code < 0x20))
			escape(file, code, plain);
		else
			fwrite_unlocked(in, 1, length, file);
		in += length ? length : 1;
	}
	putc_unlocked('"', file);
}

void text__write_json(FILE *file, const char *in)
{
	write_json(file, in, false);
}

void text__write_json_plain(FILE *file, const char *in)
{
	write_json(file, in, true);
}

const char *text__ns(char out[16], uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double number = (double)ns / units[i].ns;

		/* 999.95 us would be shown as 1000.0 us. */
		if (number < 0.99995)
			continue;
		snprintf(out, 16, "%.*f %s",
			 number < 9.9995   ? 3
			 : number < 99.995 ? 2
			 : number < 999.95 ? 1
					   : 0,
			 number, units[i].unit);
		return out;
	}
	snprintf(out, 16, "%u ns", (unsigned int)ns);
	return out;
}

const char *text__count(char out[32], uint64_t n)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *to = out;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return out;
}
