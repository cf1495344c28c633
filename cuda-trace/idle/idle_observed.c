// SPDX-License-Identifier: BSD-2-Clause
/*
 * A moment is observed if, in each process that uses the GPU, the last launch before it was a timed
 * one, and no launch before those still runs. As windows lie at random, this is no more likely
 * while the GPU is busy than while it is idle. A stream's work is done in order: so earlier
 * launches of a stream are over when a timed kernel of it begins, and all of a context's when a
 * call that waits for the context has returned.
 */
#include "cuda-trace/idle/idle_observed.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/gpu_set.h"
#include "libcupti-usdt/probes.h"

#define STREAMS_MAX  64	  /* of a context: with more, it is not observed */
#define UNITS_MAX    8192 /* contexts */
#define UNIT_RECORDS 256  /* one takes the memory of so many records */
#define NEVER	     UINT64_MAX
#define CLOCKS_NS    1000000
#define PER_THREAD   2 /* CU_STREAM_PER_THREAD: each thread has its own */

enum what { TIMED, UNTIMED, WAITED };

struct event {
	uint64_t start, end;
	uint64_t stream;
	uint32_t tid; /* with PER_THREAD */
	uint32_t correlation;
	enum what what;
};

struct stream {
	uint64_t handle;
	uint32_t tid;
	uint64_t last_end; /* of its last untimed launch */
	uint64_t done;	   /* when all of these were; NEVER = not known */
};

/* A context. */
struct unit {
	const struct idle_host *host;
	uint32_t context;
	int gpu; /* -1 = not known: it may be any */
	struct event *events;
	uint32_t count, size;
	struct stream streams[STREAMS_MAX];
	uint32_t stream_count;
	bool overflows;
	uint64_t began, ended;	/* first launch, end of the process; 0 and NEVER = not yet */
	uint64_t from;		/* observed since then; NEVER = it is not */
	uint64_t last_work;	/* end of the last timed operation, while observed */
	struct interval *found; /* observed, by the last close() */
	uint32_t found_count, found_size;
};

struct work {
	const struct unit *unit;
	uint32_t correlation;
	uint64_t start, end;
};

struct edge {
	uint64_t time;
	int active, observed; /* +1, -1 */
};

struct idle_observed {
	struct unit **units, *last; /* NULL, or the one that was looked for last */
	uint32_t unit_count, unit_size;
	struct work *works;
	uint32_t work_count, work_size;
	struct edge *edges;
	uint32_t edge_count, edge_size;
	struct gpu_observed {
		struct interval *list;
		uint32_t count, size;
	} gpus[GPU_SET_MAX];
	uint64_t closed;  /* until then all was looked at */
	uint64_t stopped; /* 0 = not */
	bool lacks;	  /* memory, or places: nothing is observed any more */
};

struct idle_observed *idle_observed__new(void)
{
	return calloc(1, sizeof(struct idle_observed));
}

static void free_unit(struct unit *unit)
{
	free(unit->events);
	free(unit->found);
	free(unit);
}

void idle_observed__free(struct idle_observed *observed)
{
	if (!observed)
		return;
	for (uint32_t i = 0; i < observed->unit_count; i++)
		free_unit(observed->units[i]);
	for (uint32_t i = 0; i < GPU_SET_MAX; i++)
		free(observed->gpus[i].list);
	free(observed->units);
	free(observed->works);
	free(observed->edges);
	free(observed);
}

static struct unit *unit_of(struct idle_observed *observed, const struct idle_host *host,
			    uint32_t context, bool add)
{
	struct unit *unit = observed->last;

	if (unit && unit->host == host && unit->context == context && unit->ended == NEVER)
		return unit;
	for (uint32_t i = observed->unit_count; i; i--) {
		unit = observed->units[i - 1];
		if (unit->host != host || unit->context != context || unit->ended != NEVER)
			continue;
		observed->last = unit;
		return unit;
	}
	if (!add)
		return NULL;
	unit = observed->unit_count < UNITS_MAX &&
			       array_grow__for_one(observed->units, observed->unit_size,
						   observed->unit_count)
		       ? calloc(1, sizeof(*unit))
		       : NULL;
	if (!unit) {
		observed->lacks = true;
		return NULL;
	}
	*unit = (struct unit){
		.host = host, .context = context, .gpu = -1, .ended = NEVER, .from = NEVER};
	observed->units[observed->unit_count++] = unit;
	return unit;
}

