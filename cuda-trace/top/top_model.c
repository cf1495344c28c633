// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes, devices and kernels of top. Called by the command's main loop.
 */
#include "cuda-trace/top/top_model.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/live/live_gpus.h"
#include "cuda-trace/live/live_lost.h"

#define MAX_KERNELS 4096 /* of one process; the last is for all others */

static const char *source_of(const struct live_process *live)
{
	if (live->key.source == EVENT_SOURCE_DRIVER)
		return "driver";
	if (live->traced && live->traced->status.state == CUDA_STATE_INERT)
		return "none";
	return "cupti";
}

static void on_start(void *context, struct live_process *live)
{
	struct top_model *model = context;
	struct top_process *process = calloc(1, sizeof(*process));
	struct passwd *user;

	live->data = process;
	if (!process)
		return;
	process->live = live;
	process->pid = live->key.pid;
	memcpy(process->comm, live->state.comm, sizeof(process->comm));
	memcpy(process->container, live->container, sizeof(process->container));
	process->origin = live->origin;
	process->rank = live->rank;
	user = getpwuid(live->state.uid);
	if (user)
		snprintf(process->user, sizeof(process->user), "%s", user->pw_name);
	else
		snprintf(process->user, sizeof(process->user), "%u", live->state.uid);
	process->source = source_of(live);
	process->no_gpu = live->key.source == EVENT_SOURCE_DRIVER;
	process->next = model->processes;
	model->processes = process;
}

static void on_end(void *context, struct live_process *live)
{
	struct top_process *process = live->data;

	if (!process)
		return;
	process->ended = true;
	process->live = NULL;
	process->live_bytes = 0;
}

static void name_kernel(struct top_process *process, struct top_kernel *kernel)
{
	char nameless[32];
	const char *name;

	if (kernel->named || !process->live)
		return;
	name = live__known_name(process->live, kernel->id);
	kernel->named = name != NULL;
	if (!name && kernel->name)
		return;
	free(kernel->name);
	kernel->name = strdup(name ? name : live__name(process->live, kernel->id, nameless));
}

static struct top_kernel *kernel_of(struct top_process *process, uint32_t id, uint32_t device)
{
	for (uint32_t i = 0; i < process->kernel_count; i++)
		if (process->kernels[i].id == id && process->kernels[i].device == device)
			return &process->kernels[i];
	if (process->kernel_count == MAX_KERNELS)
		return &process->kernels[MAX_KERNELS - 1];
	/* The last of them takes in all that come after it. */
	if (process->kernel_count == MAX_KERNELS - 1)
		id = AGGREGATE_NAME_REST;
	if (!array_grow__counted(process->kernels, process->kernel_count))
		return NULL;
	process->kernels[process->kernel_count] = (struct top_kernel){.id = id, .device = device};
	return &process->kernels[process->kernel_count++];
}

static void add_kernel(struct top_process *process, uint32_t device, const struct tally_key *key,
		       const struct tally *tally)
{
	struct top_kernel *kernel = kernel_of(process, key->name, device);

	if (!kernel)
		return;
	histogram__add(&kernel->total, tally->ns, tally->ns_log2);
	if (tally->max_ns > kernel->max_ns)
		kernel->max_ns = tally->max_ns;
	kernel->now_ns += tally->ns;
	kernel->now_count += tally->count;
	name_kernel(process, kernel);
}

/* A drain may come before the interval ends, with the end of a process: intervals begin anew only
 * when the last was shown. */
static void on_tally(void *context, struct live_process *live, uint32_t device,
		     const struct tally_key *key, const struct tally *tally)
{
	struct top_process *process = live->data;

	if (!process)
		return;
	sums__add_tally(&process->total, key, tally);
	sums__add_tally(&process->now, key, tally);
	if (key->kind == TALLY_KERNEL) {
		add_kernel(process, device, key, tally);
		if (device < AGGREGATE_DEVICES)
			process->busy_ns[device] += tally->busy_ns;
	}
	if (key->kind == TALLY_MEMCPY && device < AGGREGATE_DEVICES)
		process->copy_ns[device] += tally->busy_ns;
}

