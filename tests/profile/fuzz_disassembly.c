// SPDX-License-Identifier: BSD-2-Clause
// usage: fuzz IMAGE FUNCTION TEXT TIMES: takes the code out of an image and puts it into one of our
// own, and reads what a disassembler says of it; as they are at first, then damaged anew each time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/profile/code/cubin.h"
#include "cuda-trace/profile/pc/disassembly_text.h"

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return below ? (seed >> 8) % below : 0;
}

static size_t read_all(const char *path, uint8_t *to, size_t capacity)
{
	FILE *file = fopen(path, "r");
	size_t size = file ? fread(to, 1, capacity, file) : 0;

	if (file)
		fclose(file);
	return size;
}

static uint8_t *damaged(const uint8_t *whole, size_t *size, int turn)
{
	size_t kept = !turn || draw(8) ? *size : draw(*size);
	uint8_t *copy = malloc(kept + 1);

	memcpy(copy, whole, kept);
	for (uint32_t n = turn ? draw(6) : 0; kept && n; n--)
		copy[draw(kept)] = draw(256);
	copy[kept] = '\0';
	*size = kept;
	return copy;
}

/* What comes out of the new image is what went in. */
static unsigned int disassemble(const uint8_t *whole, size_t size, const char *function, int turn)
{
	uint8_t *image = damaged(whole, &size, turn), *made;
	struct cubin_code codes[3], again;
	size_t made_size;
	unsigned int found = 0;

	/* Its end is the end of the memory. */
	image = realloc(image, size ? size : 1);
	if (cubin__code(image, size, function, &codes[0])) {
		codes[1] = codes[2] = codes[0];
		made = cubin__make(codes, 3, &made_size);
		found = made && cubin__code(made, made_size, "f2", &again) &&
			again.size == codes[0].size &&
			!memcmp(again.bytes, codes[0].bytes, again.size) &&
			cubin__go_together(&again, &codes[0]);
		if (!found)
			abort();
		free(made);
	}
	free(image);
	return found;
}

static unsigned int read_text(const uint8_t *whole, size_t size, int turn)
{
	struct disassembled code[2] = {}, *const to[] = {&code[0], &code[1]};
	struct disassembly_text *kept = disassembly_text__new();
	char *text = (char *)damaged(whole, &size, turn), said[20];
	unsigned int lines;

	disassembly_text__read(kept, text, size, to, 2);
	disassembly_text__complaint(text, size, said, sizeof(said));
	lines = code[0].count + code[1].count;
	for (uint32_t i = 0; i < code[0].count; i++)
		if (disassembled__at(&code[0], code[0].lines[i].offset) != code[0].lines[i].text)
			abort();
	free(code[0].lines);
	free(code[1].lines);
	free(text);
	disassembly_text__free(kept);
	return lines;
}

const char *disassembled__at(const struct disassembled *code, uint64_t offset)
{
	for (uint32_t i = 0; i < code->count; i++)
		if (code->lines[i].offset == offset)
			return code->lines[i].text;
	return NULL;
}

int main(int argc, char **argv)
{
	static uint8_t image[1 << 20], text[1 << 20];
	unsigned long found = 0, lines = 0;
	size_t image_size, text_size;

	if (argc != 5)
		return 2;
	image_size = read_all(argv[1], image, sizeof(image));
	text_size = read_all(argv[3], text, sizeof(text) - 1);
	for (int i = 0; i < atoi(argv[4]); i++) {
		found += disassemble(image, image_size, argv[2], i);
		lines += read_text(text, text_size, i);
	}
	printf("%lu %lu\n", found, lines);
	return !found || !lines;
}
