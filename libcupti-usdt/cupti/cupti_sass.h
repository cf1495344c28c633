/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcupti's SASS metrics (12.2 and later), as far as they are called: own declarations, compared
 * with a toolkit's headers by `make check-layout`. Each call takes one structure that begins with
 * its size.
 */
#ifndef LIBCUPTI_USDT_CUPTI_CUPTI_SASS_H
#define LIBCUPTI_USDT_CUPTI_CUPTI_SASS_H

#include <stddef.h>
#include <stdint.h>

#include "libcupti-usdt/cupti/cupti_range.h"

#define CUPTI_SASS_OF_GPU 0 /* CUpti_SassMetrics_OutputGranularity: one value for the whole GPU */

struct cupti_sass_metric {
	uint64_t id;
	const char *name;
	const char *description;
};

struct cupti_sass_properties {
	size_t size;
	void *private;
	const char *chip;
	const char *name;
	struct cupti_sass_metric metric;
};

struct cupti_sass_choice {
	uint64_t id;
	uint8_t granularity;
};

struct cupti_sass_config {
	size_t size;
	void *private;
	size_t count;
	struct cupti_sass_choice *choices;
	uint32_t device;
};

struct cupti_sass_unset {
	size_t size;
	void *private;
	uint32_t device;
};

struct cupti_sass_enable {
	size_t size;
	void *private;
	void *context;
	uint8_t lazy; /* a kernel is patched when it is launched, not all of them at once */
};

struct cupti_sass_disable {
	size_t size;
	void *private;
	void *context;
	size_t dropped;
};

struct cupti_sass_extent {
	size_t size;
	void *private;
	void *context;
	size_t records;
	size_t instances; /* values of a record */
};

struct cupti_sass_value {
	uint64_t id;
	uint64_t value;
};

struct cupti_sass_record {
	size_t size;
	void *private;
	uint32_t cubin;
	uint32_t function_index;
	const char *function;
	uint32_t offset;
	struct cupti_sass_value *values;
};

struct cupti_sass_flush {
	size_t size;
	void *private;
	void *context;
	size_t records;
	size_t instances;
	struct cupti_sass_record *data;
};

/* The size that CUPTI's header gives of the last one: its data lie behind it. */
#define CUPTI_SASS_FLUSH_SIZE CUPTI_SIZE_OF(cupti_sass_flush, instances)

/* X(name, its structure): all are needed, or there are no SASS metrics. */
#define CUPTI_SASS_FUNCTIONS(X)                            \
	X(SassMetricsGetProperties, cupti_sass_properties) \
	X(SassMetricsSetConfig, cupti_sass_config)         \
	X(SassMetricsUnsetConfig, cupti_sass_unset)        \
	X(SassMetricsEnable, cupti_sass_enable)            \
	X(SassMetricsDisable, cupti_sass_disable)          \
	X(SassMetricsGetDataProperties, cupti_sass_extent) \
	X(SassMetricsFlushData, cupti_sass_flush)          \
	X(ProfilerInitialize, cupti_profiler_initialize)   \
	X(DeviceGetChipName, cupti_chip_name)

struct cupti_sass {
#define CUPTI_SASS_POINTER(name, type) int (*name)(struct type *);
	CUPTI_SASS_FUNCTIONS(CUPTI_SASS_POINTER)
#undef CUPTI_SASS_POINTER
};

/* Takes the functions out of the libcupti in use; once, in InitializeInjection. */
void cupti_sass__bind(void *library);
/* NULL: this libcupti has no SASS metrics. */
const struct cupti_sass *cupti_sass__get(void);

#endif
