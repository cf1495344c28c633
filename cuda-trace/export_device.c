// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `profile --device --json` wrote, as counters in the rows of the GPU that they are of, below
 * its kernels. The file is the user's own, but may be anything.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/export_timeline.h"
#include "cuda-trace/text.h"

#define LINE_MAX_BYTES 65536
#define WHOLE_GPUS     4000000ll /* rows of a GPU on which the recording has no kernel */

struct device_rows {
	struct timeline *timeline;
	int64_t began; /* UTC ns of the recording's time 0 */
	uint64_t put, before, labelled;
};

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) : "";
}

static int64_t number_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_int64(value) : 0;
}

/* The rows of the first process that has the GPU: it may call it by another number. */
static int64_t pid_of(struct device_rows *rows, const char *uuid, int64_t device)
{
	static const char sql[] =
		"SELECT globalPid, deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE "
		"(globalPid / 16777216 % 16777216, deviceId) IN (SELECT pid, cudaId FROM "
		"TARGET_INFO_CUDA_DEVICE WHERE uuid = ?) ORDER BY 1, 2 LIMIT 1";
	int64_t pid = WHOLE_GPUS + device;
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(rows->timeline->file->db, sql, -1, &statement, NULL))
		return pid;
	sqlite3_bind_text(statement, 1, uuid, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) == SQLITE_ROW)
		pid = timeline__device_pid(rows->timeline, sqlite3_column_int64(statement, 0),
					   sqlite3_column_int64(statement, 1));
	sqlite3_finalize(statement);
	return pid;
}

static void label(struct device_rows *rows, int64_t pid, int64_t device)
{
	char text[64];

	if (pid < WHOLE_GPUS || pid >= WHOLE_GPUS + 64 || rows->labelled >> (pid - WHOLE_GPUS) & 1)
		return;
	rows->labelled |= 1ull << (pid - WHOLE_GPUS);
	snprintf(text, sizeof(text), "GPU %" PRId64 ", as a whole", device);
	timeline__begin_event(rows->timeline);
	fprintf(rows->timeline->out,
		"\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": %" PRId64
		", \"tid\": 0, \"args\": {",
		pid);
	timeline__put_string(rows->timeline, "name", text);
	fputs("}}", rows->timeline->out);
}

static void put_row(struct device_rows *rows, struct json_object *row)
{
	int64_t at = number_of(row, "utc_ns") - rows->began, device = number_of(row, "device");
	struct json_object *columns;
	int64_t pid;

	if (strcmp(text_of(row, "event"), "device") ||
	    !json_object_object_get_ex(row, "columns", &columns) ||
	    !json_object_is_type(columns, json_type_object) || device < 0 || device >= 64)
		return;
	if (at < 0) {
		rows->before++;
		return;
	}
	pid = pid_of(rows, text_of(row, "uuid"), device);
	label(rows, pid, device);
	json_object_object_foreach(columns, key, value)
	{
		struct json_object *mean;

		if (json_object_object_get_ex(value, "mean", &mean))
			timeline__put_counter(rows->timeline, key, pid, at,
					      json_object_get_double(mean));
	}
	rows->put++;
}

int timeline__put_device_samples(struct timeline *timeline)
{
	struct device_rows rows = {
		.timeline = timeline,
		.began = report_file__number(
			timeline->file, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", 0),
	};
	const char *path = timeline->file->samples;
	FILE *file = path ? fopen(path, "re") : NULL;
	char *line = malloc(LINE_MAX_BYTES), shown[400];

	while (file && line && fgets(line, LINE_MAX_BYTES, file)) {
		struct json_object *row = json_tokener_parse(line);

		if (json_object_is_type(row, json_type_object))
			put_row(&rows, row);
		json_object_put(row);
	}
	free(line);
	if (file)
		fclose(file);
	if (!path || rows.put)
		return 0;
	fprintf(stderr, "cuda-trace report: %s %s\n", text__show(shown, sizeof(shown), path, 80),
		!file	      ? "cannot be read"
		: rows.before ? "has only samples from before the recording"
			      : "has no lines of cuda-trace profile --device --json");
	return -EINVAL;
}
