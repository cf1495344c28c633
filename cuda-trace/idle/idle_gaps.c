// SPDX-License-Identifier: BSD-2-Clause
/*
 * Operations come in any order, up to seconds late: they are sorted when gaps are closed. What
 * "idle" means is as in stat_time.h.
 */
#include "cuda-trace/idle/idle_gaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/capture/nccl_calls.h"
#include "cuda-trace/capture/record_times.h"
#include "cuda-trace/idle/idle_gaps_parts.h"
#include "cuda-trace/idle/idle_observed.h"
#include "cuda-trace/idle/idle_recent.h"
#include "cuda-trace/idle/idle_waker.h"
#include "cuda-trace/idle/open_launches.h"
#include "cuda-trace/idle/wait_causes.h"

#define QUEUE_NS 50000 /* a GPU's own time before it starts queued work */
#define PAGEABLE 1     /* CUPTI's kind of memory */

struct idle_gaps *idle_gaps__new(struct idle_timeline *timeline, struct idle_functions *functions)
{
	struct idle_gaps *gaps = calloc(1, sizeof(*gaps));

	if (!gaps)
		return NULL;
	gaps->known.timeline = timeline;
	gaps->functions = functions;
	gaps->places = idle_places__new();
	if (gaps->places)
		return gaps;
	free(gaps);
	return NULL;
}

void idle_gaps__free(struct idle_gaps *gaps)
{
	if (!gaps)
		return;
	for (uint32_t i = 0; i < gaps->set.count; i++)
		free(gaps->gpus[i].operations);
	free(gaps->devices);
	free(gaps->waits);
	idle_places__free(gaps->places);
	free(gaps);
}

void idle_gaps__notify(struct idle_gaps *gaps, idle_gap_handler handle, void *context)
{
	gaps->handle = handle;
	gaps->context = context;
}

void idle_gaps__sample(struct idle_gaps *gaps, struct idle_observed *observed, bool follows)
{
	gaps->observed = observed;
	gaps->follows = follows;
}

struct idle_known *idle_gaps__know(struct idle_gaps *gaps)
{
	return &gaps->known;
}

size_t idle_gaps__size(const struct idle_gaps *gaps)
{
	return gaps->kept;
}

static struct device *device_of(struct idle_gaps *gaps, struct idle_host *host)
{
	for (uint32_t i = gaps->device_count; i; i--)
		if (gaps->devices[i - 1].host == host)
			return &gaps->devices[i - 1];
	if (!array_grow__for_one(gaps->devices, gaps->device_size, gaps->device_count))
		return NULL;
	gaps->devices[gaps->device_count] = (struct device){.host = host};
	return &gaps->devices[gaps->device_count++];
}

void idle_gaps__leave(struct idle_gaps *gaps, struct idle_host *host)
{
	for (uint32_t i = 0; i < gaps->device_count; i++) {
		if (gaps->devices[i].host != host)
			continue;
		for (uint32_t ordinal = 0; ordinal < GPU_ORDINALS; ordinal++)
			if (gaps->devices[i].gpu_of[ordinal])
				gaps->gpus[gaps->devices[i].gpu_of[ordinal] - 1].left =
					monotonic__ns();
		gaps->devices[i--] = gaps->devices[--gaps->device_count];
	}
}

static void add_operation(struct idle_gaps *gaps, struct idle_host *host, uint32_t ordinal,
			  const struct operation *operation, const struct cuda_record *record)
{
	const struct cuda_kernel *kernel = (const void *)record;
	struct device *device = device_of(gaps, host);
	int index = device ? gpu_set__find(&gaps->set, device->gpu_of, ordinal) : -1;
	struct gpu *gpu = index < 0 ? NULL : &gaps->gpus[index];
	bool fits = gpu && array_grow__for_one(gpu->operations, gpu->size, gpu->count);

	if (!fits || operation->start < gpu->busy_until) {
		gaps->known.late++;
		if (!fits || !gaps->follows || operation->end <= gpu->busy_until)
			return;
	}
	if (record->kind == CUDA_RECORD_KERNEL)
		idle_observed__work(gaps->observed, host, kernel->context, index,
				    record->correlation, kernel->start, kernel->end);
	gpu->operations[gpu->count] = *operation;
	/* What was explained stays: its rest counts. */
	if (operation->start < gpu->busy_until)
		gpu->operations[gpu->count].start = gpu->operations[gpu->count].came =
			gpu->busy_until;
	gpu->count++;
	gaps->kept++;
}