static void add_event(struct idle_observed *observed, struct unit *unit, const struct event *event)
{
	if (!unit)
		return;
	if (!array_grow__for_one(unit->events, unit->size, unit->count)) {
		observed->lacks = true;
		return;
	}
	unit->events[unit->count++] = *event;
}

void idle_observed__launch(struct idle_observed *observed, const struct idle_host *host,
			   const struct cuda_launch *launch)
{
	struct unit *unit;

	if (!observed || launch->result || launch->end < launch->start)
		return;
	unit = unit_of(observed, host, launch->context, true);
	if (unit && (!unit->began || launch->start < unit->began))
		unit->began = launch->start;
	/* What came when its time had been looked at: its work is like an untimed one's. */
	add_event(observed, unit,
		  &(struct event){
			  .start = launch->start > observed->closed ? launch->start
								    : observed->closed,
			  .end = launch->end,
			  .stream = launch->stream,
			  .tid = launch->stream == PER_THREAD ? launch->tid : 0,
			  .correlation = launch->head.correlation,
			  .what = launch->start > observed->closed &&
						  launch->flags & CUDA_LAUNCH_TIMED
					  ? TIMED
					  : UNTIMED,
		  });
}

void idle_observed__sync(struct idle_observed *observed, const struct idle_host *host,
			 const struct cuda_api *api)
{
	if (observed && !api->result && api->end >= api->start)
		add_event(observed, unit_of(observed, host, api->context, false),
			  &(struct event){api->start, api->end, .what = WAITED});
}

void idle_observed__work(struct idle_observed *observed, const struct idle_host *host,
			 uint32_t context, uint32_t gpu, uint32_t correlation, uint64_t start,
			 uint64_t end)
{
	struct unit *unit = observed ? unit_of(observed, host, context, true) : NULL;

	if (!unit)
		return;
	unit->gpu = gpu;
	if (!array_grow__for_one(observed->works, observed->work_size, observed->work_count)) {
		observed->lacks = true;
		return;
	}
	observed->works[observed->work_count++] = (struct work){unit, correlation, start, end};
}

void idle_observed__leave(struct idle_observed *observed, const struct idle_host *host,
			  uint64_t time)
{
	for (uint32_t i = 0; observed && i < observed->unit_count; i++)
		if (observed->units[i]->host == host && observed->units[i]->ended == NEVER)
			observed->units[i]->ended = time;
}

void idle_observed__stop(struct idle_observed *observed)
{
	observed->stopped = monotonic__ns();
}

static int by_start(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->what > b->what) - (a->what < b->what);
}

