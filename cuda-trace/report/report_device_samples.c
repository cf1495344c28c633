// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/report/report_device_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"

#define LINE_MAX_BYTES 65536

struct reading {
	const struct report_file *file;
	samples_take *take;
	void *context;
	int64_t began; /* UTC ns of the recording's time 0 */
	struct sampled_gpu gpus[SAMPLES_GPUS];
	size_t gpu_count;
	uint64_t taken, outside, senseless;
};

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value;
	const char *text = NULL;

	if (json_object_object_get_ex(object, key, &value))
		text = json_object_get_string(value);
	return text ? text : "";
}

static int64_t number_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_int64(value) : 0;
}

/* The first process that has the GPU may call it by another number than the samples do. */
static void find_kernels(const struct reading *reading, struct sampled_gpu *gpu)
{
	static const char sql[] =
		"SELECT globalPid, deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE "
		"(globalPid / 16777216 % 16777216, deviceId) IN (SELECT pid, cudaId FROM "
		"TARGET_INFO_CUDA_DEVICE WHERE uuid = ?) ORDER BY 1, 2 LIMIT 1";
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(reading->file->db, sql, -1, &statement, NULL))
		return;
	sqlite3_bind_text(statement, 1, gpu->uuid, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		gpu->has_kernels = true;
		gpu->global = sqlite3_column_int64(statement, 0);
		gpu->device = sqlite3_column_int64(statement, 1);
	}
	sqlite3_finalize(statement);
}

/* Once a GPU: to ask the recording for each of a million rows would read it a million times. */
static struct sampled_gpu *gpu_of(struct reading *reading, const char *uuid, int64_t number)
{
	struct sampled_gpu *gpu = reading->gpus;

	for (; gpu < reading->gpus + reading->gpu_count; gpu++)
		if (gpu->number == number && !strncmp(gpu->uuid, uuid, sizeof(gpu->uuid) - 1))
			return gpu;
	if (reading->gpu_count == SAMPLES_GPUS || number < 0 || number >= SAMPLES_GPUS)
		return NULL;
	reading->gpu_count++;
	gpu->number = number;
	snprintf(gpu->uuid, sizeof(gpu->uuid), "%s", uuid);
	find_kernels(reading, gpu);
	return gpu;
}

/* Differences of what a file claims may be more than a number can hold. */
static bool find_times(const struct reading *reading, struct json_object *object,
		       struct samples_row *row)
{
	int64_t length;

	return !__builtin_sub_overflow(number_of(object, "utc_ns"), reading->began, &row->start) &&
	       !__builtin_sub_overflow(number_of(object, "end_ns"), number_of(object, "time_ns"),
				       &length) &&
	       !__builtin_add_overflow(row->start, length > 0 ? length : 1, &row->end);
}

static void read_row(struct reading *reading, struct json_object *object)
{
	struct samples_row row = {.samples = number_of(object, "samples")};

	if (strcmp(text_of(object, "event"), "device"))
		return;
	row.gpu = gpu_of(reading, text_of(object, "uuid"), number_of(object, "device"));
	if (!json_object_object_get_ex(object, "columns", &row.columns) ||
	    !json_object_is_type(row.columns, json_type_object) || !row.gpu ||
	    !find_times(reading, object, &row)) {
		reading->senseless++;
		return;
	}
	row.gpu_index = row.gpu - reading->gpus;
	if (reading->take(reading->context, &row))
		reading->taken++;
	else
		reading->outside++;
}

static int read_lines(struct reading *reading, FILE *file)
{
	char *line = malloc(LINE_MAX_BYTES);

	if (!line)
		return -ENOMEM;
	while (fgets(line, LINE_MAX_BYTES, file)) {
		struct json_object *object = json_tokener_parse(line);

		if (json_object_is_type(object, json_type_object))
			read_row(reading, object);
		else
			reading->senseless++;
		json_object_put(object);
	}
	free(line);
	return ferror(file) ? -EIO : 0;
}

int device_samples__read(const struct report_file *file, samples_take *take, void *context)
{
	struct reading reading = {
		.file = file,
		.take = take,
		.context = context,
		.began = report_file__number(
			file, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", 0),
	};
	FILE *lines = fopen(file->samples, "re");
	int err = lines ? read_lines(&reading, lines) : -errno;
	char shown[400];

	if (lines)
		fclose(lines);
	text__show(shown, sizeof(shown), file->samples, 80);
	if (!err && reading.taken && reading.senseless)
		fprintf(stderr,
			"cuda-trace report: %s: %llu lines are malformed and were skipped\n", shown,
			(unsigned long long)reading.senseless);
	if (!err && reading.taken)
		return 0;
	fprintf(stderr, "cuda-trace report: %s %s\n", shown,
		err		  ? "cannot be read"
		: reading.outside ? "has no samples from the time of this recording: take them "
				    "while recording"
				  : "has no lines of cuda-trace profile --device --json");
	return err ? err : -EINVAL;
}

static bool get_number(struct json_object *column, const char *key, double *number)
{
	struct json_object *value;

	if (!json_object_object_get_ex(column, key, &value) ||
	    !(json_object_is_type(value, json_type_double) ||
	      json_object_is_type(value, json_type_int)))
		return false;
	*number = json_object_get_double(value);
	return true;
}

bool device_samples__value(struct json_object *column, struct sampled_value *value)
{
	/* What lost all of its samples says null. */
	if (!json_object_is_type(column, json_type_object) ||
	    !get_number(column, "mean", &value->mean))
		return false;
	if (!get_number(column, "min", &value->least))
		value->least = value->mean;
	if (!get_number(column, "max", &value->most))
		value->most = value->mean;
	return true;
}