/* CUDA_VISIBLE_DEVICES gives each process its own numbers. */
static int row_of(const struct live_process *live, uint32_t device)
{
	int gpu = live_gpus__of(live, device);

	return gpu < 0 ? AGGREGATE_DEVICES + (int)device : gpu;
}

static void on_shape(void *context, struct live_process *live, uint32_t device,
		     const struct shape *shape)
{
	struct top_process *process = live->data;
	struct top_model *model = context;

	if (!process)
		return;
	sums__add_shape(&process->total, shape);
	sums__add_shape(&process->now, shape);
	if (device < AGGREGATE_DEVICES)
		model->devices[row_of(live, device)].launches += shape->launches;
}

static void on_device(void *context, struct live_process *live, const struct cuda_device *reported)
{
	struct top_model *model = context;
	const char *name = live__known_name(live, reported->name);
	struct top_device *device;

	if (reported->device >= AGGREGATE_DEVICES)
		return;
	device = &model->devices[row_of(live, reported->device)];
	if (!*device->uuid) {
		device->number = reported->device;
		live_gpus__uuid(device->uuid, reported);
	}
	device->seen = true;
	if (name)
		snprintf(device->name, sizeof(device->name), "%s", name);
}

struct top_model *top_model__open(const struct live_options *options)
{
	struct top_model *model = calloc(1, sizeof(*model));
	const struct live_sink sink = {
		.context = model,
		.process_start = on_start,
		.tally = on_tally,
		.shape = on_shape,
		.device = on_device,
		.process_end = on_end,
	};

	if (!model)
		return NULL;
	model->sample_every_ms = options->session.sample_every_ms;
	model->live = live__open(options, &sink);
	/* Attaching took a second or two: the first interval begins after it. */
	model->collected = monotonic__ns();
	if (model->live) {
		model->idle.idle = live__idle(model->live);
		return model;
	}
	top_model__close(model);
	return NULL;
}

