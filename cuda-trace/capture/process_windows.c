// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ways to go wrong:
 * 1. Several threads have a range of the name open, or it is in itself: the windows of a process
 *    are the union of its ranges, and a step begins where none was open.
 * 2. A range was open before tracing began: it is not known, and its end is not reported either.
 * 3. The record of a beginning is lost: the end has the same times and adds the window, for what
 *    comes afterwards. Not where steps are counted: which one it was is unknown.
 * 4. Ranges of two threads arrive a few microseconds out of order: interval_set__open() joins what
 *    touches.
 */
#include "cuda-trace/capture/process_windows.h"

#include <string.h>

static bool has_steps(const struct windows *wanted)
{
	return wanted->by == WINDOWS_STEPS || wanted->skip || wanted->most;
}

/* Whether the step that has just begun is in a window. */
static bool is_due(const struct process_windows *windows, const struct windows *wanted)
{
	return windows->steps > wanted->skip &&
	       (!wanted->most || windows->steps - wanted->skip <= wanted->most);
}

void process_windows__begin(struct process_windows *windows, const struct windows *wanted,
			    const struct cuda_nvtx *range)
{
	bool first = !windows->open_count;

	if (windows->open_count < PROCESS_WINDOWS_OPEN)
		windows->open[windows->open_count++] =
			(struct open_range){range->start, range->range, range->tid};
	if (!first) {
		if (interval_set__is_open(&windows->set))
			interval_set__open(&windows->set, range->start);
		return;
	}
	windows->steps++;
	if (is_due(windows, wanted))
		interval_set__open(&windows->set, range->start);
}

static bool is_same(const struct open_range *open, const struct cuda_nvtx *range)
{
	return open->start == range->start && open->range == range->range &&
	       (range->range || open->tid == range->tid);
}

/* With --steps alone a window lasts from the first of them to the last one's end. */
static bool ends_window(const struct process_windows *windows, const struct windows *wanted)
{
	return wanted->by == WINDOWS_RANGE ||
	       (wanted->most && windows->steps >= wanted->skip + wanted->most);
}

void process_windows__end(struct process_windows *windows, const struct windows *wanted,
			  const struct cuda_nvtx *range)
{
	uint32_t at = 0;

	while (at < windows->open_count && !is_same(&windows->open[at], range))
		at++;
	if (at == windows->open_count) {
		if (!has_steps(wanted) && at < PROCESS_WINDOWS_OPEN)
			interval_set__add(&windows->set, range->start, range->end);
		return;
	}
	windows->open[at] = windows->open[--windows->open_count];
	if (!windows->open_count && ends_window(windows, wanted))
		interval_set__close(&windows->set, range->end);
}

static const struct interval *last(const struct process_windows *windows)
{
	static const struct interval none;

	return windows->set.count ? &windows->set.list[windows->set.count - 1] : &none;
}

/* cudaProfilerStart() calls cuProfilerStart(), and either may be all that comes. */
bool process_windows__call(struct process_windows *windows, const char *name,
			   const struct cuda_api *call)
{
	bool open = interval_set__is_open(&windows->set);

	if (!name)
		return false;
	name += !strncmp(name, "cuda", 4) ? 4 : !strncmp(name, "cu", 2) ? 2 : 0;
	if (open && !strcmp(name, "ProfilerStop") && call->start >= last(windows)->start)
		interval_set__close(&windows->set, call->start);
	if (open || strcmp(name, "ProfilerStart") || call->end <= last(windows)->end)
		return false;
	interval_set__open(&windows->set, call->end);
	return true;
}
