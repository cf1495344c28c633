// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat`: in which windows it collected, where that was not all the time.
 */
#include "cuda-trace/base/text.h"
#include "cuda-trace/stat/stat_sections.h"

static const char *key_of(const struct windows *windows)
{
	switch (windows->by) {
	case WINDOWS_RANGE:
		return "range";
	case WINDOWS_STEPS:
		return "steps";
	case WINDOWS_PROFILER:
		return "profiler_api";
	default:
		return NULL;
	}
}

static void say(struct sheet *sheet, const struct windows *windows,
		const struct collection_counts *counts)
{
	char count[32], shown[256], what[320], length[16];

	if (windows->by == WINDOWS_PROFILER)
		snprintf(what, sizeof(what), "between cudaProfilerStart() and cudaProfilerStop()");
	else
		snprintf(what, sizeof(what), "%s the NVTX range '%s'",
			 windows->by == WINDOWS_RANGE ? "in" : "by steps of",
			 text__show(shown, sizeof(shown), windows->name, 60));
	sheet__say(sheet, "Collected only %s: %s window%s, %s", what,
		   text__count(count, counts->windows), counts->windows == 1 ? "" : "s",
		   text__ns(length, counts->window_ns));
	if (counts->open)
		sheet__say(sheet, ", %s open to the end", text__count(count, counts->open));
	sheet__say(sheet, "\n");
	if (counts->placed)
		sheet__say(sheet, " %s GPU records without their calls: placed by GPU time\n",
			   text__count(count, counts->placed));
}

/* When the windows were is not in the recording. */
static void put_recorded(struct sheet *sheet, const char *options)
{
	char shown[600];

	sheet__open(sheet, "collected", '{');
	sheet__put(sheet, "options", cell_text(options));
	sheet__say(sheet,
		   "Recorded only with %s: shares of time include the time between windows\n",
		   text__show(shown, sizeof(shown), options, 140));
	sheet__close(sheet);
}

void stat_sections__windows(struct sheet *sheet, const struct stat_report *report)
{
	const struct windows *windows = report->windows;
	const struct collection_counts *counts = report->collected;

	if (report->recorded_windows) {
		put_recorded(sheet, report->recorded_windows);
		return;
	}
	if (!windows) {
		sheet__put(sheet, "collected", cell_none);
		return;
	}
	sheet__open(sheet, "collected", '{');
	sheet__put(sheet, "by", cell_text(key_of(windows)));
	sheet__put(sheet, "range",
		   cell_if(windows->by != WINDOWS_PROFILER, cell_text(windows->name)));
	sheet__put(sheet, "domain",
		   cell_if(windows->by != WINDOWS_PROFILER && !windows->any_domain,
			   cell_text(windows->domain)));
	sheet__put(sheet, "skip_steps", cell_number(windows->skip));
	sheet__put(sheet, "steps", cell_if(windows->most, cell_number(windows->most)));
	sheet__put(sheet, "windows", cell_number(counts->windows));
	sheet__put(sheet, "window_ns", cell_number(counts->window_ns));
	sheet__put(sheet, "open", cell_number(counts->open));
	sheet__put(sheet, "processes", cell_number(counts->processes));
	sheet__put(sheet, "placed_by_gpu_time", cell_number(counts->placed));
	if (!sheet->json)
		say(sheet, windows, counts);
	sheet__close(sheet);
}