static int by_unit(const void *left, const void *right)
{
	const struct work *a = left, *b = right;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

/* A graph has many operations: from the first start to the last end. */
static void merge_works(struct idle_observed *observed)
{
	struct work *works = observed->works;
	uint32_t kept = 0;

	if (observed->work_count)
		qsort(works, observed->work_count, sizeof(*works), by_unit);
	for (uint32_t i = 0; i < observed->work_count; i++) {
		if (!kept || by_unit(&works[kept - 1], &works[i])) {
			works[kept++] = works[i];
			continue;
		}
		if (works[i].start < works[kept - 1].start)
			works[kept - 1].start = works[i].start;
		if (works[i].end > works[kept - 1].end)
			works[kept - 1].end = works[i].end;
	}
	observed->work_count = kept;
}

/* NULL: none came. */
static const struct work *find_work(const struct idle_observed *observed, const struct unit *unit,
				    uint32_t correlation)
{
	const struct work key = {unit, correlation, 0, 0};

	return observed->work_count
		       ? bsearch(&key, observed->works, observed->work_count, sizeof(key), by_unit)
		       : NULL;
}

static struct stream *stream_of(struct unit *unit, const struct event *event)
{
	struct stream *stream;

	for (uint32_t i = 0; i < unit->stream_count; i++) {
		stream = &unit->streams[i];
		if (stream->handle == event->stream && stream->tid == event->tid)
			return stream;
	}
	if (unit->stream_count == STREAMS_MAX) {
		unit->overflows = true;
		return NULL;
	}
	stream = &unit->streams[unit->stream_count++];
	*stream = (struct stream){.handle = event->stream, .tid = event->tid};
	return stream;
}

static void end_observed(struct idle_observed *observed, struct unit *unit, uint64_t to)
{
	/* The work of a context's only stream is known until the last timed operation ends. */
	if (unit->stream_count == 1 && unit->last_work > to)
		to = unit->last_work;
	if (unit->from < to) {
		if (array_grow__for_one(unit->found, unit->found_size, unit->found_count))
			unit->found[unit->found_count++] = (struct interval){unit->from, to};
		else
			observed->lacks = true;
	}
	unit->from = NEVER;
}

/* Its work comes, unknown when. */
static void launch_untimed(struct idle_observed *observed, struct unit *unit,
			   const struct event *event)
{
	struct stream *stream = stream_of(unit, event);

	if (unit->from != NEVER)
		end_observed(observed, unit, event->start);
	if (!stream)
		return;
	if (event->end > stream->last_end)
		stream->last_end = event->end;
	stream->done = NEVER;
}

/* Only a launch begins to be observed: would a wait do so, idle time would be more likely to be. */
static void launch_timed(struct idle_observed *observed, struct unit *unit,
			 const struct event *event, const struct work *work)
{
	struct stream *stream = stream_of(unit, event);
	uint64_t from = work->start;

	if (stream && stream->done > work->start)
		stream->done = work->start;
	if (work->end > unit->last_work)
		unit->last_work = work->end;
	if (unit->from != NEVER || unit->overflows)
		return;
	for (uint32_t i = 0; i < unit->stream_count; i++) {
		if (unit->streams[i].done == NEVER)
			return;
		if (unit->streams[i].done > from)
			from = unit->streams[i].done;
	}
	unit->from = from;
	unit->last_work = work->end;
}

static void wait_for_all(struct unit *unit, const struct event *event)
{
	for (uint32_t i = 0; i < unit->stream_count; i++)
		if (unit->streams[i].last_end <= event->start && unit->streams[i].done > event->end)
			unit->streams[i].done = event->end;
}

/* What was observed until then is reported. If the process goes on, it is observed from there on,
 * too: a gap is as likely to be observed as if nobody had looked meanwhile. */
static void pause_observed(struct idle_observed *observed, struct unit *unit, uint64_t until)
{
	uint64_t last_work = unit->last_work;

	if (unit->from == NEVER)
		return;
	unit->last_work = 0;
	end_observed(observed, unit, unit->ended < until ? unit->ended : until);
	unit->last_work = last_work;
	if (unit->ended > until)
		unit->from = until;
}

static void follow_unit(struct idle_observed *observed, struct unit *unit, uint64_t until)
{
	uint32_t i = 0;

	unit->found_count = 0;
	if (unit->count)
		qsort(unit->events, unit->count, sizeof(*unit->events), by_start);
	for (; i < unit->count && unit->events[i].start < until; i++) {
		const struct event *event = &unit->events[i];
		const struct work *work =
			event->what == TIMED ? find_work(observed, unit, event->correlation) : NULL;

		if (event->what == WAITED)
			wait_for_all(unit, event);
		else if (work)
			launch_timed(observed, unit, event, work);
		else
			launch_untimed(observed, unit, event);
	}
	pause_observed(observed, unit, until);
	unit->count -= i;
	memmove(unit->events, unit->events + i, unit->count * sizeof(*unit->events));
}

static void add_edges(struct idle_observed *observed, uint64_t from, uint64_t to, int active,
		      int known)
{
	if (from >= to)
		return;
	if (!array_grow__to(observed->edges, observed->edge_size,
			    (size_t)observed->edge_count + 2)) {
		observed->lacks = true;
		return;
	}
	observed->edges[observed->edge_count++] = (struct edge){from, active, known};
	observed->edges[observed->edge_count++] = (struct edge){to, -active, -known};
}

static int by_time(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	return (a->time > b->time) - (a->time < b->time);
}

static void add_observed(struct gpu_observed *gpu, uint64_t from, uint64_t to)
{
	if (from < to && array_grow__for_one(gpu->list, gpu->size, gpu->count))
		gpu->list[gpu->count++] = (struct interval){from, to};
}

/* Where at least one context has launched something, and all of these are observed. */
static void intersect(struct idle_observed *observed, struct gpu_observed *gpu)
{
	int active = 0, known = 0;
	uint64_t from = NEVER;

	if (observed->edge_count)
		qsort(observed->edges, observed->edge_count, sizeof(*observed->edges), by_time);
	for (uint32_t i = 0; i < observed->edge_count; i++) {
		const struct edge *edge = &observed->edges[i];

		active += edge->active;
		known += edge->observed;
		if (i + 1 < observed->edge_count && edge[1].time == edge->time)
			continue;
		if (active && known == active) {
			from = from == NEVER ? edge->time : from;
			continue;
		}
		if (from != NEVER)
			add_observed(gpu, from,
				     observed->stopped && observed->stopped < edge->time
					     ? observed->stopped
					     : edge->time);
		from = NEVER;
	}
}

static void find_gpu(struct idle_observed *observed, uint32_t gpu, uint64_t until)
{
	observed->edge_count = 0;
	observed->gpus[gpu].count = 0;
	for (uint32_t i = 0; i < observed->unit_count; i++) {
		const struct unit *unit = observed->units[i];
		uint64_t began = unit->began > observed->closed ? unit->began : observed->closed;

		if (!unit->began || (unit->gpu >= 0 && unit->gpu != (int)gpu))
			continue;
		add_edges(observed, began, unit->ended < until ? unit->ended : until, 1, 0);
		for (uint32_t k = 0; k < unit->found_count; k++)
			add_edges(observed,
				  unit->found[k].start > began ? unit->found[k].start : began,
				  unit->found[k].end < unit->ended ? unit->found[k].end
								   : unit->ended,
				  0, 1);
	}
	if (!observed->lacks)
		intersect(observed, &observed->gpus[gpu]);
	if (observed->lacks)
		observed->gpus[gpu].count = 0;
}

/* Work that came before its launch is looked at, less what the clocks may disagree by. */
static void keep_works(struct idle_observed *observed, uint64_t until)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < observed->work_count; i++) {
		const struct work *work = &observed->works[i];

		if (work->unit->ended >= until && work->start + CLOCKS_NS >= until)
			observed->works[kept++] = *work;
	}
	observed->work_count = kept;
}

