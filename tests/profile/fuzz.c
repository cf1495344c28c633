// SPDX-License-Identifier: BSD-2-Clause
// usage: fuzz IMAGE TIMES: reads the line table of an image, as it is at first, then damaged
// anew each time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/profile/code/code_lines.h"

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return below ? (seed >> 8) % below : 0;
}

int main(int argc, char **argv)
{
	static uint8_t whole[32 << 20];
	FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
	size_t size = file ? fread(whole, 1, sizeof(whole), file) : 0;
	unsigned long rows = 0;

	if (!size)
		return 2;
	fclose(file);
	for (int i = 0; i < atoi(argv[2]); i++) {
		size_t kept = !i || draw(8) ? size : draw(size);
		uint8_t *image = malloc(kept + 1);
		struct pc_line chain[PC_LINES_DEEPEST];
		struct pc_lines *lines;

		memcpy(image, whole, kept);
		for (uint32_t n = i ? draw(6) : 0; kept && n; n--)
			image[draw(kept)] = draw(256);
		lines = pc_lines__open(image, kept);
		for (uint64_t offset = 0; lines && offset < 0x110; offset += 16)
			rows += pc_lines__at(lines, "outer", offset, chain);
		pc_lines__free(lines);
		free(image);
	}
	printf("%lu\n", rows);
	return rows == 0;
}
