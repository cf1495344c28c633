// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules from sums to sentences. Thresholds are where the matter is worth a person's time: a tenth
 * of the time watched, unless said otherwise. Used by the text and the JSON of `stat`.
 */
#include "cuda-trace/stat/stat_advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "cuda-trace/base/text.h"

#define SHORT_KERNEL_NS 10000 /* a launch costs the host 2 to 5 us */
#define MANY		100

struct lines {
	char (*text)[256];
	int count;
};

__attribute__((format(printf, 2, 3))) static void say(struct lines *lines, const char *format, ...)
{
	va_list arguments;

	if (lines->count == STAT_MAX_ADVICE)
		return;
	va_start(arguments, format);
	vsnprintf(lines->text[lines->count++], 256, format, arguments);
	va_end(arguments);
}

uint64_t stat_advice__overlap(const struct stat_time_sums *time)
{
	uint64_t both = time->kernel_ns + time->copy_ns;

	return both > time->busy_ns ? both - time->busy_ns : 0;
}

uint64_t stat_advice__idle(const struct stat_time_sums *time)
{
	return time->whole_ns > time->busy_ns ? time->whole_ns - time->busy_ns : 0;
}

static int percent(uint64_t part, uint64_t whole)
{
	return whole ? (int)(100.0 * part / whole + 0.5) : 0;
}

static void on_launches(const struct stat_table *table, struct lines *lines)
{
	const struct stat_time_sums *time = &table->time;
	const struct stat_sums *totals = &table->totals;
	uint64_t mean = totals->kernels ? totals->gpu_ns / totals->kernels : 0;
	char idle[16], length[16], count[32];

	if (totals->kernels < MANY || time->host_bound_ns * 10 < time->whole_ns ||
	    mean > SHORT_KERNEL_NS)
		return;
	say(lines,
	    "Launch-bound: the GPU was idle for %s (%d%%) while the host was in launch calls; %s "
	    "kernels of %s on average. Larger kernels or CUDA graphs would help.",
	    text__ns(idle, time->host_bound_ns), percent(time->host_bound_ns, time->whole_ns),
	    text__count(count, totals->kernels), text__ns(length, mean));
}

static void on_pageable(const struct stat_table *table, struct lines *lines)
{
	const struct stat_events *events = &table->events;
	uint64_t bytes = 0, ns = 0;
	char length[16];

	for (uint32_t i = 0; i < events->copy_count; i++) {
		const struct stat_copy *copy = &events->copies[i];

		if (copy->kind == STAT_COPY_SET || (copy->from != 1 && copy->to != 1))
			continue;
		bytes += copy->bytes;
		ns += copy->span.total_ns;
	}
	if (!ns || ns * 10 < table->time.whole_ns)
		return;
	say(lines,
	    "Pageable copies: %.1f MiB from or to pageable memory took %s (%d%% of the time) at "
	    "%.2f GB/s. Pinned memory is faster, and can overlap with kernels.",
	    bytes / 1048576.0, text__ns(length, ns), percent(ns, table->time.whole_ns),
	    (double)bytes / ns);
}

static void on_overlap(const struct stat_table *table, struct lines *lines)
{
	const struct stat_time_sums *time = &table->time;
	uint64_t overlap = stat_advice__overlap(time);
	char copy[16], both[16];

	if (time->copy_ns * 10 < time->whole_ns || time->kernel_ns * 10 < time->whole_ns ||
	    overlap * 10 > time->copy_ns)
		return;
	say(lines,
	    "No overlap: copies took %s (%d%%), of which only %s while kernels ran. Several "
	    "streams and asynchronous copies would make them overlap.",
	    text__ns(copy, time->copy_ns), percent(time->copy_ns, time->whole_ns),
	    text__ns(both, overlap));
}

static void on_allocations(const struct stat_table *table, struct lines *lines)
{
	const struct stat_sums *totals = &table->totals;
	char allocs[32], kernels[32];

	if (totals->allocs < MANY || totals->allocs * 2 < totals->kernels)
		return;
	say(lines,
	    "Many allocations: %s, with %s kernels. Keeping the memory, or using a pool "
	    "(cudaMallocAsync), saves the calls.",
	    text__count(allocs, totals->allocs), text__count(kernels, totals->kernels));
}

static void on_leaks(const struct stat_table *table, struct lines *lines)
{
	uint64_t blocks = 0, bytes = 0;
	char count[32];

	for (uint32_t i = 0; i < table->memory_count; i++) {
		blocks += table->memory[i].live_count;
		bytes += table->memory[i].live_bytes;
	}
	if (!blocks)
		return;
	say(lines, "Still held at the end: %.1f MiB in %s allocations that were not freed.",
	    bytes / 1048576.0, text__count(count, blocks));
}

static void on_waits(const struct stat_table *table, struct lines *lines)
{
	const struct stat_time_sums *time = &table->time;
	char idle[16];

	if (time->host_wait_ns * 10 < time->whole_ns)
		return;
	say(lines,
	    "Waiting for nothing: the GPU was idle for %s (%d%%) while the host waited in a "
	    "synchronisation call.",
	    text__ns(idle, time->host_wait_ns), percent(time->host_wait_ns, time->whole_ns));
}

/* Where the GPU seems idle only because its kernels came too late, each of these would be wrong. */
static void on_late(struct lines *lines)
{
	say(lines, "No advice on launches, overlap and waits: records of more than 1%% of the time "
		   "arrived too late to be placed.");
}

int stat_advice__lines(const struct stat_table *table, char text[STAT_MAX_ADVICE][256])
{
	struct lines lines = {.text = text};

	if (!table->time.whole_ns || table->time.killed)
		return 0;
	if (table->time.doubtful)
		on_late(&lines);
	else
		on_launches(table, &lines);
	on_pageable(table, &lines);
	if (!table->time.doubtful) {
		on_overlap(table, &lines);
		on_waits(table, &lines);
	}
	on_allocations(table, &lines);
	on_leaks(table, &lines);
	return lines.count;
}
