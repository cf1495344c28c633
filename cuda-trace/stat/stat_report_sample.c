// SPDX-License-Identifier: BSD-2-Clause
/*
 * `stat --sample`: what the estimates rest on, as text and as JSON.
 */
#include <json-c/json.h>
#include <math.h>
#include "cuda-trace/base/json_text.h"
#include "cuda-trace/stat/stat_report.h"
#include "cuda-trace/base/text.h"

#define MS 1000000ull

static double share_of(const struct stat_windows *windows)
{
	return windows->watched_ns ? (double)windows->open_ns / windows->watched_ns : 0;
}

static void put_overhead(FILE *file, const struct overhead_finding *found)
{
	char longer[16], launch[16], count[32];

	fprintf(file, "--max-overhead %g%%: windows of %u ms", found->limit * 100, found->on_ms);
	if (!found->measured) {
		fprintf(file, "; too few launches fell into windows to measure what they cost\n");
		return;
	}
	fprintf(file,
		"; in one, a launch of %s takes %s longer (the middle one of %s): %.2f%% of the "
		"time\n",
		text__ns(launch, found->launch_ns),
		text__ns(longer, found->added_ns > 0 ? found->added_ns : 0),
		text__count(count, found->measured), found->part * 100);
}

void stat_report__text_sample(FILE *file, const struct stat_report *report)
{
	const struct stat_windows *windows = &report->table->windows;
	const struct stat_sums *totals = &report->table->totals;
	char error[16], gpu[16], kernels[32], missing[32];

	fprintf(file, "GPU times are estimates: %s +- %s (95%%), from %s kernels",
		text__ns(gpu, totals->gpu_ns), text__ns(error, sqrt(totals->gpu_error2)),
		text__count(kernels, totals->sampled_kernels));
	if (windows->windows)
		fprintf(file, " in %llu windows of %u ms in each %u ms, %.2f%% of the time",
			(unsigned long long)windows->windows, windows->on_ms, windows->every_ms,
			share_of(windows) * 100);
	fprintf(file, "\n");
	if (totals->unsampled_launches)
		fprintf(file,
			"%s launches are of kernels that no window has seen: their GPU time is not "
			"in "
			"it\n",
			text__count(missing, totals->unsampled_launches));
	if (report->overhead)
		put_overhead(file, report->overhead);
}

struct json_object *stat_report__json_sample(const struct stat_report *report)
{
	const struct stat_windows *windows = &report->table->windows;
	const struct overhead_finding *found = report->overhead;
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "on_ns", json_object_new_uint64(windows->on_ms * MS));
	json_object_object_add(object, "period_ns", json_object_new_uint64(windows->every_ms * MS));
	json_object_object_add(object, "windows", json_object_new_uint64(windows->windows));
	json_object_object_add(object, "open_ns", json_object_new_uint64(windows->open_ns));
	json_object_object_add(object, "watched_ns", json_object_new_uint64(windows->watched_ns));
	if (!found)
		return object;
	json_object_object_add(object, "max_overhead", stat_json__double(found->limit));
	json_object_object_add(object, "overhead",
			       found->measured ? stat_json__double(found->part) : NULL);
	json_object_object_add(object, "launch_ns",
			       found->measured ? json_object_new_uint64(found->launch_ns) : NULL);
	json_object_object_add(object, "launch_added_ns",
			       found->measured ? json_object_new_int64(found->added_ns) : NULL);
	json_object_object_add(object, "launches_compared",
			       json_object_new_uint64(found->measured));
	return object;
}
