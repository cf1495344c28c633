// SPDX-License-Identifier: BSD-2-Clause
/*
 * What can go wrong: 1. a file says what it likes: ranges without an end, deeper than any
 * program's, of as many threads as it has rows. What finds no space is played at once, without
 * kernels. 2. rows are not in order of time where several threads wrote them: both tables are read
 * sorted then.
 */
#include "cuda-trace/report/report_record_ranges.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/report/report_record_rows.h"

#define MAX_THREADS 65536
#define DEPTH	    31 /* as many as a launch can tell */

struct replay_thread {
	size_t process;
	uint32_t count;
	struct cuda_nvtx *open; /* DEPTH, outermost first; NULL = none yet */
};

static struct replay_thread *thread_of(struct replay_ranges *ranges, int64_t key)
{
	ssize_t found = key_index__find(&ranges->index, key);

	return found < 0 ? NULL : &ranges->threads[found];
}

static struct replay_thread *make_thread(struct replay_ranges *ranges, int64_t key)
{
	struct replay_thread *thread = thread_of(ranges, key);

	if (thread || ranges->count == MAX_THREADS)
		return thread;
	if (!array_grow__for_one(ranges->threads, ranges->capacity, ranges->count) ||
	    !key_index__add(&ranges->index, key, ranges->count))
		return NULL;
	thread = &ranges->threads[ranges->count++];
	*thread = (struct replay_thread){};
	return thread;
}

static void play(struct replay *replay, size_t process, const struct cuda_nvtx *range)
{
	replay->sink->record(replay->sink->context, replay->processes[process], &range->head);
}

/* In the order in which they end: ranges of two domains may cross. */
static void play_ended(struct replay *replay, struct replay_thread *thread, uint64_t time)
{
	for (;;) {
		uint32_t first = thread->count;

		/* Of those that end at once the inner one is the first. */
		for (uint32_t i = thread->count; i-- > 0;)
			if (thread->open[i].end <= time &&
			    (first == thread->count ||
			     thread->open[i].end < thread->open[first].end))
				first = i;
		if (first == thread->count)
			return;
		thread->open[first].depth = first;
		play(replay, thread->process, &thread->open[first]);
		thread->count--;
		memmove(&thread->open[first], &thread->open[first + 1],
			(thread->count - first) * sizeof(thread->open[0]));
	}
}

void report_record_ranges__begin(struct replay *replay, size_t process, int64_t key,
				 struct cuda_nvtx *range)
{
	struct replay_thread *thread = make_thread(&replay->ranges, key);

	range->depth = DEPTH;
	if (thread && !thread->open)
		thread->open = calloc(DEPTH, sizeof(*thread->open));
	if (thread && thread->open) {
		play_ended(replay, thread, range->start);
		thread->process = process;
	}
	if (!thread || !thread->open || thread->count == DEPTH)
		play(replay, process, range);
	else
		thread->open[thread->count++] = *range;
}

uint32_t report_record_ranges__depth(struct replay *replay, int64_t key, uint64_t time)
{
	struct replay_thread *thread = thread_of(&replay->ranges, key);

	if (!thread)
		return 0;
	play_ended(replay, thread, time);
	return thread->count;
}

void report_record_ranges__end(struct replay *replay)
{
	for (size_t i = 0; i < replay->ranges.count; i++)
		play_ended(replay, &replay->ranges.threads[i], UINT64_MAX);
}

void report_record_ranges__free(struct replay_ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++)
		free(ranges->threads[i].open);
	free(ranges->threads);
	key_index__free(&ranges->index);
}
