// SPDX-License-Identifier: BSD-2-Clause
/* collection.h, interval_set.h: records in any order, and more windows than are kept. Prints what
 * is delivered. */
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/capture/collection.h"
#include "cuda-trace/base/clock.h"

/* Every name is id 1's, but for id 2, which never came. */
const char *process__name(const struct process *process, uint32_t id)
{
	(void)process;
	return id == 1 ? "step" : NULL;
}

static uint64_t now = 1000000000000;

uint64_t monotonic__ns(void)
{
	return now;
}

static void deliver(void *context, struct process *process, const struct cuda_record *record)
{
	(void)context, (void)process;
	printf("%s %u\n",
	       record->kind == CUDA_RECORD_KERNEL   ? "kernel"
	       : record->kind == CUDA_RECORD_LAUNCH ? "launch"
						    : "other",
	       record->correlation);
}

static const struct sink *sink;
static struct process process;

static void range(uint16_t kind, uint32_t name, uint64_t start, uint64_t end, uint32_t tid)
{
	struct cuda_nvtx record = {
		.head = {.kind = kind, .size = sizeof(record)},
		.start = start,
		.end = end,
		.tid = tid,
		.text = name,
		.kind = 2,
	};

	sink->record(sink->context, &process, &record.head);
}

static void begin(uint64_t start, uint32_t tid)
{
	range(CUDA_RECORD_NVTX_OPEN, 1, start, start, tid);
}

static void end(uint64_t start, uint64_t end, uint32_t tid)
{
	range(CUDA_RECORD_NVTX, 1, start, end, tid);
}

static void launch(uint32_t correlation, uint64_t start)
{
	struct cuda_launch record = {
		.head = {CUDA_RECORD_LAUNCH, sizeof(record), correlation},
		.start = start,
		.end = start + 1,
	};

	sink->record(sink->context, &process, &record.head);
}

static void kernel(uint32_t correlation, uint64_t start)
{
	struct cuda_kernel record = {
		.head = {CUDA_RECORD_KERNEL, sizeof(record), correlation},
		.start = start,
		.end = start + 1000000,
	};

	sink->record(sink->context, &process, &record.head);
}

static void check(bool right, const char *what)
{
	if (!right)
		printf("wrong: %s\n", what);
}

/* Against an array of bits. */
static void compare_sets(void)
{
	enum { TIMES = 4096 };
	static bool truth[TIMES];
	struct interval_set set = {};
	uint64_t length = 0;

	srand(1);
	for (int i = 0; i < 300; i++) {
		uint64_t from = rand() % TIMES, to = from + rand() % 20;

		to = to > TIMES ? TIMES : to;
		interval_set__add(&set, from, to);
		for (uint64_t at = from; at < to; at++)
			truth[at] = true;
	}
	for (uint64_t at = 0; at < TIMES; at++) {
		struct interval rest = {at, TIMES}, part;
		uint64_t next = at;

		length += truth[at];
		check(interval_set__covers(&set, at) == truth[at], "covers");
		while (next < TIMES && !truth[next])
			next++;
		check(interval_set__next_part(&set, &rest, &part) == (next < TIMES), "no part");
		check(next == TIMES || part.start == next, "part");
	}
	check(interval_set__length(&set) == length, "length");
	interval_set__free(&set);
}

static void fill_set(void)
{
	struct interval_set set = {};

	for (uint64_t i = 0; i < 200000; i++) {
		interval_set__open(&set, i * 10);
		interval_set__close(&set, i * 10 + 4);
	}
	check(interval_set__count(&set) == 200000, "count of many");
	check(interval_set__length(&set) == 800000, "length of many");
	check(interval_set__covers(&set, 1999990) && !interval_set__covers(&set, 1999995),
	      "covers, of many");
	/* What lies before those that are kept is no longer in it, and does not disturb. */
	interval_set__add(&set, 1, 3);
	check(!interval_set__covers(&set, 2) && interval_set__length(&set) == 800000, "oldest");
	interval_set__free(&set);
}

static void expect_window(uint32_t correlation, uint64_t start, uint64_t end)
{
	launch(correlation, start - 1);
	launch(correlation + 1, start);
	launch(correlation + 2, end - 1);
	launch(correlation + 3, end);
}

/* What began and ended first arrives last: the times count. */
static void late_ranges(void)
{
	const struct windows windows = {.by = WINDOWS_RANGE,
					.name = "step",
					.any_domain = true,
					.groups = 1u << CUDA_GROUP_NVTX};
	struct collection *collection =
		collection__new(&windows, &(struct sink){.record = deliver});
	struct collection_counts counts;

	puts("late:");
	sink = collection__sink(collection);
	sink->process_start(sink->context, &process);
	/* The launches before the range that they are in, its end before its beginning. */
	expect_window(10, 1100, 1200);
	kernel(11, 1150);
	end(1100, 1200, 7);
	begin(1100, 7);
	/* Of two threads, the end that is first arrives last. */
	expect_window(20, 2100, 2300);
	begin(2200, 8);
	end(2200, 2300, 8);
	begin(2100, 7);
	end(2100, 2250, 7);
	/* The second window begins before the first one's end has arrived. */
	expect_window(30, 3100, 3200);
	expect_window(40, 3300, 3400);
	begin(3100, 7);
	begin(3300, 8);
	end(3100, 3200, 7);
	end(3300, 3400, 8);
	/* Nothing waits for longer than this. */
	now += 300000000;
	launch(50, 4000);
	puts("waited");
	collection__close(collection, 5000);
	sink->process_end(sink->context, &process);
	collection__count(collection, &counts);
	printf("windows %llu, ns %llu, open %llu\n", (unsigned long long)counts.windows,
	       (unsigned long long)counts.window_ns, (unsigned long long)counts.open);
	collection__free(collection);
}

int main(void)
{
	const struct windows windows = {.by = WINDOWS_RANGE,
					.name = "step",
					.any_domain = true,
					.groups = 1u << CUDA_GROUP_NVTX};
	struct collection *collection =
		collection__new(&windows, &(struct sink){.record = deliver});
	struct collection_counts counts;

	sink = collection__sink(collection);
	sink->process_start(sink->context, &process);
	launch(1, 50);
	begin(100, 7);
	kernel(1, 110); /* launched before the window */
	kernel(3, 120); /* its launch comes later */
	kernel(9, 130); /* whose never does: placed by its start, */
	kernel(8, 90);	/* as is this one */
	range(CUDA_RECORD_NVTX_OPEN, 2, 140, 140, 7);
	/* Another thread's, which began before, and ends later. */
	begin(95, 8);
	launch(2, 97);
	end(100, 200, 7);
	launch(4, 250);
	end(95, 300, 8);
	launch(5, 300);
	launch(3, 150);
	kernel(2, 1000000);
	kernel(5, 299);
	/* The beginning was lost. */
	end(400, 500, 7);
	launch(6, 450);
	/* Ends twice, and one that never began in a thread that has none. */
	end(100, 200, 7);
	begin(600, 7);
	launch(7, 700);
	collection__close(collection, 800);
	sink->process_end(sink->context, &process);
	collection__count(collection, &counts);
	printf("windows %llu, ns %llu, open %llu, placed %llu\n",
	       (unsigned long long)counts.windows, (unsigned long long)counts.window_ns,
	       (unsigned long long)counts.open, (unsigned long long)counts.placed);
	collection__free(collection);
	late_ranges();
	compare_sets();
	fill_set();
	return 0;
}
