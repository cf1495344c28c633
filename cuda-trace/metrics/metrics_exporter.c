// SPDX-License-Identifier: BSD-2-Clause
/*
 * Puts what live.c hands out under label sets. poll() is called by the command's main loop,
 * scrape() by the HTTP server's threads or the textfile writer.
 */
#include "cuda-trace/metrics/metrics_exporter.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cuda-trace/live/live_sample.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/live/live_gpus.h"
#include "cuda-trace/metrics/metrics_collectives.h"
#include "cuda-trace/metrics/metrics_protobuf.h"

#define COLLECT_SECONDS 5

struct exporter {
	pthread_mutex_t lock;
	struct exporter_options options;
	struct live *live;
	struct exporter_view view;
	struct exporter_devices devices;
	time_t next_collect;
};

/* A process's label sets by device; the last is for what has no device. */
struct holder {
	struct series_labels labels;
	struct series *series[AGGREGATE_DEVICES + 1];
};

static double now_unix(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void on_start(void *context, struct live_process *process)
{
	struct exporter *exporter = context;
	struct holder *holder = calloc(1, sizeof(*holder));

	process->data = holder;
	if (!holder)
		return;
	text__show(holder->labels.comm, sizeof(holder->labels.comm), process->state.comm, 0);
	text__show(holder->labels.container, sizeof(holder->labels.container), process->container,
		   0);
	/* The root group says nothing. */
	if (!*process->container && strcmp(process->cgroup, "/"))
		text__show(holder->labels.cgroup, sizeof(holder->labels.cgroup), process->cgroup,
			   96);
	holder->labels.origin = process->origin;
	holder->labels.source = process->key.source;
	holder->labels.rank = process->rank.known ? (int32_t)process->rank.rank : -1;
	if (exporter->options.by_pid)
		holder->labels.pid = process->key.pid;
}

static void release_series(struct holder *holder)
{
	for (int i = 0; i <= AGGREGATE_DEVICES; i++)
		if (holder->series[i])
			series__release(holder->series[i]);
	memset(holder->series, 0, sizeof(holder->series));
}

/* An engine was slower than the process's first records: what it did until now stays where it is.
 */
static void rename_series(struct holder *holder, const struct live_process *process)
{
	if (!memcmp(&holder->labels.origin, &process->origin, sizeof(process->origin)))
		return;
	release_series(holder);
	holder->labels.origin = process->origin;
}

static struct series *series_of(struct exporter *exporter, struct live_process *process,
				uint32_t device)
{
	uint32_t place = device < AGGREGATE_DEVICES ? device : AGGREGATE_DEVICES;
	struct holder *holder = process->data;

	if (!holder || !process->slot)
		return series_table__other(exporter->view.series);
	rename_series(holder, process);
	if (!holder->series[place]) {
		holder->labels.device = place < AGGREGATE_DEVICES ? place : LIVE_NO_DEVICE;
		holder->series[place] = series_table__get(exporter->view.series, &holder->labels);
		series__hold(holder->series[place]);
	}
	return holder->series[place];
}

/* Held until the last of the process's time is divided, which is after its end. */
static void *on_share_start(void *context, struct live_process *process, uint32_t device)
{
	struct series *series = series_of(context, process, device);

	series__hold(series);
	return series;
}

static void on_share(void *context, void *whose, double ns)
{
	((struct series *)whose)->share_ns += ns;
}

static void on_energy(void *context, void *whose, double joules)
{
	struct series *series = whose;

	series->joules += joules;
	series->kernel_joules += joules;
}

static void on_share_end(void *context, void *whose)
{
	series__release(whose);
}

/* Of a communicator the rank is another one. */
static void name_ranks(void *context, struct live_process *process)
{
	const struct exporter *exporter = context;
	const struct holder *holder = process->data;
	struct series_labels labels;

	if (!exporter->view.comms || !holder || process->key.source != EVENT_SOURCE_AGENT)
		return;
	labels = holder->labels;
	labels.origin = process->origin;
	labels.device = LIVE_NO_DEVICE;
	labels.rank = -1;
	metrics_collectives__name(exporter->view.comms, process->key.pid, &labels);
}

static void on_end(void *context, struct live_process *process)
{
	struct holder *holder = process->data;

	name_ranks(context, process);
	if (holder)
		release_series(holder);
	free(holder);
	process->data = NULL;
}

/* libcuda's entry points show the kind of copy, agents report the call's name. */
static void add_failed(struct series *series, const struct live_process *process,
		       const struct tally_key *key, uint64_t count)
{
	if (process->key.source == EVENT_SOURCE_DRIVER)
		series->failed.copies[sums__direction_of(key->name)] += count;
	else
		failed_calls__add(&series->failed, live__known_name(process, key->name), count);
}

static void on_tally(void *context, struct live_process *process, uint32_t device,
		     const struct tally_key *key, const struct tally *tally)
{
	struct exporter *exporter = context;
	struct series *series = series_of(exporter, process, device);

	sums__add_tally(&series->sums, key, tally);
	if (key->kind == TALLY_KERNEL && process->scale > 1)
		series->kernel_variance += live_sample__variance(tally, process->scale);
	if (key->kind == TALLY_ERROR)
		series__add_error(series, key->name, key->detail, tally->count);
	if (key->kind == TALLY_FAILED && key->detail == CUDA_GROUP_API_COPY)
		add_failed(series, process, key, tally->count);
	if (key->kind == TALLY_KERNEL && exporter->view.kernels)
		kernels__add(exporter->view.kernels, series, live__known_name(process, key->name),
			     tally->count, tally->ns);
}

static void on_shape(void *context, struct live_process *process, uint32_t device,
		     const struct shape *shape)
{
	sums__add_shape(&series_of(context, process, device)->sums, shape);
}

static void on_device(void *context, struct live_process *process,
		      const struct cuda_device *reported)
{
	struct exporter *exporter = context;
	struct exporter_devices *devices = &exporter->devices;
	struct exporter_device device = {
		.ordinal = reported->device,
		.gpu = live_gpus__of(process, reported->device),
	};
	const char *name = live__known_name(process, reported->name);
	char pci[sizeof(reported->pci) + 1] = {};

	live_energy__gpu(exporter->view.energy, (uint32_t)device.gpu, reported);
	live_gpus__uuid(device.uuid, reported);
	memcpy(pci, reported->pci, sizeof(reported->pci));
	text__show(device.pci, sizeof(device.pci), pci, 16);
	text__show(device.name, sizeof(device.name), name ? name : "", 64);
	for (unsigned int i = 0; i < devices->count; i++)
		if (devices->device[i].ordinal == device.ordinal &&
		    !strcmp(devices->device[i].uuid, device.uuid)) {
			if (*device.name)
				devices->device[i] = device;
			return;
		}
	if (devices->count < EXPORTER_DEVICES)
		devices->device[devices->count++] = device;
	else
		devices->dropped++;
}

static void on_dropped(void *context, struct series *series)
{
	struct exporter *exporter = context;

	if (exporter->view.kernels)
		kernels__forget(exporter->view.kernels, series);
}

struct exporter *exporter__open(const struct exporter_options *options)
{
	struct exporter *exporter = calloc(1, sizeof(*exporter));
	const struct live_sink sink = {
		.context = exporter,
		.process_start = on_start,
		.tally = on_tally,
		.shape = on_shape,
		.device = on_device,
		.share_start = on_share_start,
		.share = on_share,
		.energy = on_energy,
		.share_end = on_share_end,
		.process_end = on_end,
	};

	if (!exporter)
		return NULL;
	pthread_mutex_init(&exporter->lock, NULL);
	exporter->options = *options;
	exporter->options.live.by_name = options->by_kernel != 0;
	exporter->options.live.by_device = true;
	exporter->options.live.collective_ranks = options->label_sets;
	exporter->options.live.shares = !options->live.session.sample_on_ms;
	exporter->view.started = now_unix(CLOCK_REALTIME);
	exporter->view.label_sets = options->label_sets;
	exporter->view.sample_on_ms = options->live.session.sample_on_ms;
	exporter->view.sample_every_ms = options->live.session.sample_every_ms;
	exporter->view.whole_copies = options->live.sample.whole_copies;
	exporter->view.devices = &exporter->devices;
	exporter->view.counters = options->counters;
	exporter->view.energy = options->live.energy;
	exporter->view.series = series_table__new(options->label_sets, on_dropped, exporter);
	if (options->by_kernel)
		exporter->view.kernels = kernels__new(options->by_kernel);
	if (exporter->view.series && (exporter->view.kernels || !options->by_kernel))
		exporter->live = live__open(&exporter->options.live, &sink);
	if (exporter->live) {
		exporter->view.idle = live__idle(exporter->live);
		exporter->view.comms = live__collectives(exporter->live);
		return exporter;
	}
	exporter__close(exporter);
	return NULL;
}

static void forget_live_bytes(void *context, struct series *series)
{
	series->live_bytes = series->peak_bytes = 0;
}

static void add_live_bytes(void *context, struct live_process *process)
{
	struct holder *holder = process->data;

	for (int i = 0; holder && i <= AGGREGATE_DEVICES; i++)
		if (holder->series[i]) {
			holder->series[i]->live_bytes += process->state.live[i];
			holder->series[i]->peak_bytes += process->state.peak[i];
		}
}

static void collect(struct exporter *exporter)
{
	double began = now_unix(CLOCK_MONOTONIC);

	exporter->next_collect = time(NULL) + COLLECT_SECONDS;
	if (live__collect(exporter->live)) {
		exporter->view.postponed++;
		return;
	}
	exporter->view.sample_on_ms = live__window(exporter->live);
	exporter->view.limited = live__overhead(exporter->live, &exporter->view.overhead);
	if (exporter->view.kernels)
		kernels__divide(exporter->view.kernels, exporter->view.series);
	if (exporter->view.kernels)
		kernels__rank(exporter->view.kernels);
	series_table__expire(exporter->view.series, exporter->options.forget_seconds);
	metrics_collectives__expire(exporter->view.comms, exporter->options.forget_seconds);
	series_table__each(exporter->view.series, forget_live_bytes, NULL);
	live__each_process(exporter->live, add_live_bytes, NULL);
	exporter->view.collect_seconds = now_unix(CLOCK_MONOTONIC) - began;
}

int exporter__poll(struct exporter *exporter)
{
	int err;

	pthread_mutex_lock(&exporter->lock);
	err = live__poll(exporter->live, 0);
	if (time(NULL) >= exporter->next_collect)
		collect(exporter);
	pthread_mutex_unlock(&exporter->lock);
	return err == -EINTR ? 0 : err;
}

void exporter__wait(const struct exporter *exporter, int timeout_ms)
{
	live__wait(exporter->live, timeout_ms);
}

int exporter__scrape(struct exporter *exporter, enum exposition_form form, bool embedded,
		     char **text, size_t *size)
{
	struct protobuf protobuf = {};
	struct exposition exposition = {
		.openmetrics = form == EXPOSITION_OPENMETRICS,
		.created = exporter->options.created,
		.protobuf = form == EXPOSITION_PROTOBUF ? &protobuf : NULL,
	};

	exposition.file = open_memstream(text, size);
	if (!exposition.file)
		return -errno;
	pthread_mutex_lock(&exporter->lock);
	/* Names and ends first: what is collected then has them. */
	live__poll(exporter->live, 0);
	collect(exporter);
	exporter->view.scrapes++;
	exporter->view.embedded = embedded;
	live__state(exporter->live, &exporter->view.state);
	live__each_process(exporter->live, name_ranks, exporter);
	families__write(&exposition, &exporter->view);
	pthread_mutex_unlock(&exporter->lock);
	exposition__end(&exposition);
	free(protobuf.data);
	return fclose(exposition.file) || protobuf.failed ? -ENOMEM : 0;
}

void exporter__close(struct exporter *exporter)
{
	if (!exporter)
		return;
	live__close(exporter->live);
	series_table__free(exporter->view.series);
	kernels__free(exporter->view.kernels);
	pthread_mutex_destroy(&exporter->lock);
	free(exporter);
}
