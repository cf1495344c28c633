// SPDX-License-Identifier: BSD-2-Clause
/*
 * A GPU has a line of kernels and one of copies, a process one of launches and one of waits; they
 * are joined by logic instead of sorting, in any order of arrival. Used by stat_table.c for each
 * record; the tool's one thread.
 *
 * A launch or a wait counts for each GPU that its process uses: one that is idle meanwhile is idle
 * while its host is in that call.
 *
 * CUPTI keeps a buffer as long as one of its records is unfinished (docs/internals/design.md):
 * where the next kernel is always queued, kernels come seconds after their launches. Three ways to
 * go wrong there:
 * 1. Slices are closed before their kernels came: all that the GPU did is idleness then. So a
 *    launch after which nothing of the GPU came makes the slices more instead of being closed.
 * 2. Kernels that never come, or hostile times, make the slices many: there is a bound for all
 *    lines together. They do not become fewer: who was late is late again.
 * 3. What comes later than all that makes the sums wrong without a word: it is counted, by length,
 *    and where it is much, the sums are called doubtful and no advice rests on them.
 */
#include "cuda-trace/stat/stat_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/time_slice.h"
#include "cuda-trace/base/gpu_set.h"
#include "cuda-trace/base/interval_set.h"
#include "cuda-trace/capture/record_times.h"
#include "cuda-trace/stat/stat_lines.h"

#define DOUBTFUL  100 /* one part in so many was late */
#define MAX_HOSTS 32  /* processes that have lines, at a time */

/* The last two of a GPU are of processes that have ended. */
enum gpu_line { KERNEL, COPY, PAST_LAUNCH, PAST_WAIT, GPU_LINES };
enum host_line { LAUNCH, WAIT, HOST_LINES };

struct gpu {
	struct stat_line lines[GPU_LINES];
	struct stat_gpu sums;
};

struct stat_host {
	struct stat_host *next, **link; /* what points here */
	struct stat_line lines[HOST_LINES];
	uint64_t uses;	  /* a bit for each GPU */
	uint64_t gpu_end; /* ns: nothing of its GPUs came that ended later */
	bool stamped;	  /* the last launch that worked has a kernel to come */
	bool left_out;	  /* had launches or waits when there were no lines left */
	gpu_ordinals gpu_of;
	struct stat_user user;
	struct stat_sharer *sharers[GPU_SET_MAX];
	void *owner;
	const struct interval_set *windows; /* NULL = everything counts */
};

struct stat_time {
	struct stat_lines lines;
	unsigned int host_count; /* of those that have lines */
	struct stat_host *hosts;
	struct gpu gpus[GPU_SET_MAX];
	struct gpu_set set;
	struct stat_shares *shares;
	bool past;				   /* stat_time__set_past() */
	struct stat_time_sums sums;		   /* of processes that have ended */
	const struct stat_time_observer *observer; /* NULL = none */
};

static bool open_gpu(void *context, uint32_t index)
{
	struct stat_time *time = context;

	return stat_lines__open(&time->lines, time->gpus[index].lines, GPU_LINES);
}

static struct gpu *gpu_of(struct stat_time *time, struct stat_host *host, uint32_t device)
{
	int index = gpu_set__find(&time->set, host->gpu_of, device);

	if (index < 0)
		return NULL;
	host->uses |= 1ull << index;
	return &time->gpus[index];
}

static uint64_t bits(uint64_t map)
{
	/* Most are empty, and where the CPU is not known to count bits this is a call. */
	return map ? (uint64_t)__builtin_popcountll(map) << STAT_BIT_BITS : 0;
}

static uint64_t take(const struct stat_time *time, struct stat_line *line, uint64_t slice)
{
	uint64_t *word = stat_lines__word(&time->lines, line, slice), map = *word;

	*word = 0;
	return map;
}

/* Nothing of the GPU has come of this process: it is its first that it launches to, or waits for.
 */
static void assume_gpu(struct stat_time *time, struct stat_host *host, uint64_t slice)
{
	if (!host->uses && (*stat_lines__word(&time->lines, &host->lines[LAUNCH], slice) |
			    *stat_lines__word(&time->lines, &host->lines[WAIT], slice)))
		gpu_of(time, host, 0);
}

