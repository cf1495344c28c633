// SPDX-License-Identifier: BSD-2-Clause
// usage: fuzz_fatbin PROGRAM TIMES: reads the images of a program that is damaged anew each time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cuda-trace/profile/code/fatbin.h"

#define CAPACITY 65536

static uint32_t seed = 1;
static unsigned long images, bytes;
static int fd;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return below ? (seed >> 8) % below : 0;
}

static bool check(void *context, const struct fatbin_image *image)
{
	uint8_t *to = malloc(CAPACITY);
	size_t wanted = draw(2) ? CAPACITY : draw(image->size < CAPACITY ? image->size : CAPACITY);
	size_t came = fatbin__unpack(fd, image, to, wanted);

	if (came > wanted || came > image->size)
		abort();
	for (size_t i = 0; i < came; i++)
		bytes += to[i] != 0;
	images++;
	free(to);
	return draw(100) != 0;
}

int main(int argc, char **argv)
{
	static uint8_t whole[1 << 20];
	FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
	size_t size = file ? fread(whole, 1, sizeof(whole), file) : 0;
	uint64_t first, length, at, left;

	if (!size)
		return 2;
	fclose(file);
	fd = memfd_create("program", 0);
	if (write(fd, whole, size) != (ssize_t)size || !fatbin__section(fd, &first, &length))
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++) {
		uint64_t places[6];
		uint32_t count = draw(6);

		for (uint32_t n = 0; n < count; n++) {
			uint32_t where = draw(8);

			/* Most in the images, some in the headers of the file and of its sections.
			 */
			places[n] = where == 0	 ? draw(64)
				    : where == 1 ? size - 1 - draw(41 * 64)
						 : first + draw(length);
			pwrite(fd, &(uint8_t){draw(256)}, 1, places[n]);
		}
		if (!draw(16) && ftruncate(fd, draw(size)))
			return 2;
		if (fatbin__section(fd, &at, &left))
			fatbin__each(fd, at, left, check, NULL);
		if (pwrite(fd, whole, size, 0) != (ssize_t)size)
			return 2;
	}
	printf("%lu images, %lu bytes\n", images, bytes);
	return !images || !bytes;
}
