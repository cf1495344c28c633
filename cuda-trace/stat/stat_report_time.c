// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat`: where the time went, as text and as JSON. All shares are of the same: the window, once
 * for each GPU.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/stat/stat_advice.h"
#include "cuda-trace/stat/stat_report.h"

static void put_part(FILE *file, const char *what, uint64_t ns, uint64_t whole)
{
	char time[16];

	fprintf(file, " %-44s %8s %5.1f%%\n", what, text__ns(time, ns),
		whole ? 100.0 * ns / whole : 0);
}

static void put_gpus(FILE *file, const struct stat_time_sums *time)
{
	for (uint32_t i = 0; time->gpu_count > 1 && i < time->gpu_count; i++) {
		const struct stat_gpu *gpu = &time->gpus[i];
		char what[64], uuid[48] = "";

		if (gpu->known)
			stat_objects__uuid(uuid, "GPU", gpu->uuid);
		snprintf(what, sizeof(what), "  on GPU %u%s%.12s", gpu->device,
			 gpu->known ? ", " : "", uuid);
		put_part(file, what, gpu->busy_ns, time->whole_ns);
	}
}

static void put_late(FILE *file, const struct stat_time_sums *time)
{
	char count[32], gpu[16], host[16];

	if (time->late_events)
		fprintf(file,
			" %s events came too late to be placed: %s of kernels and copies, %s of "
			"launches and waits\n",
			text__count(count, time->late_events), text__ns(gpu, time->late_gpu_ns),
			text__ns(host, time->late_host_ns));
	if (time->killed)
		fprintf(file,
			" the rest is not known: %s process%s killed, and took the records of "
			"their "
			"last kernels with them\n",
			text__count(count, time->killed), time->killed == 1 ? " was" : "es were");
	if (time->left_out)
		fprintf(file,
			" launches and waits of %s process%s more are not in it: too many at a "
			"time\n",
			text__count(count, time->left_out), time->left_out == 1 ? "" : "es");
}

void stat_report__text_time(FILE *file, const struct stat_table *table)
{
	const struct stat_time_sums *time = &table->time;
	char lines[STAT_MAX_ADVICE][256], window[16], gpus[32] = "";
	int count = stat_advice__lines(table, lines);

	if (!time->window_ns)
		return;
	if (time->gpu_count > 1)
		snprintf(gpus, sizeof(gpus), ", of each of %u GPUs", time->gpu_count);
	fprintf(file, "\nWhere the time went (%s from the first event to the last%s)\n",
		text__ns(window, time->window_ns), gpus);
	put_part(file, "GPU busy", time->busy_ns, time->whole_ns);
	put_gpus(file, time);
	put_part(file, "  with kernels", time->kernel_ns, time->whole_ns);
	put_part(file, "  with copies", time->copy_ns, time->whole_ns);
	put_part(file, "  with both at once", stat_advice__overlap(time), time->whole_ns);
	if (!time->killed) {
		put_part(file, "GPU idle", stat_advice__idle(time), time->whole_ns);
		put_part(file, "  while the host was in launch calls", time->host_bound_ns,
			 time->whole_ns);
		put_part(file, "  while the host waited for the GPU", time->host_wait_ns,
			 time->whole_ns);
	}
	put_late(file, time);
	for (int i = 0; i < count; i++)
		fprintf(file, "%s%s\n", i ? "" : "\n", lines[i]);
}

static void put_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static struct json_object *json_gpu(const struct stat_gpu *gpu)
{
	struct json_object *object = json_object_new_object();
	char uuid[48];

	put_number(object, "device", gpu->device);
	stat_objects__uuid(uuid, "GPU", gpu->uuid);
	json_object_object_add(object, "uuid", gpu->known ? json_object_new_string(uuid) : NULL);
	put_number(object, "busy_ns", gpu->busy_ns);
	put_number(object, "kernel_ns", gpu->kernel_ns);
	put_number(object, "copy_ns", gpu->copy_ns);
	return object;
}

struct json_object *stat_report__json_time(const struct stat_time_sums *time)
{
	struct json_object *object = json_object_new_object();
	struct json_object *gpus = json_object_new_array();

	put_number(object, "window_ns", time->window_ns);
	put_number(object, "gpus_window_ns", time->whole_ns);
	put_number(object, "gpu_busy_ns", time->busy_ns);
	put_number(object, "kernel_ns", time->kernel_ns);
	put_number(object, "copy_ns", time->copy_ns);
	put_number(object, "overlap_ns", stat_advice__overlap(time));
	put_number(object, "idle_ns", stat_advice__idle(time));
	put_number(object, "launch_bound_ns", time->host_bound_ns);
	put_number(object, "idle_wait_ns", time->host_wait_ns);
	put_number(object, "late_events", time->late_events);
	put_number(object, "late_gpu_ns", time->late_gpu_ns);
	put_number(object, "late_host_ns", time->late_host_ns);
	put_number(object, "left_out_processes", time->left_out);
	put_number(object, "killed_processes", time->killed);
	for (uint32_t i = 0; i < time->gpu_count; i++)
		json_object_array_add(gpus, json_gpu(&time->gpus[i]));
	json_object_object_add(object, "gpus", gpus);
	return object;
}
