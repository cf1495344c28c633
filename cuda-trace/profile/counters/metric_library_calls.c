// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/counters/metric_library_calls.h"

#include <dlfcn.h>
#include <stdlib.h>

bool metric_library_calls__find(struct library_calls *calls, void *library)
{
	bool all = true;

#define LIBRARY_CALL(field, type, function)                  \
	*(void **)&calls->field = dlsym(library, #function); \
	all &= calls->field != NULL;
	LIBRARY_CALLS(LIBRARY_CALL)
#undef LIBRARY_CALL
	return all;
}

uint8_t *metric_library_calls__image(const struct library_calls *calls, void *host,
				     const char **names, size_t count, size_t *size, size_t *passes)
{
	struct cupti_host_metrics add = {.size = CUPTI_SIZE_OF(cupti_host_metrics, count),
					 .host = host,
					 .names = names,
					 .count = count};
	struct cupti_host_image_size ask = {
		.size = CUPTI_SIZE_OF(cupti_host_image_size, image_size), .host = host};
	struct cupti_host_image image = {.size = CUPTI_SIZE_OF(cupti_host_image, image),
					 .host = host};
	struct cupti_host_passes pass = {.size = CUPTI_SIZE_OF(cupti_host_passes, passes)};

	/* After a refusal the host object is spoilt: any further call may crash. */
	if (calls->add(&add) || calls->image_size(&ask))
		return NULL;
	image.image_size = pass.image_size = ask.image_size;
	image.image = pass.image = calloc(1, ask.image_size + 1);
	if (!image.image || calls->image(&image) || calls->passes(&pass)) {
		free(image.image);
		return NULL;
	}
	*size = ask.image_size;
	*passes = pass.passes;
	return image.image;
}
