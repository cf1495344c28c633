// SPDX-License-Identifier: BSD-2-Clause
/*
 * The agent sends the ranges and calls that open and close windows at once, all else later, so what
 * arrives belongs to windows that are known. Called for each record; the tool's one thread.
 *
 * Ways to go wrong:
 * 1. A kernel ends after its window, or is in CUPTI's buffer when the window opens: what counts is
 *    when its launch began. The records of launches and copies say for each correlation id whether
 *    that was in a window.
 * 2. A GPU record comes before that of its call, which another thread has not sent yet: it waits
 *    for a second. If the call never comes (it was lost, or made before tracing began), the start
 *    on the GPU decides, and that is counted.
 * 3. A window is open when the process or the observation ends: it ends then.
 * 4. A window never opens: collection__say() explains why.
 */
#include "cuda-trace/capture/collection.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/process_windows.h"
#include "cuda-trace/capture/record_times.h"

#define NUMBERS	   (1u << 20) /* correlation ids that are known, the newest of a process */
#define MAX_KEPT   16384      /* GPU records that wait for their call */
#define KEEP_NS	   1000000000ull
#define MAX_RECORD 160
#define OTHERS	   4 /* names of other ranges that are named */
#define RANGE_MARK 1

enum place { PLACE_UNKNOWN, PLACE_OUTSIDE, PLACE_INSIDE };

struct collected {
	struct process_windows windows;
	uint16_t *places; /* of correlation ids: their upper bits, and enum place */
};

struct kept {
	struct process *process;
	uint64_t came; /* ns */
	_Alignas(8) char record[MAX_RECORD];
};

struct collection {
	const struct windows *wanted;
	struct sink inner, outer;
	uint64_t end;		 /* ns, of the observed time; 0 = it goes on */
	struct interval_set all; /* of processes that have ended */
	struct collection_counts counts;
	struct kept *kept; /* MAX_KEPT, a queue */
	uint32_t oldest, kept_count;
	char others[OTHERS][96]; /* names of ranges that did not match; untrusted */
};

static void start(void *context, struct process *process)
{
	struct collection *collection = context;
	struct collected *collected = calloc(1, sizeof(*collected));

	if (collected)
		collected->places = calloc(NUMBERS, sizeof(*collected->places));
	if (collected && !collected->places) {
		free(collected);
		collected = NULL;
	}
	process->collected = collected;
	if (collection->inner.process_start)
		collection->inner.process_start(collection->inner.context, process);
}

static void forget(struct process *process)
{
	if (!process->collected)
		return;
	interval_set__free(&process->collected->windows.set);
	free(process->collected->places);
	free(process->collected);
	process->collected = NULL;
}

static enum place place_of(const struct collected *collected, uint32_t correlation)
{
	uint16_t place = collected->places[correlation % NUMBERS];

	return place >> 2 == correlation / NUMBERS ? place & 3 : PLACE_UNKNOWN;
}

static void set_place(struct collected *collected, uint32_t correlation, enum place place)
{
	collected->places[correlation % NUMBERS] = (correlation / NUMBERS) << 2 | place;
}

static bool is_api(const struct collection *collection)
{
	return collection->wanted->by == WINDOWS_PROFILER;
}

static void note_other(struct collection *collection, const char *name)
{
	for (int i = 0; i < OTHERS; i++) {
		if (!*collection->others[i]) {
			snprintf(collection->others[i], sizeof(collection->others[i]), "%s", name);
			return;
		}
		if (!strncmp(collection->others[i], name, sizeof(collection->others[i]) - 1))
			return;
	}
}

static bool matches(struct collection *collection, struct process *process,
		    const struct cuda_nvtx *range)
{
	const struct windows *wanted = collection->wanted;
	const char *name = process__name(process, range->text);
	const char *domain = range->domain ? process__name(process, range->domain) : "";

	if (is_api(collection) || range->kind == RANGE_MARK)
		return false;
	if (name && !fnmatch(wanted->name, name, 0) &&
	    (wanted->any_domain || (domain && !fnmatch(wanted->domain, domain, 0))))
		return true;
	if (name && *name)
		note_other(collection, name);
	return false;
}

static void note_call(struct collection *collection, struct process *process,
		      const struct cuda_api *call)
{
	if (!is_api(collection) || process->group != CUDA_GROUP_API_OTHER)
		return;
	collection->counts.begun += process_windows__call(&process->collected->windows,
							  process__name(process, call->name), call);
}

const struct interval_set *collection__windows(const struct process *process)
{
	return process->collected ? &process->collected->windows.set : NULL;
}

/* What this command did not request is there only to find windows. */
static bool is_hidden(const struct collection *collection, const struct process *process,
		      const struct cuda_record *record)
{
	uint32_t hidden = collection->wanted->groups;

	switch (record->kind) {
	case CUDA_RECORD_NVTX_OPEN:
		return true;
	case CUDA_RECORD_NVTX:
		return hidden >> CUDA_GROUP_NVTX & 1;
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		return hidden >> CUDA_GROUP_LAUNCH & 1;
	case CUDA_RECORD_API:
		return hidden >> process->group & 1;
	default:
		return false;
	}
}

