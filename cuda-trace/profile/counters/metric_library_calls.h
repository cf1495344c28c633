/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI's profiler host functions as far as the metric library calls them: own declarations,
 * compared with a toolkit's headers by `make check-layout`.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_METRIC_LIBRARY_CALLS_H
#define CUDA_TRACE_PROFILE_COUNTERS_METRIC_LIBRARY_CALLS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIBRARY_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

struct library_initialize {
	size_t size;
	void *private;
};

struct library_chip {
	size_t size;
	void *private;
	size_t device;
	const char *name;
};

struct library_host {
	size_t size;
	void *private;
	int type; /* 0: range profiler */
	const char *chip;
	const uint8_t *availability;
	void *host;
};

struct library_base {
	size_t size;
	void *private;
	void *host;
	int type;
	const char **names;
	size_t count;
};

struct library_sub {
	size_t size;
	void *private;
	void *host;
	int type;
	const char *metric;
	size_t count;
	const char **names;
};

struct library_properties {
	size_t size;
	void *private;
	void *host;
	const char *metric, *description, *hardware_unit, *unit;
	int type;
};

struct library_add {
	size_t size;
	void *private;
	void *host;
	const char **names;
	size_t count;
};

struct library_image_size {
	size_t size;
	void *private;
	void *host;
	size_t image_size;
};

struct library_image {
	size_t size;
	void *private;
	void *host;
	size_t image_size;
	uint8_t *image;
};

struct library_passes {
	size_t size;
	void *private;
	size_t image_size;
	uint8_t *image;
	size_t passes;
};

/* X(field, structure, function) */
#define LIBRARY_CALLS(X)                                                        \
	X(host, library_host, cuptiProfilerHostInitialize)                      \
	X(base, library_base, cuptiProfilerHostGetBaseMetrics)                  \
	X(sub, library_sub, cuptiProfilerHostGetSubMetrics)                     \
	X(properties, library_properties, cuptiProfilerHostGetMetricProperties) \
	X(add, library_add, cuptiProfilerHostConfigAddMetrics)                  \
	X(image_size, library_image_size, cuptiProfilerHostGetConfigImageSize)  \
	X(image, library_image, cuptiProfilerHostGetConfigImage)                \
	X(passes, library_passes, cuptiProfilerHostGetNumOfPasses)

struct library_calls {
#define LIBRARY_CALL(field, type, function) int (*field)(struct type *);
	LIBRARY_CALLS(LIBRARY_CALL)
#undef LIBRARY_CALL
};

static inline bool metric_library_calls__find(struct library_calls *calls, void *library)
{
	bool all = true;

#define LIBRARY_CALL(field, type, function)                  \
	*(void **)&calls->field = dlsym(library, #function); \
	all &= calls->field != NULL;
	LIBRARY_CALLS(LIBRARY_CALL)
#undef LIBRARY_CALL
	return all;
}

#endif