void idle_gaps__record(struct idle_gaps *gaps, struct idle_host *host,
		       const struct cuda_record *record)
{
	const struct cuda_memcpy *copy = (const void *)record;
	struct device *device = record->kind == CUDA_RECORD_DEVICE ? device_of(gaps, host) : NULL;
	struct record_interval interval;

	if (device)
		gpu_set__identify(&gaps->set, device->gpu_of, (const void *)record);
	if (!record_times__interval(record, &interval))
		return;
	if (!gaps->first || interval.start < gaps->first)
		gaps->first = interval.start;
	if (interval.end > gaps->last)
		gaps->last = interval.end;
	if (interval.work != WORK_KERNEL && interval.work != WORK_COPY)
		return;
	open_launches__done(host->open, record->correlation);
	add_operation(
		gaps, host, interval.device,
		&(struct operation){
			.start = interval.start,
			.end = interval.end,
			.came = interval.start,
			.host = host,
			.correlation = record->correlation,
			.pageable = record->kind == CUDA_RECORD_MEMCPY &&
				    (copy->src_kind == PAGEABLE || copy->dst_kind == PAGEABLE),
		},
		record);
}

static void count_gap(struct idle_gaps *gaps, struct gpu *gpu, const struct idle_place *place,
		      uint32_t pid, uint64_t from, uint64_t to, uint64_t path_ns)
{
	idle_places__add(gaps->places, place, to - from, path_ns);
	gaps->idle_ns += to - from;
	gpu->ns[place->cause] += to - from;
	idle_recent__add(&gpu->recent[place->cause], place, to - from);
	gaps->gap_count++;
	if (gaps->handle)
		gaps->handle(gaps->context, pid, place->cause, from, to);
}

static void settle(struct idle_gaps *gaps, struct gpu *gpu, struct idle_path *path,
		   struct idle_line *line, const struct operation *ends,
		   const struct idle_call *call, uint64_t from, uint64_t to)
{
	struct idle_weight *weight = idle_path__longest(path);
	struct idle_place place = {.text = "", .waker = "", .meanwhile = ""};
	uint64_t path_ns = 0;
	char text[128];

	if (weight) {
		place.cause = weight->cause;
		place.text = weight->text;
		for (uint32_t i = 0; i < path->count; i++)
			if (path->weights[i].cause == weight->cause)
				path_ns += path->weights[i].ns;
	}
	if (place.cause == IDLE_CPU)
		place.function = idle_path__sampled(line, from, to);
	else if (weight && weight->span && place.cause != IDLE_PREEMPTED)
		place.function = weight->span->function;
	if (weight && weight->span &&
	    (place.cause == IDLE_LOCK || place.cause == IDLE_GIL_WAIT ||
	     place.cause == IDLE_PROCESS))
		idle_waker__follow(&gaps->known, weight->span, &place);
	if (place.cause == IDLE_CALL && ends && ends->pageable && call &&
	    weight->call_start == call->start) {
		snprintf(text, sizeof(text), "%s of pageable memory", weight->text);
		place.text = idle_timeline__intern(gaps->known.timeline, text, sizeof(text));
	}
	count_gap(gaps, gpu, &place,
		  ends	 ? ends->host->pid
		  : line ? line->host->pid
			 : 0,
		  from, to, path_ns);
}

