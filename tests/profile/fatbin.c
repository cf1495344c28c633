// SPDX-License-Identifier: BSD-2-Clause
// usage: fatbin OUT [ARCHITECTURE:plain|lz4|zstd|ptx:FILE]...: the section .nv_fatbin with these
// images in two containers, as nvcc 13.0 was seen to write it.
#include <lz4.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define MAX_BYTES (1 << 20)

struct image {
	uint16_t kind, version;
	uint32_t head;
	uint64_t size;
	uint32_t packed, options;
	uint16_t minor, major;
	uint32_t architecture, name, name_size;
	uint64_t flags, reserved, unpacked;
	char text[8];
};

static uint8_t out[8 * MAX_BYTES];

/* 16 bytes of head and the image; how many. */
static size_t put(uint8_t *to, uint32_t architecture, const char *packing, const char *path)
{
	static char from[MAX_BYTES];
	FILE *file = fopen(path, "r");
	size_t size = file ? fread(from, 1, sizeof(from), file) : 0,
	       capacity = LZ4_COMPRESSBOUND(MAX_BYTES);
	struct image image = {.kind = strcmp(packing, "ptx") ? 2 : 1,
			      .version = 0x101,
			      .head = sizeof(image),
			      .minor = 8,
			      .major = 1,
			      .architecture = architecture,
			      .name = 64,
			      .name_size = 4,
			      .flags = 0x11,
			      .text = "k.cu"};
	char *bytes = (char *)to + 16 + sizeof(image);
	size_t packed = size;

	if (!size)
		exit(2);
	fclose(file);
	if (!strcmp(packing, "lz4")) {
		packed = LZ4_compress_default(from, bytes, size, capacity);
		image.flags |= 0x2000;
	} else if (!strcmp(packing, "zstd")) {
		packed = ZSTD_compress(bytes, capacity, from, size, 3);
		image.flags |= 0x8000;
	} else {
		memcpy(bytes, from, size);
	}
	image.size = (packed + 7) & ~7ul;
	if (image.flags & 0xa000) {
		image.packed = packed;
		image.unpacked = size;
	}
	memcpy(to + 16, &image, sizeof(image));
	return 16 + sizeof(image) + image.size;
}

int main(int argc, char **argv)
{
	uint8_t *at = out;
	FILE *file;

	for (int i = 2; i < argc; i++) {
		uint32_t architecture = atoi(strtok(argv[i], ":"));
		const char *packing = strtok(NULL, ":");
		/* The first container has the first image, the second the others. */
		static uint8_t *container;
		size_t size = put(i > 3 ? at - 16 : at, architecture, packing, strtok(NULL, ""));

		if (i <= 3) {
			container = at;
			memcpy(at, &(uint32_t){0xba55ed50}, 4);
			memcpy(at + 4, &(uint16_t){1}, 2);
			memcpy(at + 6, &(uint16_t){16}, 2);
			at += size;
		} else {
			at += size - 16;
		}
		memcpy(container + 8, &(uint64_t){at - container - 16}, 8);
	}
	file = fopen(argv[1], "w");
	return !file || fwrite(out, 1, at - out, file) != (size_t)(at - out) || fclose(file);
}
