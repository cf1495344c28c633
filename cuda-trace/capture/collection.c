// SPDX-License-Identifier: BSD-2-Clause
/*
 * Windows are decided by the times of events. The agent sends the ranges and calls that open and
 * close windows at once, all else later, so that little comes before the windows that it belongs
 * to. Called for each record; the tool's one thread.
 *
 * Ways to go wrong:
 * 1. A kernel ends after its window, or is in CUPTI's buffer when the window opens: what counts is
 *    when its launch began. The records of launches and copies say for each correlation id whether
 *    that was in a window.
 * 2. A thread is suspended after it took the time of a range, and before it sent it, while others
 *    send launches: all that has a time waits for HORIZON_NS before its place is decided. Of more
 *    than fits, the oldest does not wait any longer.
 * 3. A GPU record comes before that of its call, which another thread has not sent yet: it waits
 *    for a second. If the call never comes (it was lost, or made before tracing began), the start
 *    on the GPU decides, and that is counted.
 * 4. A window is open when the process or the observation ends: it ends then.
 * 5. A burst of PC samples is in a window only in part: it is left out, and counted. Its samples
 *    wait until it has ended.
 * 6. A window never opens: collection__say() explains why.
 */
#include "cuda-trace/capture/collection.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/held_bursts.h"
#include "cuda-trace/capture/process_windows.h"
#include "cuda-trace/capture/record_queue.h"
#include "cuda-trace/capture/record_times.h"
#include "cuda-trace/cli/windows_seen.h"

#define NUMBERS	   (1u << 20) /* correlation ids that are known, the newest of a process */
#define QUEUED	   32768      /* records that wait for windows, and for their calls */
#define HORIZON_NS 200000000ull
#define CALL_NS	   (HORIZON_NS + 1000000000ull)
#define RANGE_MARK 1

enum place { PLACE_UNKNOWN, PLACE_OUTSIDE, PLACE_INSIDE };

struct collected {
	struct process_windows windows;
	uint16_t *places; /* of correlation ids: their upper bits, and enum place */
	struct held_bursts *bursts;
};

