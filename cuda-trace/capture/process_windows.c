// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ways to go wrong:
 * 1. Several threads have a range of the name open, or it is in itself: the windows of a process
 *    are the union of its ranges, and a step begins where none was open.
 * 2. A range was open before tracing began: it is not known, and its end is not reported either.
 * 3. The record of a beginning is lost: the end has the same times and adds the window, for what
 *    comes afterwards. Not where steps are counted: which one it was is unknown.
 * 4. The end of a range arrives before its beginning, or ranges of two threads in another order
 *    than they happened: a window ends with the latest of its ranges, and ends without a beginning
 *    are kept. The number of a step is that of its arrival.
 */
#include "cuda-trace/capture/process_windows.h"

#include <fnmatch.h>
#include <string.h>

bool process_windows__is_range(const struct windows *wanted, const char *name, const char *domain)
{
	return !fnmatch(wanted->name, name, 0) &&
	       (wanted->any_domain || (domain && !fnmatch(wanted->domain, domain, 0)));
}

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

static const struct interval *last(const struct process_windows *windows)
{
	static const struct interval none;

	return windows->set.count ? &windows->set.list[windows->set.count - 1] : &none;
}

/* Later windows that are known already become part of it. */
static void open_at(struct process_windows *windows, uint64_t start)
{
	if (!interval_set__is_open(&windows->set))
		windows->latest_end = last(windows)->end > start ? last(windows)->end : 0;
	interval_set__open(&windows->set, start);
}

static void note_end(struct process_windows *windows, uint64_t end)
{
	if (end > windows->latest_end)
		windows->latest_end = end;
}

static bool is_same(const struct window_range *one, const struct cuda_nvtx *range)
{
	return one->start == range->start && one->range == range->range &&
	       (range->range || one->tid == range->tid);
}

/* With --steps alone a window lasts from the first of them to the last one's end. */
static bool ends_window(const struct process_windows *windows, const struct windows *wanted)
{
	return wanted->by == WINDOWS_RANGE ||
	       (wanted->most && windows->steps >= wanted->skip + wanted->most);
}

/* The end of this range, if that has come; 0 = not. */
static uint64_t remove_end(struct process_windows *windows, const struct cuda_nvtx *range)
{
	for (uint32_t i = 0; i < PROCESS_WINDOWS_ENDED; i++) {
		struct window_range *ended = &windows->ended[i];
		uint64_t end = ended->end;

		if (!end || !is_same(ended, range))
			continue;
		*ended = (struct window_range){};
		return end;
	}
	return 0;
}

/* Without steps, its end has added the window. */
static void add_whole(struct process_windows *windows, const struct windows *wanted, uint64_t start,
		      uint64_t end)
{
	if (!has_steps(wanted) || windows->open_count)
		return;
	windows->steps++;
	if (!is_due(windows, wanted))
		return;
	if (wanted->by == WINDOWS_RANGE) {
		interval_set__add(&windows->set, start, end);
		return;
	}
	open_at(windows, start);
	note_end(windows, end);
	if (ends_window(windows, wanted))
		interval_set__close(&windows->set, windows->latest_end);
}

void process_windows__begin(struct process_windows *windows, const struct windows *wanted,
			    const struct cuda_nvtx *range)
{
	bool first = !windows->open_count;
	uint64_t end = remove_end(windows, range);

	if (end) {
		add_whole(windows, wanted, range->start, end);
		return;
	}
	if (windows->open_count < PROCESS_WINDOWS_OPEN)
		windows->open[windows->open_count++] = (struct window_range){
			.start = range->start, .range = range->range, .tid = range->tid};
	if (!first) {
		if (interval_set__is_open(&windows->set))
			open_at(windows, range->start);
		return;
	}
	windows->steps++;
	if (is_due(windows, wanted))
		open_at(windows, range->start);
}

static void keep_end(struct process_windows *windows, const struct windows *wanted,
		     const struct cuda_nvtx *range)
{
	windows->ended[windows->ended_next++ % PROCESS_WINDOWS_ENDED] = (struct window_range){
		.start = range->start, .end = range->end, .range = range->range, .tid = range->tid};
	if (has_steps(wanted))
		return;
	if (interval_set__is_open(&windows->set) && range->end > last(windows)->start)
		note_end(windows, range->end);
	interval_set__add(&windows->set, range->start, range->end);
}

/* INTERVAL_OPEN: none is open. */
static uint64_t earliest_open(const struct process_windows *windows)
{
	uint64_t earliest = INTERVAL_OPEN;

	for (uint32_t i = 0; i < windows->open_count; i++)
		if (windows->open[i].start < earliest)
			earliest = windows->open[i].start;
	return earliest;
}

void process_windows__end(struct process_windows *windows, const struct windows *wanted,
			  const struct cuda_nvtx *range)
{
	uint32_t at = 0;
	uint64_t next;

	while (at < windows->open_count && !is_same(&windows->open[at], range))
		at++;
	if (at == windows->open_count) {
		if (at < PROCESS_WINDOWS_OPEN)
			keep_end(windows, wanted, range);
		return;
	}
	windows->open[at] = windows->open[--windows->open_count];
	note_end(windows, range->end);
	next = earliest_open(windows);
	/* One that began after the others had ended, and arrived before their ends. */
	if (next <= windows->latest_end || (windows->open_count && has_steps(wanted)) ||
	    !ends_window(windows, wanted))
		return;
	interval_set__close(&windows->set, windows->latest_end);
	if (windows->open_count)
		open_at(windows, next);
}

/* cudaProfilerStart() calls cuProfilerStart(), and either may be all that comes. */
void process_windows__call(struct process_windows *windows, const char *name,
			   const struct cuda_api *call)
{
	bool open = interval_set__is_open(&windows->set);

	if (!name)
		return;
	name += !strncmp(name, "cuda", 4) ? 4 : !strncmp(name, "cu", 2) ? 2 : 0;
	if (!strcmp(name, "ProfilerStop")) {
		if (open && call->start >= last(windows)->start)
			interval_set__close(&windows->set, call->start);
		else if (call->start > windows->stopped)
			windows->stopped = call->start;
	}
	if (open || strcmp(name, "ProfilerStart") || call->end <= last(windows)->end)
		return;
	/* That came before this. */
	if (windows->stopped > call->end)
		interval_set__add(&windows->set, call->end, windows->stopped);
	else
		interval_set__open(&windows->set, call->end);
}