static void begin_interval(struct top_model *model)
{
	for (struct top_process *process = model->processes; process; process = process->next) {
		memset(&process->now, 0, sizeof(process->now));
		memset(process->busy_ns, 0, sizeof(process->busy_ns));
		memset(process->copy_ns, 0, sizeof(process->copy_ns));
		for (uint32_t i = 0; i < process->kernel_count; i++)
			process->kernels[i].now_ns = process->kernels[i].now_count = 0;
	}
	for (int i = 0; i < TOP_ROWS; i++)
		model->devices[i].launches = 0;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

static void add_process(struct top_model *model, struct top_process *process)
{
	for (int number = 0; number < AGGREGATE_DEVICES; number++) {
		struct top_device *device;

		if (process->live)
			process->row_of[number] = row_of(process->live, number);
		device = &model->devices[process->row_of[number]];
		process->busy_ns[number] = at_most(process->busy_ns[number], model->interval_ns);
		process->copy_ns[number] = at_most(process->copy_ns[number], model->interval_ns);
		device->busy_ns += process->busy_ns[number];
		device->copy_ns += process->copy_ns[number];
		if (process->live)
			device->live_bytes += process->live->state.live[number];
	}
}

/* Windows of several processes are not at the same time, and have no union: of a sample, and of
 * what no GPU is known of, there is only the sum. */
static void add_union(struct top_model *model, int gpu)
{
	const struct aggregate_state *state = &model->state.aggregate;

	if (!model->sample_on_ms) {
		model->devices[gpu].busy_ns = state->gpu_busy_ns[gpu] - model->busy_before[gpu];
		model->devices[gpu].copy_ns = state->gpu_copy_ns[gpu] - model->copy_before[gpu];
	}
	model->busy_before[gpu] = state->gpu_busy_ns[gpu];
	model->copy_before[gpu] = state->gpu_copy_ns[gpu];
}

/* Batches are up to 100 ms late, so that a busy GPU may seem to have been busy for longer. */
static void sum_devices(struct top_model *model)
{
	for (int i = 0; i < TOP_ROWS; i++)
		model->devices[i].busy_ns = model->devices[i].copy_ns =
			model->devices[i].live_bytes = 0;
	for (struct top_process *process = model->processes; process; process = process->next)
		add_process(model, process);
	for (int gpu = 0; gpu < AGGREGATE_DEVICES; gpu++)
		add_union(model, gpu);
	for (int i = 0; i < TOP_ROWS; i++) {
		struct top_device *device = &model->devices[i];
		bool acts;

		device->busy_ns = at_most(device->busy_ns, model->interval_ns);
		device->copy_ns = at_most(device->copy_ns, model->interval_ns);
		acts = device->busy_ns || device->copy_ns || device->launches || device->live_bytes;
		device->seen = acts || (device->seen && i < AGGREGATE_DEVICES);
		if (i >= AGGREGATE_DEVICES)
			device->number = i - AGGREGATE_DEVICES;
	}
}

int top_model__collect(struct top_model *model)
{
	uint64_t now;
	int err;

	err = live__collect(model->live);
	if (err)
		return err;
	now = monotonic__ns();
	model->sample_on_ms = live__window(model->live);
	model->interval_ns = now - model->collected;
	model->collected = now;
	for (struct top_process *process = model->processes; process; process = process->next) {
		if (!process->live)
			continue;
		process->source = source_of(process->live);
		process->profiled = process->live->traced &&
				    agent_state__is_profiled(&process->live->traced->status);
		process->origin = process->live->origin;
		process->live_bytes = process->peak_bytes = 0;
		for (int i = 0; i <= AGGREGATE_DEVICES; i++) {
			process->live_bytes += process->live->state.live[i];
			process->peak_bytes += process->live->state.peak[i];
		}
	}
	live__state(model->live, &model->state);
	top_idle__look(&model->idle, now);
	sum_devices(model);
	return 0;
}

void top_model__figures(const struct top_model *model, const struct top_process *process,
			struct top_figures *figures)
{
	double ns = model->interval_ns ? model->interval_ns : 1, seconds = ns / 1e9;
	const struct sums *now = &process->now;

	*figures = (struct top_figures){
		.launches = now->launches / seconds,
		.graphs = now->graph_launches / seconds,
		.errors = process->total.errors,
	};
	for (int i = 0; i < AGGREGATE_DEVICES; i++) {
		figures->gpu += 100 * process->busy_ns[i] / ns;
		figures->copy += 100 * process->copy_ns[i] / ns;
	}
	for (int i = 0; i < SUMS_SYNC_TYPES; i++)
		if (i != SUMS_SYNC_STREAM_EVENT)
			figures->wait += now->syncs[i].sum / ns;
	for (int i = 0; i < SUMS_DIRECTION_COUNT; i++)
		figures->copied += now->copies[i].bytes / seconds;
}

struct top_process *top_model__find(struct top_model *model, uint32_t pid)
{
	struct top_process *process;

	for (process = model->processes; process; process = process->next)
		if (process->pid == pid)
			break;
	return process;
}

uint64_t top_model__lost(const struct top_model *model)
{
	return live_lost__total(&model->state);
}

static void free_process(struct top_process *process)
{
	for (uint32_t i = 0; i < process->kernel_count; i++)
		free(process->kernels[i].name);
	free(process->kernels);
	free(process);
}

void top_model__forget_ended(struct top_model *model, const struct top_process *keep)
{
	struct top_process **link = &model->processes;

	while (*link) {
		struct top_process *process = *link;

		if (!process->ended || process == keep) {
			link = &process->next;
			continue;
		}
		*link = process->next;
		free_process(process);
	}
	begin_interval(model);
}

void top_model__close(struct top_model *model)
{
	if (!model)
		return;
	live__close(model->live);
	while (model->processes) {
		struct top_process *process = model->processes;

		model->processes = process->next;
		free_process(process);
	}
	free(model);
}
