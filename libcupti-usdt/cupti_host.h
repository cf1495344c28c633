/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI's profiler host API (12.6 and later), as far as the agent and the tool call it: own
 * declarations, compared with a toolkit's headers by `make check-layout`. Each call takes one
 * structure that begins with its size; what a library does not know yet lies behind that.
 */
#ifndef LIBCUPTI_USDT_CUPTI_HOST_H
#define LIBCUPTI_USDT_CUPTI_HOST_H

#include <stddef.h>
#include <stdint.h>

/* CUptiResult: the values that we distinguish */
#define CUPTI_BAD_PARAMETER	  1
#define CUPTI_OUT_OF_MEMORY	  8
#define CUPTI_UNKNOWN_METRIC	  17
#define CUPTI_HARDWARE_BUSY	  26
#define CUPTI_NOT_SUPPORTED	  27
#define CUPTI_NO_RIGHTS		  35

#define CUPTI_TYPE_RANGE_PROFILER 0 /* CUpti_ProfilerType */
#define CUPTI_TYPE_PM_SAMPLING	  1

/* Up to its last field, as NVIDIA counts: padding at the end is not part of it. */
#define CUPTI_SIZE_OF(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

struct cupti_profiler_initialize {
	size_t size;
	void *private;
};

struct cupti_chip_name {
	size_t size;
	void *private;
	size_t device;
	const char *name;
};

struct cupti_host_initialize {
	size_t size;
	void *private;
	int type;
	const char *chip;
	const uint8_t *availability;
	void *host;
};

struct cupti_host_deinitialize {
	size_t size;
	void *private;
	void *host;
};

struct cupti_host_properties {
	size_t size;
	void *private;
	void *host;
	const char *metric;
	const char *description;
	const char *hardware_unit;
	const char *unit;
	int type;
};

struct cupti_host_base_metrics {
	size_t size;
	void *private;
	void *host;
	int type;
	const char **names;
	size_t count;
};

struct cupti_host_sub_metrics {
	size_t size;
	void *private;
	void *host;
	int type;
	const char *metric;
	size_t count;
	const char **names;
};

struct cupti_host_metrics {
	size_t size;
	void *private;
	void *host;
	const char **names;
	size_t count;
};

struct cupti_host_image_size {
	size_t size;
	void *private;
	void *host;
	size_t image_size;
};

struct cupti_host_image {
	size_t size;
	void *private;
	void *host;
	size_t image_size;
	uint8_t *image;
};

struct cupti_host_passes {
	size_t size;
	void *private;
	size_t image_size;
	uint8_t *image;
	size_t passes;
};

struct cupti_host_evaluate {
	size_t size;
	void *private;
	void *host;
	const uint8_t *data;
	size_t data_size;
	size_t range;
	const char **names;
	size_t count;
	double *values;
};

#endif