static void deliver(struct collection *collection, struct process *process,
		    const struct cuda_record *record)
{
	if (!is_hidden(collection, process, record))
		collection->inner.record(collection->inner.context, process, record);
}

static uint64_t start_of(const struct cuda_record *record)
{
	uint64_t start = 0, end;

	record_times__span(record, &start, &end);
	return start;
}

/* Of a call and the call that it makes, the inner one comes first and decides for both. */
static void take_call(struct collection *collection, struct process *process,
		      const struct cuda_record *record)
{
	struct collected *collected = process->collected;
	enum place place = place_of(collected, record->correlation);

	if (place == PLACE_UNKNOWN)
		place = interval_set__covers(&collected->windows.set, start_of(record))
				? PLACE_INSIDE
				: PLACE_OUTSIDE;
	set_place(collected, record->correlation, place);
	if (place == PLACE_INSIDE)
		deliver(collection, process, record);
}

/* Its call has come, or does not come any more. */
static void settle(struct collection *collection, struct process *process,
		   const struct cuda_record *record)
{
	struct collected *collected = process->collected;
	enum place place = place_of(collected, record->correlation);

	if (place == PLACE_UNKNOWN) {
		collection->counts.placed++;
		if (interval_set__covers(&collected->windows.set, start_of(record)))
			place = PLACE_INSIDE;
	}
	if (place == PLACE_INSIDE)
		deliver(collection, process, record);
}

static void settle_oldest(struct collection *collection)
{
	struct kept *kept = &collection->kept[collection->oldest];

	collection->oldest = (collection->oldest + 1) % MAX_KEPT;
	collection->kept_count--;
	/* Those of a process that has ended were settled with it. */
	if (kept->process)
		settle(collection, kept->process, (const void *)kept->record);
}

static void settle_old(struct collection *collection)
{
	uint64_t now;

	if (!collection->kept_count)
		return;
	now = monotonic__ns();
	while (collection->kept_count && collection->kept[collection->oldest].came + KEEP_NS <= now)
		settle_oldest(collection);
}

static void take_work(struct collection *collection, struct process *process,
		      const struct cuda_record *record)
{
	struct kept *kept;

	if (place_of(process->collected, record->correlation) != PLACE_UNKNOWN ||
	    record->size > MAX_RECORD) {
		settle(collection, process, record);
		return;
	}
	if (collection->kept_count == MAX_KEPT)
		settle_oldest(collection);
	kept = &collection->kept[(collection->oldest + collection->kept_count++) % MAX_KEPT];
	kept->process = process;
	kept->came = monotonic__ns();
	memcpy(kept->record, record, record->size);
}

static void begin_range(struct collection *collection, struct process *process,
			const struct cuda_nvtx *range)
{
	if (!matches(collection, process, range))
		return;
	collection->counts.begun++;
	process_windows__begin(&process->collected->windows, collection->wanted, range);
}

static void take_range(struct collection *collection, struct process *process,
		       const struct cuda_nvtx *range)
{
	struct collected *collected = process->collected;

	collection->counts.ranges += range->kind != RANGE_MARK;
	if (matches(collection, process, range))
		process_windows__end(&collected->windows, collection->wanted, range);
	if (interval_set__overlaps(&collected->windows.set, range->start, range->end))
		deliver(collection, process, &range->head);
}

static void take_by_time(struct collection *collection, struct process *process,
			 const struct cuda_record *record)
{
	uint64_t start, end;

	if (!record_times__span(record, &start, &end) ||
	    interval_set__covers(&process->collected->windows.set, start))
		deliver(collection, process, record);
}

static void take(void *context, struct process *process, const struct cuda_record *record)
{
	struct collection *collection = context;

	if (!process->collected)
		return;
	settle_old(collection);
	switch (record->kind) {
	case CUDA_RECORD_NVTX_OPEN:
		begin_range(collection, process, (const void *)record);
		break;
	case CUDA_RECORD_NVTX:
		take_range(collection, process, (const void *)record);
		break;
	case CUDA_RECORD_API:
		note_call(collection, process, (const void *)record);
		take_call(collection, process, record);
		break;
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		take_call(collection, process, record);
		break;
	case CUDA_RECORD_KERNEL:
	case CUDA_RECORD_GRAPH:
	case CUDA_RECORD_MEMCPY:
	case CUDA_RECORD_MEMSET:
		take_work(collection, process, record);
		break;
	case CUDA_RECORD_EVENT_RECORD:
		if (place_of(process->collected, record->correlation) != PLACE_OUTSIDE)
			deliver(collection, process, record);
		break;
	case CUDA_RECORD_GRAPH_NODE:
		/* Kernels in a window may be of nodes that are older. */
		deliver(collection, process, record);
		break;
	default:
		take_by_time(collection, process, record);
	}
}