static void close_slice(void *context, uint64_t slice)
{
	struct stat_time *time = context;
	uint64_t launches[GPU_SET_MAX] = {}, waits[GPU_SET_MAX] = {};

	for (struct stat_host *host = time->hosts; host; host = host->next) {
		uint64_t launch, wait;

		if (!host->lines[LAUNCH].words)
			continue;
		assume_gpu(time, host, slice);
		launch = take(time, &host->lines[LAUNCH], slice);
		wait = take(time, &host->lines[WAIT], slice);
		for (uint32_t i = 0; (launch | wait) && i < time->set.count; i++) {
			if (!(host->uses >> i & 1))
				continue;
			launches[i] |= launch;
			waits[i] |= wait;
		}
	}
	for (uint32_t i = 0; i < time->set.count; i++) {
		struct gpu *gpu = &time->gpus[i];
		uint64_t kernel, copy, launch, wait;

		kernel = take(time, &gpu->lines[KERNEL], slice);
		copy = take(time, &gpu->lines[COPY], slice);
		launch = launches[i] | take(time, &gpu->lines[PAST_LAUNCH], slice);
		wait = waits[i] | take(time, &gpu->lines[PAST_WAIT], slice);
		gpu->sums.kernel_ns += bits(kernel);
		gpu->sums.copy_ns += bits(copy);
		gpu->sums.busy_ns += bits(kernel | copy);
		gpu->sums.host_bound_ns += bits(launch & ~(kernel | copy));
		gpu->sums.host_wait_ns += bits(wait & ~launch & ~(kernel | copy));
		stat_shares__close(time->shares, i, slice, kernel | copy);
		if (time->observer && kernel | copy)
			time->observer->busy(time->observer->context, i, slice << STAT_SLICE_BITS,
					     bits(kernel | copy));
	}
}

/* Whether the kernel of a launch in this slice is still to come, or one that is waited for. */
static bool expects(void *context, uint64_t slice)
{
	const struct stat_time *time = context;

	for (const struct stat_host *host = time->hosts; host; host = host->next) {
		if (!host->lines[LAUNCH].words || slice < host->gpu_end >> STAT_SLICE_BITS)
			continue;
		if (host->stamped && *stat_lines__word(&time->lines, &host->lines[LAUNCH], slice))
			return true;
		if (time->past && host->gpu_end &&
		    *stat_lines__word(&time->lines, &host->lines[WAIT], slice))
			return true;
	}
	return false;
}

struct stat_time *stat_time__new(void)
{
	struct stat_time *time = calloc(1, sizeof(*time));

	if (!time)
		return NULL;
	stat_lines__init(&time->lines);
	time->lines.context = time;
	time->lines.close = close_slice;
	time->lines.expects = expects;
	time->set.add = open_gpu;
	time->set.context = time;
	time->shares = stat_shares__new(&time->lines, GPU_SET_MAX);
	if (time->shares)
		return time;
	free(time);
	return NULL;
}

void stat_time__observe(struct stat_time *time, const struct stat_time_observer *observer)
{
	time->observer = observer;
}

void stat_time__set_past(struct stat_time *time)
{
	time->past = true;
}

void stat_time__set_mps(struct stat_time *time, bool (*is_mps)(void))
{
	stat_shares__set_mps(time->shares, is_mps);
}

void stat_time__set_owner(struct stat_host *host, void *owner)
{
	if (host)
		host->owner = owner;
}

void stat_time__name(struct stat_host *host, uint32_t pid, const char *comm, const char *cgroup)
{
	if (!host)
		return;
	host->user.pid = pid;
	snprintf(host->user.comm, sizeof(host->user.comm), "%s", comm);
	snprintf(host->user.cgroup, sizeof(host->user.cgroup), "%s", cgroup);
}

size_t stat_time__beyond(const struct stat_time *time)
{
	return stat_lines__beyond(&time->lines);
}

struct stat_host *stat_time__start(struct stat_time *time)
{
	struct stat_host *host = time ? calloc(1, sizeof(*host)) : NULL;

	if (!host)
		return NULL;
	host->next = time->hosts;
	host->link = &time->hosts;
	if (host->next)
		host->next->link = &host->next;
	time->hosts = host;
	return host;
}

void stat_time__clip(struct stat_host *host, const struct interval_set *windows)
{
	if (host)
		host->windows = windows;
}

void stat_time__set_window(struct stat_time_sums *sums, uint64_t ns)
{
	sums->window_ns = ns;
	sums->whole_ns = ns * (sums->gpu_count ? sums->gpu_count : 1);
}