static void free_ended(struct idle_observed *observed, uint64_t until)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < observed->unit_count; i++) {
		struct unit *unit = observed->units[i];

		if (unit->ended < until && !unit->count)
			free_unit(unit);
		else
			observed->units[kept++] = unit;
	}
	observed->unit_count = kept;
	observed->last = NULL;
}

void idle_observed__close(struct idle_observed *observed, uint64_t until)
{
	if (!observed)
		return;
	merge_works(observed);
	for (uint32_t i = 0; i < observed->unit_count; i++)
		follow_unit(observed, observed->units[i], until);
	for (uint32_t gpu = 0; gpu < GPU_SET_MAX; gpu++)
		find_gpu(observed, gpu, until);
	observed->closed = until;
	keep_works(observed, until);
	free_ended(observed, until);
}

const struct interval *idle_observed__of(const struct idle_observed *observed, uint32_t gpu,
					 uint32_t *count)
{
	*count = observed->gpus[gpu].count;
	return observed->gpus[gpu].list;
}

size_t idle_observed__size(const struct idle_observed *observed)
{
	size_t size = observed ? observed->work_count + observed->unit_count * UNIT_RECORDS : 0;

	for (uint32_t i = 0; observed && i < observed->unit_count; i++)
		size += observed->units[i]->count;
	return size;
}