static void settle_waiting(struct idle_gaps *gaps, struct gpu *gpu,
			   const struct operation *operation, uint64_t from, uint64_t to)
{
	struct idle_place place = {.cause = IDLE_COLLECTIVE, .waker = "", .meanwhile = ""};
	char text[64];

	if (operation->last < 0)
		snprintf(text, sizeof(text), "%s", nccl_calls__operation(operation->function));
	else
		snprintf(text, sizeof(text), "%s: rank %d came last",
			 nccl_calls__operation(operation->function), operation->last);
	place.text = idle_timeline__intern(gaps->known.timeline, text, sizeof(text));
	count_gap(gaps, gpu, &place, operation->host->pid, from, to, to - from);
}

/*
 * A gap that begins while the thread waits for the GPU, and ends as soon as a launch can be there:
 * the launch and what comes before it would have been over in time, had the thread not waited.
 */
static void blame_wait(struct idle_gaps *gaps, struct idle_path *path, struct idle_line *line,
		       uint64_t from, uint64_t until)
{
	const struct idle_call *call = idle_path__call_at(line, from);
	const char *name;

	if (!call || call->name == IDLE_LAUNCH_CALL || until > call->end + QUEUE_NS)
		return;
	name = idle_host__name(gaps->known.timeline, line->host, call->name);
	if (strstr(name, "Synchronize") || strstr(name, "Memcpy"))
		idle_path__blame(path, name);
}

void idle_gaps__explain(struct idle_gaps *gaps, struct gpu *gpu, uint64_t from, uint64_t to,
			const struct operation *ends)
{
	const struct idle_origin *origin =
		ends ? idle_host__origin(ends->host, ends->correlation) : NULL;
	const struct idle_call *call = origin ? &origin->line->calls[origin->call] : NULL;
	struct idle_line *line = origin ? origin->line : NULL;
	struct idle_path path;
	uint64_t until = to;

	if (ends && from >= ends->came) {
		settle_waiting(gaps, gpu, ends, from, to);
		return;
	}
	path.count = 0;
	if (!ends)
		line = gpu->last;
	if (call && call->end < to)
		until = call->end > from ? call->end : from;
	if (line)
		idle_path__walk(&path, &gaps->known, line, from, until);
	if (line && call)
		blame_wait(gaps, &path, line, from, until);
	if (to > until)
		idle_path__add(&path,
			       to - until > QUEUE_NS ? IDLE_UNEXPLAINED
			       : until > from	     ? IDLE_LAUNCH
						     : IDLE_QUEUED,
			       to - until > QUEUE_NS ? "queued, but it did not start" : "",
			       to - until);
	settle(gaps, gpu, &path, line, ends, call, from, to);
	if (ends)
		gpu->last = line ? line : gpu->last;
}

/* The first interval that ends after that. */
static uint32_t first_after(const struct interval *list, uint32_t count, uint64_t time)
{
	return sorted__count_before(count, i, list[i].end <= time);
}

/* Of a gap, the parts that were observed. One that an untimed launch ended is explained as if it
 * lasted: along the thread that launched last. */
static void explain_known(struct idle_gaps *gaps, struct gpu *gpu, uint64_t from, uint64_t to,
			  const struct operation *ends)
{
	const struct interval *list = NULL;
	uint32_t count = 0;

	if (!gaps->observed) {
		idle_gaps__explain(gaps, gpu, from, to, ends);
		return;
	}
	list = idle_observed__of(gaps->observed, (uint32_t)(gpu - gaps->gpus), &count);
	for (uint32_t i = first_after(list, count, from); i < count && list[i].start < to; i++) {
		uint64_t start = list[i].start > from ? list[i].start : from;
		uint64_t end = list[i].end < to ? list[i].end : to;

		if (start >= end)
			continue;
		if (gaps->follows && !ends)
			idle_gaps__check_last(gaps, gpu, end);
		idle_gaps__explain(gaps, gpu, start, end,
				   end == to || (ends && from >= ends->came) ? ends : NULL);
	}
}

