// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/cli/windows_section.h"

#include <stdio.h>
#include "cuda-trace/base/text.h"

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
		const struct collection_counts *counts, bool pc)
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
	if (pc && (counts->cut || !counts->bursts))
		sheet__say(sheet,
			   " %s sampling windows were in them only in part, and are left out "
			   "(shorter ones: --bursts)\n",
			   text__count(count, counts->cut));
}

void windows_section__put(struct sheet *sheet, const struct windows *windows,
			  const struct collection_counts *counts, bool pc)
{
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
	if (pc) {
		sheet__put(sheet, "bursts", cell_number(counts->bursts));
		sheet__put(sheet, "bursts_cut", cell_number(counts->cut));
	} else {
		sheet__put(sheet, "placed_by_gpu_time", cell_number(counts->placed));
	}
	if (!sheet->json)
		say(sheet, windows, counts, pc);
	sheet__close(sheet);
}
