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

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/stat/stat_lines.h"

#define LONGEST	  (600ull * 1000000000) /* of one event; more is nonsense */
#define DOUBTFUL  100			/* one part in so many was late */
#define MAX_HOSTS 32			/* processes that have lines, at a time */
#define ORDINALS  64			/* devices of one process */

/* The last two of a GPU are of processes that have ended. */
enum gpu_line { KERNEL, COPY, PAST_LAUNCH, PAST_WAIT, GPU_LINES };
enum host_line { LAUNCH, WAIT, HOST_LINES };

struct gpu {
	struct stat_line lines[GPU_LINES];
	struct stat_gpu sums;
	uint8_t mig_uuid[16];
};

struct stat_host {
	struct stat_host *next;
	struct stat_line lines[HOST_LINES];
	uint64_t uses;		  /* a bit for each GPU */
	uint64_t gpu_end;	  /* ns: nothing of its GPUs came that ended later */
	bool stamped;		  /* the last launch that worked has a kernel to come */
	uint8_t gpu_of[ORDINALS]; /* index + 1; 0 = not used yet */
};

struct stat_time {
	struct stat_lines lines;
	unsigned int host_count; /* of those that have lines */
	struct stat_host *hosts;
	struct gpu gpus[STAT_MAX_GPUS];
	uint32_t gpu_count;
	struct stat_time_sums sums; /* of processes that have ended */
};

static struct gpu *add_gpu(struct stat_time *time, uint32_t device)
{
	struct gpu *gpu = &time->gpus[time->gpu_count];

	if (time->gpu_count == STAT_MAX_GPUS ||
	    !stat_lines__open(&time->lines, gpu->lines, GPU_LINES))
		return NULL;
	gpu->sums.device = device;
	time->gpu_count++;
	return gpu;
}

/* As long as the process has not said which device that is, the one that others call so. */
static struct gpu *gpu_of(struct stat_time *time, struct stat_host *host, uint32_t device)
{
	struct gpu *gpu = NULL;

	if (device >= ORDINALS)
		return NULL;
	if (host->gpu_of[device])
		gpu = &time->gpus[host->gpu_of[device] - 1];
	for (uint32_t i = 0; i < time->gpu_count && !gpu; i++)
		if (time->gpus[i].sums.device == device)
			gpu = &time->gpus[i];
	if (!gpu)
		gpu = add_gpu(time, device);
	if (!gpu)
		return NULL;
	host->gpu_of[device] = gpu - time->gpus + 1;
	host->uses |= 1ull << (gpu - time->gpus);
	return gpu;
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
	uint64_t launches[STAT_MAX_GPUS] = {}, waits[STAT_MAX_GPUS] = {};

	for (struct stat_host *host = time->hosts; host; host = host->next) {
		uint64_t launch, wait;

		if (!host->lines[LAUNCH].words)
			continue;
		assume_gpu(time, host, slice);
		launch = take(time, &host->lines[LAUNCH], slice);
		wait = take(time, &host->lines[WAIT], slice);
		for (uint32_t i = 0; (launch | wait) && i < time->gpu_count; i++) {
			if (!(host->uses >> i & 1))
				continue;
			launches[i] |= launch;
			waits[i] |= wait;
		}
	}
	for (uint32_t i = 0; i < time->gpu_count; i++) {
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
	}
}

/* Whether the kernel of a launch in this slice is still to come. */
static bool expects(void *context, uint64_t slice)
{
	const struct stat_time *time = context;

	for (const struct stat_host *host = time->hosts; host; host = host->next)
		if (host->stamped && host->lines[LAUNCH].words &&
		    slice > host->gpu_end >> STAT_SLICE_BITS &&
		    *stat_lines__word(&time->lines, &host->lines[LAUNCH], slice))
			return true;
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
	return time;
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
	if (time->host_count < MAX_HOSTS && stat_lines__open(&time->lines, host->lines, HOST_LINES))
		time->host_count++;
	host->next = time->hosts;
	time->hosts = host;
	return host;
}

void stat_time__free(struct stat_time *time)
{
	if (!time)
		return;
	while (time->hosts)
		stat_time__end(time, time->hosts, false);
	for (uint32_t i = 0; i < time->gpu_count; i++)
		stat_lines__close(&time->lines, time->gpus[i].lines, GPU_LINES);
	free(time);
}

static bool is_possible(uint64_t start, uint64_t end)
{
	return start && end >= start && end - start <= LONGEST;
}

static void mark_gpu(struct stat_time *time, struct stat_host *host, enum gpu_line kind,
		     uint32_t device, uint64_t start, uint64_t end)
{
	struct gpu *gpu;

	if (!is_possible(start, end))
		return;
	/* Before its place: this is what slices with launches wait for. */
	if (end > host->gpu_end)
		host->gpu_end = end;
	gpu = gpu_of(time, host, device);
	if (gpu) {
		stat_lines__mark(&time->lines, &gpu->lines[kind], start, end);
		return;
	}
	/* More GPUs than there are lines for. */
	time->lines.late_events++;
	time->sums.late_gpu_ns += end - start;
}

static void mark_host(struct stat_time *time, struct stat_host *host, enum host_line kind,
		      uint64_t start, uint64_t end)
{
	if (host->lines[kind].words && is_possible(start, end))
		stat_lines__mark(&time->lines, &host->lines[kind], start, end);
}