/* Adds the observed time of each GPU. */
static void observe(struct idle_gaps *gaps, uint64_t until)
{
	uint32_t count;

	if (!gaps->observed)
		return;
	idle_observed__close(gaps->observed, until);
	if (!gaps->follows && gaps->last < until)
		until = gaps->last;
	for (uint32_t gpu = 0; gpu < gaps->set.count; gpu++) {
		const struct interval *list = idle_observed__of(gaps->observed, gpu, &count);

		for (uint32_t i = 0; i < count && list[i].start < until; i++)
			gaps->gpus[gpu].whole_ns +=
				(list[i].end < until ? list[i].end : until) - list[i].start;
	}
}

static int by_start(const void *left, const void *right)
{
	const struct operation *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

void idle_gaps__sort(struct gpu *gpu)
{
	for (uint32_t i = 1; i < gpu->count; i++)
		if (gpu->operations[i].start < gpu->operations[i - 1].start) {
			qsort(gpu->operations, gpu->count, sizeof(*gpu->operations), by_start);
			return;
		}
}

/* Also where there was no gap before it. */
static void remember_last(struct gpu *gpu, const struct operation *operation)
{
	const struct idle_origin *origin =
		idle_host__origin(operation->host, operation->correlation);

	if (origin)
		gpu->last = origin->line;
}

static void explain_before(struct idle_gaps *gaps, struct gpu *gpu,
			   const struct operation *operation)
{
	uint64_t from = gpu->busy_until;

	if (operation->came > from) {
		explain_known(gaps, gpu, from, operation->came, operation);
		from = operation->came;
	}
	if (operation->start > from)
		explain_known(gaps, gpu, from, operation->start, operation);
}

void idle_gaps__close_gpu(struct idle_gaps *gaps, struct gpu *gpu, uint64_t until)
{
	uint64_t began;
	uint32_t i = 0;

	idle_gaps__sort(gpu);
	if (!gpu->busy_until && gpu->count)
		gpu->busy_until = gaps->follows ? gpu->operations[0].came : gaps->first;
	began = gpu->busy_until;
	for (; i < gpu->count && gpu->operations[i].start < until; i++) {
		const struct operation *operation = &gpu->operations[i];

		explain_before(gaps, gpu, operation);
		if (operation->end > gpu->busy_until)
			gpu->busy_until = operation->end;
		/* Who goes on when what follows is not known. */
		if (gaps->observed)
			remember_last(gpu, operation);
	}
	if (i)
		remember_last(gpu, &gpu->operations[i - 1]);
	gaps->kept -= i;
	gpu->count -= i;
	memmove(gpu->operations, gpu->operations + i, gpu->count * sizeof(*gpu->operations));
	/* What was observed is forgotten now. */
	until = idle_gaps__pending(gpu, until);
	if (gaps->observed && gpu->busy_until && gpu->busy_until < until && until != UINT64_MAX) {
		explain_known(gaps, gpu, gpu->busy_until, until, NULL);
		gpu->busy_until = until;
	}
	if (!gaps->observed)
		gpu->whole_ns += gpu->busy_until - began;
}

/* A GPU that has long been idle needs the time since then, but not without limit. */
uint64_t idle_gaps__needs(struct idle_gaps *gaps, uint64_t from, uint64_t until)
{
	uint64_t before = from - IDLE_HOLDER_NS;

	if (before + GAPS_KEPT_NS < until)
		before = until - GAPS_KEPT_NS;
	for (uint32_t i = 0; i < gaps->known.lossy_count; i++)
		if (gaps->known.lossy[i].to < before)
			gaps->known.lossy[i--] = gaps->known.lossy[--gaps->known.lossy_count];
	return before;
}

bool idle_gaps__close(struct idle_gaps *gaps, uint64_t until, uint64_t *before)
{
	uint64_t from = until;

	idle_timeline__prepare(gaps->known.timeline);
	idle_gaps__place_waits(gaps, until);
	observe(gaps, until);
	for (uint32_t i = 0; i < gaps->set.count; i++) {
		idle_gaps__close_gpu(gaps, &gaps->gpus[i], until);
		if (gaps->gpus[i].busy_until && gaps->gpus[i].busy_until < from)
			from = gaps->gpus[i].busy_until;
	}
	*before = idle_gaps__needs(gaps, from, until);
	return gaps->set.count;
}

void idle_gaps__keep(struct idle_gaps *gaps)
{
	for (uint32_t i = 0; i < gaps->device_count; i++)
		gaps->devices[i].host->kept = true;
	for (uint32_t i = 0; i < gaps->wait_count; i++)
		gaps->waits[i].host->kept = true;
	for (uint32_t i = 0; i < gaps->set.count; i++) {
		if (gaps->gpus[i].last)
			gaps->gpus[i].last->kept = true;
		for (uint32_t k = 0; k < gaps->gpus[i].count; k++)
			gaps->gpus[i].operations[k].host->kept = true;
	}
}

uint32_t idle_gaps__gpus(const struct idle_gaps *gaps, struct idle_gpu gpus[GPU_SET_MAX])
{
	for (uint32_t i = 0; i < gaps->set.count; i++) {
		const struct gpu_identity *identity = &gaps->set.list[i];

		gpus[i] = (struct idle_gpu){
			.ordinal = identity->ordinal,
			.known = identity->known,
			.whole_ns = gaps->gpus[i].whole_ns,
		};
		memcpy(gpus[i].uuid, identity->uuid, sizeof(identity->uuid));
		memcpy(gpus[i].mig_uuid, identity->mig_uuid, sizeof(identity->mig_uuid));
		memcpy(gpus[i].ns, gaps->gpus[i].ns, sizeof(gpus[i].ns));
	}
	return gaps->set.count;
}

void idle_gaps__recent(const struct idle_gaps *gaps, uint32_t gpu, enum idle_cause cause,
		       char out[IDLE_PLACE_LEN])
{
	*out = 0;
	if (gpu < gaps->set.count && gaps->gpus[gpu].recent[cause].ns)
		idle_place__write(out, &gaps->gpus[gpu].recent[cause].place, gaps->functions);
}

void idle_gaps__sums(const struct idle_gaps *gaps, struct idle_sums *sums)
{
	sums->whole_ns = 0;
	for (uint32_t i = 0; i < gaps->set.count; i++)
		sums->whole_ns += gaps->gpus[i].whole_ns;
	sums->idle_ns = gaps->idle_ns;
	sums->gaps = gaps->gap_count;
	sums->late = gaps->known.late;
	sums->count = idle_places__sums(gaps->places, gaps->functions, sums->causes);
}

bool idle_gaps__finish(struct idle_gaps *gaps, struct idle_sums *sums)
{
	uint32_t used = 0;

	idle_timeline__prepare(gaps->known.timeline);
	idle_gaps__place_waits(gaps, UINT64_MAX);
	observe(gaps, UINT64_MAX);
	sums->observed_ns = 0;
	for (uint32_t i = 0; i < gaps->set.count; i++) {
		struct gpu *gpu = &gaps->gpus[i];

		if (!gpu->count && !gpu->busy_until)
			continue;
		used++;
		idle_gaps__close_gpu(gaps, gpu, UINT64_MAX);
		if (gaps->last > gpu->busy_until)
			explain_known(gaps, gpu, gpu->busy_until, gaps->last, NULL);
		sums->observed_ns += gpu->whole_ns;
	}
	sums->window_ns = gaps->last - gaps->first;
	sums->whole_ns = sums->window_ns * used;
	if (!gaps->observed)
		sums->observed_ns = sums->whole_ns;
	sums->idle_ns = gaps->idle_ns;
	sums->gaps = gaps->gap_count;
	sums->late = gaps->known.late;
	sums->count = idle_places__sums(gaps->places, gaps->functions, sums->causes);
	return used;
}