void stat_time__free(struct stat_time *time)
{
	if (!time)
		return;
	while (time->hosts)
		stat_time__end(time, time->hosts);
	for (uint32_t i = 0; i < time->set.count; i++)
		stat_lines__close(&time->lines, time->gpus[i].lines, GPU_LINES);
	stat_shares__free(time->shares);
	free(time);
}

/* sharer: whose work it is; NULL = of the host. */
static void mark(struct stat_time *time, const struct stat_host *host, struct stat_line *line,
		 struct stat_sharer *sharer, const struct record_interval *interval)
{
	struct interval rest = {interval->start, interval->end}, part = rest;
	bool clipped = host->windows != NULL;
	/* Copies are not interrupted. */
	uint64_t old = interval->work == WORK_KERNEL ? interval->start + TIME_SLICE_NS : UINT64_MAX;

	while (!clipped || interval_set__next_part(host->windows, &rest, &part)) {
		stat_lines__mark(&time->lines, line, part.start, part.end);
		if (sharer)
			stat_shares__mark(time->shares, sharer, part.start, part.end, old);
		if (!clipped)
			return;
	}
}

static void mark_gpu(struct stat_time *time, struct stat_host *host,
		     const struct cuda_record *record, const struct record_interval *interval)
{
	enum gpu_line kind = interval->work == WORK_KERNEL ? KERNEL : COPY;
	struct stat_sharer **sharer;
	struct gpu *gpu;

	/* Before its place: this is what slices with launches wait for. */
	if (interval->end > host->gpu_end)
		host->gpu_end = interval->end;
	gpu = gpu_of(time, host, interval->device);
	if (gpu) {
		if (time->observer)
			time->observer->work(time->observer->context, host->owner,
					     (uint32_t)(gpu - time->gpus), record, interval->start,
					     interval->end);
		/* Before the mark, which is its own then. */
		sharer = &host->sharers[gpu - time->gpus];
		if (!*sharer)
			*sharer = stat_shares__add(time->shares, (uint32_t)(gpu - time->gpus),
						   &gpu->lines[KERNEL], &gpu->lines[COPY]);
		mark(time, host, &gpu->lines[kind], *sharer, interval);
		return;
	}
	/* More GPUs than there are lines for. */
	time->lines.late_events++;
	time->sums.late_gpu_ns += interval->end - interval->start;
}

static void note_device(struct stat_time *time, struct stat_host *host,
			const struct cuda_device *device)
{
	bool used = device->device < GPU_ORDINALS && host->gpu_of[device->device];
	int index = gpu_set__identify(&time->set, host->gpu_of, device);

	if (used && index >= 0)
		host->uses |= 1ull << index;
	if (time->observer && index >= 0)
		time->observer->gpu(time->observer->context, (uint32_t)index,
				    &time->set.list[index]);
}

/* Only with its first launch or wait: a process that has none takes no other one's place. */
static bool has_lines(struct stat_time *time, struct stat_host *host)
{
	if (host->lines[LAUNCH].words || host->left_out)
		return !host->left_out;
	host->left_out = time->host_count >= MAX_HOSTS ||
			 !stat_lines__open(&time->lines, host->lines, HOST_LINES);
	time->host_count += !host->left_out;
	return !host->left_out;
}

void stat_time__record(struct stat_time *time, struct stat_host *host,
		       const struct cuda_record *record)
{
	const struct cuda_launch *launch = (const void *)record;
	struct record_interval interval = {.work = WORK_NONE};
	bool possible;

	if (!time || !host)
		return;
	possible = record_times__interval(record, &interval);
	if (possible && (interval.work == WORK_KERNEL || interval.work == WORK_COPY)) {
		mark_gpu(time, host, record, &interval);
	} else if (possible && has_lines(time, host)) {
		mark(time, host, &host->lines[interval.work == WORK_LAUNCH ? LAUNCH : WAIT], NULL,
		     &interval);
	}
	/* After it: one that loads a module for seconds does not wait for itself. */
	if (interval.work == WORK_LAUNCH)
		host->stamped = !launch->result && launch->flags & CUDA_LAUNCH_TIMED;
	if (record->kind == CUDA_RECORD_DEVICE)
		note_device(time, host, (const void *)record);
}

static bool much(uint64_t late, uint64_t placed)
{
	return late * DOUBTFUL > late + placed;
}

