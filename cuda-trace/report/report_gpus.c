// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/report/report_gpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/report/report_times.h"

#define MAX_DEVICES    65536 /* of all processes */
#define PID_OF(global) ((global) >> 24 & 0xffffff)

struct device {
	int64_t pid, number;
	int gpu;
};

struct report_gpus {
	struct report_gpu *list;
	int count;
	struct device *devices; /* by pid and number */
	size_t device_count;
	/* Most rows are of the process and device of the row before. */
	int64_t recent_pid, recent_device;
	int recent;
};

static int add_gpu(struct report_gpus *gpus, int64_t device, const char *uuid)
{
	struct report_gpu *gpu = &gpus->list[gpus->count];

	if (gpus->count == REPORT_MAX_GPUS)
		return -1;
	gpu->device = device;
	snprintf(gpu->uuid, sizeof(gpu->uuid), "%s", uuid);
	return gpus->count++;
}

static int gpu_with(struct report_gpus *gpus, int64_t device, const char *uuid)
{
	for (int i = 0; i < gpus->count; i++)
		if (!strcmp(gpus->list[i].uuid, uuid))
			return i;
	return add_gpu(gpus, device, uuid);
}

static int by_pid(const void *a, const void *b)
{
	const struct device *left = a, *right = b;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static void read_devices(struct report_gpus *gpus, const struct report_file *file)
{
	sqlite3_stmt *statement;

	if (!report_file__has(file, "TARGET_INFO_CUDA_DEVICE", "uuid") ||
	    sqlite3_prepare_v2(
		    file->db,
		    "SELECT pid, cudaId, uuid FROM TARGET_INFO_CUDA_DEVICE WHERE uuid IS "
		    "NOT NULL",
		    -1, &statement, NULL))
		return;
	while (sqlite3_step(statement) == SQLITE_ROW && gpus->device_count < MAX_DEVICES) {
		struct device *device = &gpus->devices[gpus->device_count];
		char uuid[sizeof(gpus->list->uuid)];

		snprintf(uuid, sizeof(uuid), "%s", (const char *)sqlite3_column_text(statement, 2));
		device->pid = sqlite3_column_int64(statement, 0);
		device->number = sqlite3_column_int64(statement, 1);
		device->gpu = *uuid ? gpu_with(gpus, device->number, uuid) : -1;
		gpus->device_count += device->gpu >= 0;
	}
	sqlite3_finalize(statement);
	qsort(gpus->devices, gpus->device_count, sizeof(*gpus->devices), by_pid);
}

struct report_gpus *report_gpus__read(const struct report_file *file)
{
	struct report_gpus *gpus = calloc(1, sizeof(*gpus));

	if (!gpus)
		return NULL;
	gpus->list = calloc(REPORT_MAX_GPUS, sizeof(*gpus->list));
	gpus->devices = calloc(MAX_DEVICES, sizeof(*gpus->devices));
	if (!gpus->list || !gpus->devices) {
		report_gpus__free(gpus);
		return NULL;
	}
	gpus->recent = -1;
	read_devices(gpus, file);
	return gpus;
}

/* As long as a process has not said which device that is, the one that others call so. */
static int find_by_number(struct report_gpus *gpus, int64_t device)
{
	for (int i = 0; i < gpus->count; i++)
		if (gpus->list[i].device == device)
			return i;
	return add_gpu(gpus, device, "");
}

int report_gpus__find(struct report_gpus *gpus, int64_t global_pid, int64_t device)
{
	const struct device key = {.pid = PID_OF(global_pid), .number = device}, *found;

	if (gpus->recent >= 0 && key.pid == gpus->recent_pid && device == gpus->recent_device)
		return gpus->recent;
	found = bsearch(&key, gpus->devices, gpus->device_count, sizeof(key), by_pid);
	gpus->recent = found ? found->gpu : find_by_number(gpus, device);
	gpus->recent_pid = key.pid;
	gpus->recent_device = device;
	return gpus->recent;
}

const struct report_gpu *report_gpus__get(const struct report_gpus *gpus, int gpu)
{
	return &gpus->list[gpu];
}

void report_gpus__free(struct report_gpus *gpus)
{
	if (!gpus)
		return;
	free(gpus->list);
	free(gpus->devices);
	free(gpus);
}

static int widen(const struct report_file *file, const char *rows, int64_t *first, int64_t *last)
{
	sqlite3_stmt *statement;
	char sql[512];

	snprintf(sql, sizeof(sql),
		 "SELECT min(start), max(end) FROM %s AND end >= start AND start >= %" PRId64
		 " AND end <= %" PRId64,
		 rows, -REPORT_TIMES_EDGE, REPORT_TIMES_EDGE);
	if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL))
		return report_file__complain(file);
	if (sqlite3_step(statement) == SQLITE_ROW &&
	    sqlite3_column_type(statement, 0) == SQLITE_INTEGER) {
		int64_t start = sqlite3_column_int64(statement, 0);
		int64_t end = sqlite3_column_int64(statement, 1);

		*first = start < *first ? start : *first;
		*last = end > *last ? end : *last;
	}
	return sqlite3_finalize(statement) ? report_file__complain(file) : 0;
}

/* Recordings made before 2026-11-25 have another name for the column; those of others have none. */
static const char *launches_of(const struct report_file *file)
{
	static const char table[] = "CUPTI_ACTIVITY_KIND_RUNTIME";

	if (report_file__has(file, table, "launchName"))
		return "CUPTI_ACTIVITY_KIND_RUNTIME WHERE launchName IS NOT NULL";
	if (report_file__has(file, table, "kernelName"))
		return "CUPTI_ACTIVITY_KIND_RUNTIME WHERE kernelName IS NOT NULL";
	if (report_file__has(file, table, "nameId"))
		return "CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId IN (SELECT id FROM StringIds "
		       "WHERE "
		       "value LIKE '%LaunchKernel%' OR value LIKE '%GraphLaunch%' OR value LIKE "
		       "'%LaunchCooperative%')";
	return NULL;
}

int report_gpus__widen(const struct report_file *file, int64_t *first, int64_t *last)
{
	const char *launches = launches_of(file);
	int err = launches ? widen(file, launches, first, last) : 0;

	/* A stream that waits for an event holds up no thread of the host. */
	if (!err && report_file__has(file, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "syncType"))
		err = widen(file, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION WHERE syncType IS NOT 2",
			    first, last);
	return err;
}

void report_gpus__parse_uuid(uint8_t uuid[16], const char *text)
{
	int digits = 0;

	for (const char *at = strncmp(text, "GPU-", 4) ? text : text + 4; *at && digits < 32;
	     at++) {
		uint8_t value = *at >= 'a' ? *at - 'a' + 10 : *at - '0';

		if (*at == '-')
			continue;
		uuid[digits / 2] |= (value & 15) << (digits % 2 ? 0 : 4);
		digits++;
	}
}
