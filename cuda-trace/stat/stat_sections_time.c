// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat`: where the time went. All shares are of the same: the window, once for each GPU.
 */
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/stat/stat_advice.h"
#include "cuda-trace/stat/stat_sections.h"

static void put_part(struct sheet *sheet, const char *what, const char *key, uint64_t ns,
		     uint64_t whole)
{
	char time[16];

	sheet__put(sheet, key, cell_number(ns));
	sheet__say(sheet, " %-44s %8s %5.1f%%\n", what, text__ns(time, ns),
		   whole ? 100.0 * ns / whole : 0);
}

static void put_gpus(struct sheet *sheet, const struct stat_time_sums *time)
{
	sheet__open(sheet, "gpus", '[');
	for (uint32_t i = 0; i < time->gpu_count && (sheet->json || time->gpu_count > 1); i++) {
		const struct stat_gpu *gpu = &time->gpus[i];
		char what[64], uuid[48] = "";

		if (gpu->known)
			stat_objects__uuid(uuid, "GPU", gpu->uuid);
		snprintf(what, sizeof(what), "  on GPU %u%s%.12s", gpu->device,
			 gpu->known ? ", " : "", uuid);
		sheet__open(sheet, NULL, '{');
		sheet__put(sheet, "device", cell_number(gpu->device));
		sheet__put(sheet, "uuid", cell_if(gpu->known, cell_text(uuid)));
		put_part(sheet, what, "busy_ns", gpu->busy_ns, time->whole_ns);
		sheet__put(sheet, "kernel_ns", cell_number(gpu->kernel_ns));
		sheet__put(sheet, "copy_ns", cell_number(gpu->copy_ns));
		sheet__put(sheet, "nobodys_ns", cell_number(gpu->nobodys_ns));
		sheet__close(sheet);
	}
	sheet__close(sheet);
}

bool stat_sections__idle_is_known(const struct stat_report *report)
{
	return !report->table->time.killed && !losses__unseen(report->lost);
}

static void put_late(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_time_sums *time = &report->table->time;
	char count[32], gpu[16], host[16];

	sheet__put(sheet, "late_events", cell_number(time->late_events));
	sheet__put(sheet, "late_gpu_ns", cell_number(time->late_gpu_ns));
	sheet__put(sheet, "late_host_ns", cell_number(time->late_host_ns));
	sheet__put(sheet, "left_out_processes", cell_number(time->left_out));
	sheet__put(sheet, "killed_processes", cell_number(time->killed));
	if (time->late_events)
		sheet__say(sheet,
			   " %s events arrived too late to be placed: %s of kernels and copies, %s "
			   "of launches and waits\n",
			   text__count(count, time->late_events), text__ns(gpu, time->late_gpu_ns),
			   text__ns(host, time->late_host_ns));
	if (time->killed)
		sheet__say(sheet,
			   " the rest is not known: %s process%s killed, and the records of their "
			   "last kernels are lost\n",
			   text__count(count, time->killed),
			   time->killed == 1 ? " was" : "es were");
	else if (losses__unseen(report->lost))
		sheet__say(sheet, " the rest is not known: work was not seen (lost, see below)\n");
	if (time->left_out)
		sheet__say(sheet,
			   " launches and waits of %s more process%s are not included: too many at "
			   "a time\n",
			   text__count(count, time->left_out), time->left_out == 1 ? "" : "es");
}

/* What the shares are of. */
static void say_whole(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_time_sums *time = &report->table->time;
	char window[16], count[32], gpus[32] = "", what[64] = "from the first event to the last";

	if (report->windows)
		snprintf(what, sizeof(what), "in %s window%s",
			 text__count(count, report->collected->windows),
			 report->collected->windows == 1 ? "" : "s");
	if (time->gpu_count > 1)
		snprintf(gpus, sizeof(gpus), ", of each of %u GPUs", time->gpu_count);
	sheet__say(sheet, "\nWhere the time went (%s %s%s)\n", text__ns(window, time->window_ns),
		   what, gpus);
}

static void put_time(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_time_sums *time = &report->table->time;
	uint64_t whole = time->whole_ns;

	say_whole(sheet, report);
	sheet__open(sheet, "time", '{');
	sheet__put(sheet, "window_ns", cell_number(time->window_ns));
	sheet__put(sheet, "gpus_window_ns", cell_number(whole));
	put_part(sheet, "GPU busy", "gpu_busy_ns", time->busy_ns, whole);
	if (!sheet->json)
		put_gpus(sheet, time);
	put_part(sheet, "  with kernels", "kernel_ns", time->kernel_ns, whole);
	put_part(sheet, "  with copies", "copy_ns", time->copy_ns, whole);
	put_part(sheet, "  with both at once", "overlap_ns", stat_advice__overlap(time), whole);
	if (stat_sections__idle_is_known(report) || sheet->json) {
		put_part(sheet, "GPU idle", "idle_ns", stat_advice__idle(time), whole);
		put_part(sheet, "  while the host was in launch calls", "launch_bound_ns",
			 time->host_bound_ns, whole);
		put_part(sheet, "  while the host waited for the GPU", "idle_wait_ns",
			 time->host_wait_ns, whole);
	}
	sheet__put(sheet, "idle_is_known", cell_bool(stat_sections__idle_is_known(report)));
	put_late(sheet, report);
	if (sheet->json)
		put_gpus(sheet, time);
	sheet__close(sheet);
}

void stat_sections__time(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_table *table = report->table;
	char lines[STAT_MAX_ADVICE][256];
	int count = stat_sections__idle_is_known(report) ? stat_advice__lines(table, lines) : 0;

	if (!sheet->json && !table->time.window_ns)
		return;
	if (table->sampled)
		sheet__put(sheet, "time", cell_none);
	else
		put_time(sheet, report);
	sheet__open(sheet, "advice", '[');
	for (int i = 0; i < count; i++) {
		sheet__put(sheet, NULL, cell_text(lines[i]));
		sheet__say(sheet, "%s%s\n", i ? "" : "\n", lines[i]);
	}
	sheet__close(sheet);
}