struct collection {
	const struct windows *wanted;
	struct sink inner, outer;
	uint64_t end;		 /* ns, of the observed time; 0 = it goes on */
	struct interval_set all; /* of processes that have ended */
	struct collection_counts counts;
	struct record_queue calls, work;
	struct windows_seen seen;
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
	held_bursts__free(process->collected->bursts);
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

static bool matches(struct collection *collection, struct process *process,
		    const struct cuda_nvtx *range)
{
	const struct windows *wanted = collection->wanted;
	const char *name = process__name(process, range->text);
	const char *domain = range->domain ? process__name(process, range->domain) : "";

	if (is_api(collection) || range->kind == RANGE_MARK)
		return false;
	if (name && process_windows__is_range(wanted, name, domain))
		return true;
	if (name && *name)
		windows_seen__other(&collection->seen, name);
	return false;
}

static void note_call(struct collection *collection, struct process *process,
		      const struct cuda_api *call)
{
	if (!is_api(collection) || process->group != CUDA_GROUP_API_CONTEXT)
		return;
	process_windows__call(&process->collected->windows, process__name(process, call->name),
			      call);
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
	case CUDA_RECORD_NVTX_PAYLOAD:
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
static void place_call(struct collection *collection, struct process *process,
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
static void place_work(struct collection *collection, struct process *process,
		       const struct cuda_record *record)
{
	struct collected *collected = process->collected;
	enum place place = place_of(collected, record->correlation);

	if (place == PLACE_UNKNOWN && record->kind == CUDA_RECORD_EVENT_RECORD) {
		place = PLACE_INSIDE;
	} else if (place == PLACE_UNKNOWN) {
		collection->counts.placed++;
		if (interval_set__covers(&collected->windows.set, start_of(record)))
			place = PLACE_INSIDE;
	}
	if (place == PLACE_INSIDE)
		deliver(collection, process, record);
}

static void place_by_time(struct collection *collection, struct process *process,
			  const struct cuda_record *record)
{
	const struct interval_set *windows = &process->collected->windows.set;
	uint64_t start, end;

	/* Ranges may be longer than windows. */
	if (!record_times__span(record, &start, &end) ||
	    (record->kind == CUDA_RECORD_NVTX ? interval_set__overlaps(windows, start, end)
					      : interval_set__covers(windows, start)))
		deliver(collection, process, record);
}

static void settle(struct collection *collection, struct process *process,
		   const struct cuda_record *record)
{
	switch (record->kind) {
	case CUDA_RECORD_API:
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		place_call(collection, process, record);
		break;
	case CUDA_RECORD_KERNEL:
	case CUDA_RECORD_GRAPH:
	case CUDA_RECORD_MEMCPY:
	case CUDA_RECORD_MEMSET:
	case CUDA_RECORD_EVENT_RECORD:
		place_work(collection, process, record);
		break;
	default:
		place_by_time(collection, process, record);
	}
}

static void settle_queued(void *context, const struct queued_record *queued)
{
	struct process *process = queued->process;
	uint32_t group;

	/* Those of a process that has ended were settled with it. */
	if (!process)
		return;
	group = process->group;
	process->group = queued->group;
	settle(context, process, (const void *)queued->record);
	process->group = group;
}

static bool is_placed(const struct queued_record *queued)
{
	const struct cuda_record *record = (const void *)queued->record;

	return !queued->process ||
	       place_of(queued->process->collected, record->correlation) != PLACE_UNKNOWN;
}

static void settle_old(struct collection *collection, uint64_t now)
{
	const struct queued_record *oldest;

	while ((oldest = record_queue__oldest(&collection->calls)) &&
	       oldest->came + HORIZON_NS <= now)
		settle_queued(collection, record_queue__remove(&collection->calls));
	while ((oldest = record_queue__oldest(&collection->work)) &&
	       (is_placed(oldest) || oldest->came + CALL_NS <= now))
		settle_queued(collection, record_queue__remove(&collection->work));
}

static void handle_call(struct collection *collection, struct process *process,
			const struct cuda_record *record, uint64_t now)
{
	struct record_queue *calls = &collection->calls;

	if (record->size > RECORD_QUEUE_LARGEST) {
		settle(collection, process, record);
		return;
	}
	if (record_queue__is_full(calls))
		settle_queued(collection, record_queue__remove(calls));
	record_queue__put(calls, process, record, now);
}

static void handle_work(struct collection *collection, struct process *process,
			const struct cuda_record *record, uint64_t now)
{
	struct record_queue *calls = &collection->calls, *work = &collection->work;

	if (place_of(process->collected, record->correlation) != PLACE_UNKNOWN ||
	    record->size > RECORD_QUEUE_LARGEST) {
		settle(collection, process, record);
		return;
	}
	/* Most of what it is full of has a call that waits, too. */
	while (record_queue__is_full(work) && record_queue__oldest(calls))
		settle_queued(collection, record_queue__remove(calls));
	if (record_queue__is_full(work))
		settle_queued(collection, record_queue__remove(work));
	record_queue__put(work, process, record, now);
}

/* Of a sample nobody knows when it was taken within its burst. */
static void settle_bursts(struct collection *collection, struct process *process, uint64_t until)
{
	struct collected *collected = process->collected;
	const struct interval_set *windows = &collected->windows.set;
	const struct sink *inner = &collection->inner;
	uint32_t group = process->group;
	struct held_burst *burst;

	process->group = CUDA_GROUP_PC_SAMPLES;
	while ((burst = held_bursts__take(collected->bursts, until))) {
		const struct cuda_pc_window *span = &burst->window;

		if (!interval_set__contains(windows, span->start, span->end)) {
			collection->counts.cut +=
				interval_set__overlaps(windows, span->start, span->end);
			continue;
		}
		collection->counts.bursts++;
		for (size_t i = 0; i < burst->count; i++)
			inner->record(inner->context, process, &burst->samples[i].head);
		inner->record(inner->context, process, &span->head);
	}
	process->group = group;
}

static void begin_range(struct collection *collection, struct process *process,
			const struct cuda_nvtx *range)
{
	if (!matches(collection, process, range))
		return;
	collection->seen.begun = true;
	process_windows__begin(&process->collected->windows, collection->wanted, range);
}

static void end_range(struct collection *collection, struct process *process,
		      const struct cuda_nvtx *range)
{
	collection->seen.any |= range->kind != RANGE_MARK;
	if (matches(collection, process, range))
		process_windows__end(&process->collected->windows, collection->wanted, range);
}

static void handle_record(void *context, struct process *process, const struct cuda_record *record)
{
	struct collection *collection = context;
	uint64_t now = monotonic__ns();

	settle_old(collection, now);
	if (!process->collected) {
		deliver(collection, process, record);
		return;
	}
	settle_bursts(collection, process, now > HORIZON_NS ? now - HORIZON_NS : 0);
	if (record->kind == CUDA_RECORD_PC_IMAGE || record_times__is_of_graph(record)) {
		deliver(collection, process, record);
		return;
	}
	switch (record->kind) {
	case CUDA_RECORD_NVTX_OPEN:
		begin_range(collection, process, (const void *)record);
		return;
	case CUDA_RECORD_PC_SAMPLE:
	case CUDA_RECORD_PC_WINDOW:
		held_bursts__add(&process->collected->bursts, record, now);
		return;
	case CUDA_RECORD_KERNEL:
	case CUDA_RECORD_GRAPH:
	case CUDA_RECORD_MEMCPY:
	case CUDA_RECORD_MEMSET:
	case CUDA_RECORD_EVENT_RECORD:
		handle_work(collection, process, record, now);
		return;
	case CUDA_RECORD_NVTX:
		end_range(collection, process, (const void *)record);
		break;
	case CUDA_RECORD_API:
		note_call(collection, process, (const void *)record);
		break;
	}
	handle_call(collection, process, record, now);
}

/* In the order in which they came; those of other processes go on waiting. */
static void settle_process(struct collection *collection, const struct process *process)
{
	record_queue__remove_all_of(&collection->calls, process, settle_queued, collection);
	record_queue__remove_all_of(&collection->work, process, settle_queued, collection);
}

static void end_windows(struct collection *collection, struct process *process)
{
	struct interval_set *windows = &process->collected->windows.set;
	uint64_t now = monotonic__ns();

	settle_process(collection, process);
	settle_bursts(collection, process, UINT64_MAX);
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

static void handle_status(void *context, struct process *process)
{
	const struct sink *inner = &((struct collection *)context)->inner;

	inner->process_status(inner->context, process);
}

static void handle_error(void *context, struct process *process, int code, const char *component,
			 const char *message)
{
	const struct sink *inner = &((struct collection *)context)->inner;

	inner->process_error(inner->context, process, code, component, message);
}

/* Descriptions of frames are of no time. */
static void handle_stack(void *context, struct process *process, const struct event *event)
{
	const struct sink *inner = &((struct collection *)context)->inner;

	if (event->kind == EVENT_CODE || record_times__is_stack_of_graph(event) ||
	    collects(process, event->time))
		inner->stack(inner->context, process, event);
}

static void handle_collective(void *context, struct process *process,
			      const struct event_collective *call,
			      const struct recorded_kernel *kernel)
{
	const struct sink *inner = &((struct collection *)context)->inner;

	/* Who the communicators are is of no time. */
	if (call->function > NCCL_GROUP_END || collects(process, call->time))
		inner->collective(inner->context, process, call, kernel);
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
		.record = handle_record,
		.process_status = sink->process_status ? handle_status : NULL,
		.process_error = sink->process_error ? handle_error : NULL,
		.stack = sink->stack ? handle_stack : NULL,
		.collective = sink->collective ? handle_collective : NULL,
		.process_end = end,
		.ends_last = sink->ends_last,
	};
	if (!record_queue__init(&collection->calls, QUEUED) &&
	    !record_queue__init(&collection->work, QUEUED))
		return collection;
	collection__free(collection);
	return NULL;
}

void collection__free(struct collection *collection)
{
	if (!collection)
		return;
	interval_set__free(&collection->all);
	record_queue__free(&collection->calls);
	record_queue__free(&collection->work);
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

void collection__say(const char *command, const struct collection *collection)
{
	if (!collection->counts.windows)
		windows_seen__say(&collection->seen, collection->wanted, command);
}