static struct gpu *find_known(struct stat_time *time, const struct cuda_device *device)
{
	for (uint32_t i = 0; i < time->gpu_count; i++) {
		struct gpu *gpu = &time->gpus[i];

		if (gpu->sums.known &&
		    !memcmp(gpu->sums.uuid, device->uuid, sizeof(device->uuid)) &&
		    !memcmp(gpu->mig_uuid, device->mig_uuid, sizeof(device->mig_uuid)))
			return gpu;
	}
	return NULL;
}

/* Which GPU the process means with this ordinal, at best before any work on it. What came before
 * counts for the GPU that it was taken for. */
static void note_device(struct stat_time *time, struct stat_host *host,
			const struct cuda_device *device)
{
	static const uint8_t none[16];
	struct gpu *gpu = find_known(time, device), *before;

	if (device->device >= ORDINALS || !memcmp(device->uuid, none, sizeof(none)))
		return;
	before =
		host->gpu_of[device->device] ? &time->gpus[host->gpu_of[device->device] - 1] : NULL;
	if (!gpu) {
		gpu = before && !before->sums.known ? before : add_gpu(time, device->device);
		if (!gpu)
			return;
		gpu->sums.known = true;
		memcpy(gpu->sums.uuid, device->uuid, sizeof(device->uuid));
		memcpy(gpu->mig_uuid, device->mig_uuid, sizeof(device->mig_uuid));
	}
	host->gpu_of[device->device] = gpu - time->gpus + 1;
	if (before)
		host->uses |= 1ull << (gpu - time->gpus);
}

void stat_time__record(struct stat_time *time, struct stat_host *host,
		       const struct cuda_record *record)
{
	const struct cuda_kernel *kernel = (const void *)record;
	const struct cuda_memcpy *copy = (const void *)record;
	const struct cuda_memset *set = (const void *)record;
	const struct cuda_graph *graph = (const void *)record;
	const struct cuda_launch *launch = (const void *)record;
	const struct cuda_sync *sync = (const void *)record;

	if (!time || !host)
		return;
	switch (record->kind) {
	case CUDA_RECORD_KERNEL:
		mark_gpu(time, host, KERNEL, kernel->device, kernel->start, kernel->end);
		break;
	case CUDA_RECORD_GRAPH:
		mark_gpu(time, host, KERNEL, graph->device, graph->start, graph->end);
		break;
	case CUDA_RECORD_MEMCPY:
		mark_gpu(time, host, COPY, copy->device, copy->start, copy->end);
		break;
	case CUDA_RECORD_MEMSET:
		mark_gpu(time, host, COPY, set->device, set->start, set->end);
		break;
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		mark_host(time, host, LAUNCH, launch->start, launch->end);
		/* After it: one that loads a module for seconds does not wait for itself. */
		host->stamped = !launch->result && launch->flags & CUDA_LAUNCH_TIMED;
		break;
	case CUDA_RECORD_SYNC:
		/* A stream that waits for an event holds up no host thread. */
		if (sync->type != 2)
			mark_host(time, host, WAIT, sync->start, sync->end);
		break;
	case CUDA_RECORD_DEVICE:
		note_device(time, host, (const void *)record);
		break;
	}
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
		for (uint32_t i = 0; (launch | wait) && i < time->gpu_count; i++) {
			if (!(host->uses >> i & 1))
				continue;
			*stat_lines__word(&time->lines, &time->gpus[i].lines[PAST_LAUNCH], slice) |=
				launch;
			*stat_lines__word(&time->lines, &time->gpus[i].lines[PAST_WAIT], slice) |=
				wait;
		}
	}
}

void stat_time__end(struct stat_time *time, struct stat_host *host, bool active)
{
	struct stat_host **link = time ? &time->hosts : NULL;

	if (!host)
		return;
	if (host->lines[LAUNCH].words) {
		leave_past(time, host);
		add_late(time, &host->lines[LAUNCH], &host->lines[WAIT], &time->sums.late_host_ns);
		stat_lines__close(&time->lines, host->lines, HOST_LINES);
		time->host_count--;
	} else {
		time->sums.left_out += active;
	}
	while (*link != host)
		link = &(*link)->next;
	*link = host->next;
	free(host);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void add_gpu_sums(struct stat_time_sums *sums, struct gpu *gpu)
{
	struct stat_gpu *of = &sums->gpus[sums->gpu_count++];

	*of = gpu->sums;
	of->kernel_ns = least(of->kernel_ns, gpu->lines[KERNEL].length);
	of->copy_ns = least(of->copy_ns, gpu->lines[COPY].length);
	of->busy_ns = least(of->busy_ns, of->kernel_ns + of->copy_ns);
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
	for (uint32_t i = 0; i < time->gpu_count; i++) {
		struct gpu *gpu = &time->gpus[i];

		add_late(time, &gpu->lines[KERNEL], &gpu->lines[COPY], &time->sums.late_gpu_ns);
		if (gpu->lines[KERNEL].length || gpu->lines[COPY].length ||
		    gpu->sums.host_bound_ns || gpu->sums.host_wait_ns)
			add_gpu_sums(&time->sums, gpu);
	}
	qsort(time->sums.gpus, time->sums.gpu_count, sizeof(time->sums.gpus[0]), by_device);
	time->sums.window_ns = time->lines.last - time->lines.first;
	time->sums.whole_ns =
		time->sums.window_ns * (time->sums.gpu_count ? time->sums.gpu_count : 1);
	*sums = time->sums;
}
