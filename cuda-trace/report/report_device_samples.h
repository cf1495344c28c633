/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `profile --device --json` wrote, read beside a recording: which of its lines are samples, of
 * which GPU of the recording, and when in its time. The file is the user's own, but may be
 * anything.
 */
#ifndef CUDA_TRACE_REPORT_REPORT_DEVICE_SAMPLES_H
#define CUDA_TRACE_REPORT_REPORT_DEVICE_SAMPLES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/report/report_file.h"

#define SAMPLES_GPUS 64

struct sampled_gpu {
	char uuid[48];
	int64_t number; /* as the samples number it, below SAMPLES_GPUS */
	bool has_kernels;
	int64_t global,
		device; /* if it has: the first process with kernels on it, and its number there */
};

struct samples_row {
	const struct sampled_gpu *gpu;
	size_t gpu_index;   /* below SAMPLES_GPUS, in the order of their first lines */
	int64_t start, end; /* ns of the recording; the start may lie before it */
	uint64_t samples;
	struct json_object *columns;
};

struct sampled_value {
	double mean, least, most; /* may be infinite: the file says what it likes */
};

/* Whether the row lies in the time that is wanted. */
typedef bool samples_take(void *context, const struct samples_row *row);

/* Every row of report --device's file. 0, or -errno, printed, where none was taken. */
int device_samples__read(const struct report_file *file, samples_take *take, void *context);
/* The value of a column of a row; false where nothing was measured. */
bool device_samples__value(struct json_object *column, struct sampled_value *value);

#endif