/* In the order in which they came; those of other processes go on waiting. */
static void settle_process(struct collection *collection, const struct process *process)
{
	for (uint32_t i = 0; i < collection->kept_count; i++) {
		struct kept *kept = &collection->kept[(collection->oldest + i) % MAX_KEPT];

		if (kept->process != process)
			continue;
		settle(collection, kept->process, (const void *)kept->record);
		kept->process = NULL;
	}
}

static void end_windows(struct collection *collection, struct process *process)
{
	struct interval_set *windows = &process->collected->windows.set;
	uint64_t now = monotonic__ns();

	settle_process(collection, process);
	collection->counts.open += interval_set__is_open(windows);
	interval_set__close(windows, collection->end ? collection->end : now);
	collection->counts.windows += interval_set__count(windows);
	collection->counts.processes += interval_set__count(windows) > 0;
	/* Those that are only a sum are not in `all`: nobody can tell whether others overlap them.
	 */
	collection->all.summed_ns += windows->summed_ns;
	for (uint32_t i = 0; i < windows->count; i++)
		interval_set__add(&collection->all, windows->list[i].start, windows->list[i].end);
}

static void end(void *context, struct process *process)
{
	struct collection *collection = context;

	if (process->collected)
		end_windows(collection, process);
	if (collection->inner.process_end)
		collection->inner.process_end(collection->inner.context, process);
	forget(process);
}

static bool collects(const struct process *process, uint64_t time)
{
	return process->collected && interval_set__covers(&process->collected->windows.set, time);
}

static void take_status(void *context, struct process *process)
{
	const struct sink *inner = &((struct collection *)context)->inner;

	inner->process_status(inner->context, process);
}

static void take_error(void *context, struct process *process, int code, const char *component,
		       const char *message)
{
	const struct sink *inner = &((struct collection *)context)->inner;

	inner->process_error(inner->context, process, code, component, message);
}

/* Descriptions of frames are of no time. */
static void take_stack(void *context, struct process *process, const struct event *event)
{
	const struct sink *inner = &((struct collection *)context)->inner;

	if (event->kind == EVENT_CODE || collects(process, event->time))
		inner->stack(inner->context, process, event);
}

static void take_collective(void *context, struct process *process,
			    const struct event_collective *call, uint32_t correlation)
{
	const struct sink *inner = &((struct collection *)context)->inner;

	if (collects(process, call->time))
		inner->collective(inner->context, process, call, correlation);
}

struct collection *collection__new(const struct windows *windows, const struct sink *sink)
{
	struct collection *collection = calloc(1, sizeof(*collection));

	if (!collection)
		return NULL;
	collection->wanted = windows;
	collection->inner = *sink;
	collection->outer = (struct sink){
		.context = collection,
		.process_start = start,
		.record = take,
		.process_status = sink->process_status ? take_status : NULL,
		.process_error = sink->process_error ? take_error : NULL,
		.stack = sink->stack ? take_stack : NULL,
		.collective = sink->collective ? take_collective : NULL,
		.process_end = end,
		.ends_last = sink->ends_last,
	};
	collection->kept = malloc(MAX_KEPT * sizeof(*collection->kept));
	if (collection->kept)
		return collection;
	free(collection);
	return NULL;
}

void collection__free(struct collection *collection)
{
	if (!collection)
		return;
	interval_set__free(&collection->all);
	free(collection->kept);
	free(collection);
}

const struct sink *collection__sink(const struct collection *collection)
{
	return &collection->outer;
}

void collection__close(struct collection *collection, uint64_t end)
{
	if (collection)
		collection->end = end;
}

void collection__count(const struct collection *collection, struct collection_counts *counts)
{
	*counts = collection->counts;
	counts->window_ns = interval_set__length(&collection->all);
}

static void say_others(const struct collection *collection)
{
	for (int i = 0; i < OTHERS && *collection->others[i]; i++) {
		char shown[256];

		text__show(shown, sizeof(shown), collection->others[i], 60);
		fprintf(stderr, "%s'%s'", i ? ", " : "; others were: ", shown);
	}
}

void collection__say(const char *command, const struct collection *collection)
{
	const struct collection_counts *counts = &collection->counts;
	const struct windows *wanted = collection->wanted;

	if (counts->windows)
		return;
	fprintf(stderr, "cuda-trace %s: nothing was collected: ", command);
	if (is_api(collection)) {
		fprintf(stderr, "no process called cudaProfilerStart() while it was observed\n");
		return;
	}
	if (counts->begun)
		fprintf(stderr, "no process began more than the %llu steps of --skip-steps\n",
			(unsigned long long)wanted->skip);
	else if (!counts->ranges)
		fprintf(stderr,
			"no NVTX range was seen at all. Ranges are seen in programs that "
			"cuda-trace starts (cuda-trace %s -- PROGRAM)\n",
			command);
	else {
		fprintf(stderr, "no NVTX range '%s' was opened", wanted->name);
		if (!wanted->any_domain)
			fprintf(stderr, " in the domain '%s'", wanted->domain);
		say_others(collection);
		fprintf(stderr, "\n");
	}
}
