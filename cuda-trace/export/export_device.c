// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples of whole GPUs as counters of the timeline export, in the rows of the GPU that they are
 * of, below its kernels.
 */
#include <inttypes.h>
#include "cuda-trace/report/report_device_samples.h"
#include "cuda-trace/export/export_timeline.h"

#define WHOLE_GPUS INT64_C(4000000) /* rows of a GPU on which the recording has no kernel */

struct device_rows {
	struct timeline *timeline;
	uint64_t labelled;
};

static void label(struct device_rows *rows, int64_t device)
{
	char text[64];

	if (rows->labelled >> device & 1)
		return;
	rows->labelled |= 1ull << device;
	snprintf(text, sizeof(text), "GPU %" PRId64 ", as a whole", device);
	timeline__begin_event(rows->timeline);
	fprintf(rows->timeline->out,
		"\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": %" PRId64
		", \"tid\": 0, \"args\": {",
		WHOLE_GPUS + device);
	timeline__put_string(rows->timeline, "name", text);
	fputs("}}", rows->timeline->out);
}

static bool put_row(void *context, const struct samples_row *row)
{
	struct device_rows *rows = context;
	const struct sampled_gpu *gpu = row->gpu;
	int64_t pid = WHOLE_GPUS + gpu->number;

	if (row->start < 0)
		return false;
	if (gpu->has_kernels)
		pid = timeline__device_pid(rows->timeline, gpu->global, gpu->device);
	else
		label(rows, gpu->number);
	json_object_object_foreach(row->columns, key, column)
	{
		struct sampled_value value;

		if (device_samples__value(column, &value))
			timeline__put_counter(rows->timeline, key, pid, row->start, value.mean);
	}
	return true;
}

int timeline__put_device_samples(struct timeline *timeline)
{
	struct device_rows rows = {.timeline = timeline};

	return timeline->file->samples ? device_samples__read(timeline->file, put_row, &rows) : 0;
}
