// SPDX-License-Identifier: BSD-2-Clause
// Line tables in the images of modules, and answers about them.
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/profile/code/image_reader.h"
#include "tests/fuzz/fuzz.h"

#define PLACES 17

static void found(void *context, uint32_t place, const struct pc_line *chain, size_t depth)
{
	if (place >= PLACES || !depth || depth > PC_LINES_DEEPEST || !chain[depth - 1].file)
		abort();
	(void)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct image_reader reader = {.image = data, .size = size};
	struct image_place places[PLACES];
	const struct image_reader_lines_job job = {&reader, places, PLACES};

	for (uint32_t i = 0; i < PLACES; i++)
		places[i] = (struct image_place){"outer", 16 * i};
	image_reader__send_lines(-1, 0, &job, foreign_output__to(fuzz__null(), SIZE_MAX));
	/* The answer of a process that an image has taken over. */
	image_reader__read_lines(&job, data, size, found, NULL);
	return 0;
}
