// SPDX-License-Identifier: BSD-2-Clause
/* Called by the main loop. */
#include "cuda-trace/top/top_idle.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/live/live_idle.h"

#define APART_NS 200000000ull /* between two looks: shorter intervals need no more */

static void drop_oldest(struct top_idle *idle)
{
	memmove(idle->looks, idle->looks + 1, --idle->look_count * sizeof(idle->looks[0]));
}

void top_idle__look(struct top_idle *idle, uint64_t now)
{
	struct top_idle_look *look;

	if (!idle->idle)
		return;
	/* The newest of those that are old enough stays: it is where the shares begin. */
	while (idle->look_count > 1 && idle->looks[1].time + TOP_IDLE_NS <= now)
		drop_oldest(idle);
	if (idle->look_count > 1 && now - idle->looks[idle->look_count - 2].time < APART_NS)
		idle->look_count--;
	if (idle->look_count == TOP_IDLE_LOOKS)
		drop_oldest(idle);
	look = &idle->looks[idle->look_count++];
	look->time = now;
	look->count = idle__gpus(idle->idle, look->gpus);
}

static bool is_that(const struct idle_gpu *gpu, const char *uuid, uint32_t number)
{
	char text[48];

	live_idle__uuid(text, gpu);
	return *uuid || *text ? !strcmp(text, uuid) : gpu->ordinal == number;
}

static int by_time(const void *left, const void *right)
{
	const struct top_cause *a = left, *b = right;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

bool top_idle__of(const struct top_idle *idle, const char *uuid, uint32_t number,
		  struct top_causes *causes)
{
	static const struct idle_gpu none;
	const struct top_idle_look *first, *last;
	const struct idle_gpu *before, *now;
	uint32_t gpu = 0;

	*causes = (struct top_causes){};
	if (!idle->look_count)
		return false;
	first = &idle->looks[0];
	last = &idle->looks[idle->look_count - 1];
	while (gpu < last->count && !is_that(&last->gpus[gpu], uuid, number))
		gpu++;
	if (gpu == last->count)
		return false;
	/* GPUs keep their places: later ones are added at the end. */
	before = first != last && gpu < first->count ? &first->gpus[gpu] : &none;
	now = &last->gpus[gpu];
	causes->whole_ns = now->whole_ns - before->whole_ns;
	for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
		struct top_cause *next = &causes->causes[causes->count];

		if (now->ns[cause] == before->ns[cause])
			continue;
		next->cause = cause;
		next->ns = now->ns[cause] - before->ns[cause];
		idle__recent(idle->idle, gpu, cause, next->place);
		causes->idle_ns += next->ns;
		causes->count++;
	}
	qsort(causes->causes, causes->count, sizeof(causes->causes[0]), by_time);
	return causes->whole_ns;
}