static void add_late(struct stat_time *time, const struct stat_line *a, const struct stat_line *b,
		     uint64_t *late_ns)
{
	*late_ns += a->late + b->late;
	time->sums.doubtful += much(a->late + b->late, a->length + b->length);
}

/* What is not closed yet is the past of the GPUs that it used. */
static void leave_past(struct stat_time *time, struct stat_host *host)
{
	for (uint64_t slice = time->lines.oldest; slice < time->lines.oldest + time->lines.size;
	     slice++) {
		uint64_t launch, wait;

		assume_gpu(time, host, slice);
		launch = *stat_lines__word(&time->lines, &host->lines[LAUNCH], slice);
		wait = *stat_lines__word(&time->lines, &host->lines[WAIT], slice);
		for (uint32_t i = 0; (launch | wait) && i < time->set.count; i++) {
			if (!(host->uses >> i & 1))
				continue;
			*stat_lines__word(&time->lines, &time->gpus[i].lines[PAST_LAUNCH], slice) |=
				launch;
			*stat_lines__word(&time->lines, &time->gpus[i].lines[PAST_WAIT], slice) |=
				wait;
		}
	}
}

void stat_time__end(struct stat_time *time, struct stat_host *host)
{
	if (!host)
		return;
	if (host->lines[LAUNCH].words) {
		leave_past(time, host);
		add_late(time, &host->lines[LAUNCH], &host->lines[WAIT], &time->sums.late_host_ns);
		stat_lines__close(&time->lines, host->lines, HOST_LINES);
		time->host_count--;
	}
	time->sums.left_out += host->left_out;
	for (uint32_t i = 0; i < time->set.count; i++)
		stat_shares__end(time->shares, host->sharers[i], &host->user);
	*host->link = host->next;
	if (host->next)
		host->next->link = host->link;
	free(host);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void add_gpu_sums(struct stat_time *time, const struct gpu *gpu)
{
	struct stat_time_sums *sums = &time->sums;
	uint32_t index = (uint32_t)(gpu - time->gpus);
	const struct gpu_identity *identity = &time->set.list[index];
	struct stat_gpu *of = &sums->gpus[sums->gpu_count++];

	*of = gpu->sums;
	of->device = identity->ordinal;
	of->known = identity->known;
	memcpy(of->uuid, identity->uuid, sizeof(of->uuid));
	of->kernel_ns = least(of->kernel_ns, gpu->lines[KERNEL].length);
	of->copy_ns = least(of->copy_ns, gpu->lines[COPY].length);
	of->busy_ns = least(of->busy_ns, of->kernel_ns + of->copy_ns);
	of->index = index;
	stat_shares__finish(time->shares, index, of->busy_ns);
	of->nobodys_ns = stat_shares__nobodys(time->shares, index);
	sums->kernel_ns += of->kernel_ns;
	sums->copy_ns += of->copy_ns;
	sums->busy_ns += of->busy_ns;
	sums->host_bound_ns += of->host_bound_ns;
	sums->host_wait_ns += of->host_wait_ns;
}

static int by_device(const void *a, const void *b)
{
	const struct stat_gpu *left = a, *right = b;

	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return memcmp(left->uuid, right->uuid, sizeof(left->uuid));
}

void stat_time__finish(struct stat_time *time, struct stat_time_sums *sums)
{
	if (!time || !time->lines.last) {
		*sums = (struct stat_time_sums){};
		return;
	}
	stat_lines__finish(&time->lines);
	time->sums.late_events = time->lines.late_events;
	for (uint32_t i = 0; i < time->set.count; i++) {
		struct gpu *gpu = &time->gpus[i];

		add_late(time, &gpu->lines[KERNEL], &gpu->lines[COPY], &time->sums.late_gpu_ns);
		if (gpu->lines[KERNEL].length || gpu->lines[COPY].length ||
		    gpu->sums.host_bound_ns || gpu->sums.host_wait_ns)
			add_gpu_sums(time, gpu);
	}
	qsort(time->sums.gpus, time->sums.gpu_count, sizeof(time->sums.gpus[0]), by_device);
	time->sums.shares = stat_shares__list(time->shares, &time->sums.share_count);
	time->sums.mps = stat_shares__mps(time->shares);
	time->sums.window_ns = time->lines.last - time->lines.first;
	time->sums.whole_ns =
		time->sums.window_ns * (time->sums.gpu_count ? time->sums.gpu_count : 1);
	*sums = time->sums;
}
