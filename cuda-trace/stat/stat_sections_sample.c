// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat --sample`: what the estimates rest on.
 */
#include <math.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/stat/stat_sections.h"

#define MS 1000000ull

static void put_overhead(struct sheet *sheet, const struct overhead_finding *found)
{
	char longer[16], launch[16], count[32];

	sheet__put(sheet, "max_overhead", cell_real(found->limit));
	sheet__put(sheet, "overhead",
		   cell_if(found->measured, cell_real(found->part + found->besides)));
	sheet__put(sheet, "launch_ns", cell_if(found->measured, cell_number(found->launch_ns)));
	sheet__put(sheet, "launch_added_ns",
		   cell_if(found->measured, cell_signed(found->added_ns)));
	sheet__put(sheet, "launches_compared", cell_number(found->measured));
	sheet__say(sheet, "--max-overhead %g%%: windows of %u ms", found->limit * 100,
		   found->on_ms);
	if (!found->measured)
		sheet__say(sheet,
			   "; too few launches fell into windows to measure what they cost\n");
	else
		sheet__say(sheet,
			   "; in a window, a launch of %s takes %s longer (median of %s): %.2f%% "
			   "of the time\n",
			   text__ns(launch, found->launch_ns),
			   text__ns(longer, found->added_ns > 0 ? found->added_ns : 0),
			   text__count(count, found->measured),
			   (found->part + found->besides) * 100);
}

void stat_sections__sample(struct sheet *sheet, const struct stat_report *report)
{
	const struct stat_windows *windows = &report->table->windows;
	const struct stat_sums *totals = &report->table->totals;
	char error[16], gpu[16], kernels[32], missing[32];

	sheet__open(sheet, "sample", '{');
	sheet__put(sheet, "on_ns", cell_number(windows->on_ms * MS));
	sheet__put(sheet, "period_ns", cell_number(windows->every_ms * MS));
	sheet__put(sheet, "windows", cell_number(windows->windows));
	sheet__put(sheet, "open_ns", cell_number(windows->open_ns));
	sheet__put(sheet, "watched_ns", cell_number(windows->watched_ns));
	sheet__say(sheet, "GPU times are estimates: %s +- %s (95%%), from %s kernels",
		   text__ns(gpu, totals->gpu_ns), text__ns(error, sqrt(totals->gpu_error2)),
		   text__count(kernels, totals->sampled_kernels));
	if (windows->windows)
		sheet__say(sheet, " in %llu windows of %u ms in each %u ms, %.2f%% of the time",
			   (unsigned long long)windows->windows, windows->on_ms, windows->every_ms,
			   windows->watched_ns ? 100.0 * windows->open_ns / windows->watched_ns
					       : 0);
	sheet__say(sheet, "\n");
	if (totals->unsampled_launches)
		sheet__say(sheet,
			   "%s launches are of kernels that ran in no window: their GPU time is "
			   "not included\n",
			   text__count(missing, totals->unsampled_launches));
	if (report->overhead)
		put_overhead(sheet, report->overhead);
	sheet__close(sheet);
}
