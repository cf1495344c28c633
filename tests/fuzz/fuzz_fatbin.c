// SPDX-License-Identifier: BSD-2-Clause
// Images in a program's file, packed or not.
#include "cuda-trace/profile/code/fatbin.h"
#include "tests/fuzz/fuzz.h"

#define MAX_BYTES 65536

static bool on_image(void *context, const struct fatbin_image *image)
{
	uint8_t *to = malloc(MAX_BYTES);
	int *left = context;

	if (fatbin__unpack(fuzz__null() < 0 ? -1 : left[1], image, to, MAX_BYTES) > MAX_BYTES)
		abort();
	free(to);
	return --left[0] > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int state[2] = {64, fuzz__file(data, size)};
	uint64_t at, length;

	if (fatbin__section(state[1], &at, &length))
		fatbin__each(state[1], at, length, on_image, state);
	/* The bytes of the section alone. */
	state[0] = 64;
	fatbin__each(state[1], 0, size, on_image, state);
	return 0;
}
