// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ratios are gauges over the last seconds, bytes are counters: the sum of each sample's rate times
 * its length is what went over the link.
 */
#include "cuda-trace/metrics/metrics_device.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "cuda-trace/base/event_keys.h"
#include "cuda-trace/metrics/metrics_text.h"
#include "cuda-trace/profile/device/pm_table.h"

#define SECONDS	  5 /* a gauge is the mean of so many */
#define EVERY_NS  1000000
#define SECOND_NS 1000000000ull
#define TRY_AGAIN 30
#define START_MS  5000

struct device_sums {
	struct pm_table table;
	struct pm_row last[SECONDS];
	unsigned int next;
	double bytes[PM_COLUMNS];
	double created;
};

struct device_metrics {
	pthread_mutex_t lock;
	struct pm_request request;
	struct pm_source *source;
};

static double now_unix(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void on_started(void *context, struct pm_device *device)
{
	struct device_sums *sums = device->data;

	if (sums)
		return;
	device->data = sums = calloc(1, sizeof(*sums));
	if (sums)
		sums->created = now_unix();
	fprintf(stderr, "cuda-trace metrics: GPU %u is sampled\n", device->number);
}

static void on_trouble(void *context, struct pm_device *device, const char *text)
{
	fprintf(stderr, "cuda-trace metrics: GPU %u: %s\n", device->number, text);
}

static void on_sample(void *context, struct pm_device *device, const struct pm_sample *sample_in)
{
	const struct device_metrics *metrics = context;
	const struct pm_choice *choice = &metrics->request.choice;
	struct device_sums *sums = device->data;
	struct pm_sample sample = *sample_in;

	if (!sums)
		return;
	if (sums->table.row.samples && sample.end - sums->table.row.start > SECOND_NS) {
		pm_table__next(&sums->table, device->lost, &sums->last[sums->next]);
		sums->next = (sums->next + 1) % SECONDS;
	}
	pm_table__scale(choice, &sample);
	pm_table__add(&sums->table, choice, &sample);
	for (size_t i = 0; i < choice->count; i++)
		if (choice->columns[i].unit == PM_BYTES && sample.values[i] > 0)
			sums->bytes[i] += sample.values[i] * (sample.end - sample.start) / 1e9;
}

struct device_metrics *device_metrics__open(struct pm_choice *choice)
{
	struct device_metrics *metrics = calloc(1, sizeof(*metrics));
	const struct pm_sink sink = {.context = metrics,
				     .started = on_started,
				     .sample = on_sample,
				     .trouble = on_trouble};

	if (!metrics)
		return NULL;
	pthread_mutex_init(&metrics->lock, NULL);
	metrics->request =
		(struct pm_request){.choice = *choice, .every = EVERY_NS, .try_again = TRY_AGAIN};
	metrics->source = pm_source__open(&metrics->request, 0, &sink);
	if (metrics->source) {
		/* The first says how many GPUs there are, for each of which a process is forked. */
		for (int i = 0; i < START_MS / 100 && !pm_source__is_complete(metrics->source); i++)
			pm_source__poll(metrics->source, 100);
		return metrics;
	}
	device_metrics__close(metrics);
	return NULL;
}

void device_metrics__poll(struct device_metrics *metrics)
{
	if (!metrics)
		return;
	pthread_mutex_lock(&metrics->lock);
	pm_source__poll(metrics->source, 0);
	pthread_mutex_unlock(&metrics->lock);
}

static double mean_of(const struct device_sums *sums, size_t column)
{
	double sum = sums->table.row.cells[column].sum;
	uint64_t ns = sums->table.row.ns;

	for (int i = 0; i < SECONDS; i++) {
		sum += sums->last[i].cells[column].sum;
		ns += sums->last[i].ns;
	}
	return ns ? sum / ns : NAN;
}

/* Each device with its labels, "device=...,uuid=..." and one more, if there is one. */
typedef void put_function(struct exposition *exposition, const char *labels,
			  const struct pm_device *device, size_t column);

static void put_device(struct exposition *exposition, const struct pm_device *device,
		       const char *name, const char *value, size_t column, put_function *put)
{
	char *labels = NULL, uuid[48];
	size_t size;
	FILE *file = open_memstream(&labels, &size);

	if (!file)
		return;
	fprintf(file, "device=\"%u\",uuid=\"%s\"", device->number,
		stat_objects__uuid(uuid, "GPU", device->hello.uuid));
	if (name) {
		fprintf(file, ",%s=", name);
		metrics_text__write_label(file, value);
	}
	if (!fclose(file))
		put(exposition, labels, device, column);
	free(labels);
}

static void write_columns(struct exposition *exposition, const struct device_metrics *metrics,
			  enum pm_unit unit, const char *name, put_function *put)
{
	const struct pm_choice *choice = &metrics->request.choice;
	const struct pm_device *device;

	for (unsigned int d = 0; (device = pm_source__device(metrics->source, d)); d++)
		for (size_t i = 0; i < choice->count; i++)
			if (device->data && choice->columns[i].unit == unit &&
			    device->started.chosen[i] >= 0)
				put_device(exposition, device, name, choice->columns[i].key, i,
					   put);
}

static void write_devices(struct exposition *exposition, const struct device_metrics *metrics,
			  put_function *put)
{
	const struct pm_device *device;

	for (unsigned int d = 0; (device = pm_source__device(metrics->source, d)); d++)
		if (device->hello.devices)
			put_device(exposition, device, NULL, NULL, 0, put);
}

/* While nobody samples nothing is known, and a gauge would stand still. */
static void put_mean(struct exposition *exposition, const char *labels,
		     const struct pm_device *device, size_t column)
{
	double mean = mean_of(device->data, column);

	if (device->is_started && !isnan(mean))
		exposition__value(exposition, labels, mean, 0);
}

static void put_bytes(struct exposition *exposition, const char *labels,
		      const struct pm_device *device, size_t column)
{
	const struct device_sums *sums = device->data;

	exposition__count(exposition, labels, sums->bytes[column], sums->created);
}

static void put_sampled(struct exposition *exposition, const char *labels,
			const struct pm_device *device, size_t column)
{
	exposition__count(exposition, labels, device->is_started, 0);
}

static void put_samples(struct exposition *exposition, const char *labels,
			const struct pm_device *device, size_t column)
{
	const struct device_sums *sums = device->data;

	if (sums)
		exposition__count(exposition, labels, device->samples, sums->created);
}

static void put_lost(struct exposition *exposition, const char *labels,
		     const struct pm_device *device, size_t column)
{
	const struct device_sums *sums = device->data;

	if (sums)
		exposition__count(exposition, labels, device->lost, sums->created);
}

#define FAMILY(exposition, type, name, unit, help) \
	exposition__family(exposition, &(const struct metric){type, name, unit, help})

void device_metrics__write(struct exposition *exposition, struct device_metrics *metrics)
{
	if (!metrics)
		return;
	pthread_mutex_lock(&metrics->lock);
	FAMILY(exposition, METRIC_GAUGE, "cuda_device_utilization_ratio", "ratio",
	       "Utilisation of a unit of a GPU by all processes: mean of the last 5 s.");
	write_columns(exposition, metrics, PM_RATIO, "part", put_mean);
	FAMILY(exposition, METRIC_COUNTER, "cuda_device_traffic_bytes", "bytes",
	       "Bytes that a GPU transferred for all processes, by path.");
	write_columns(exposition, metrics, PM_BYTES, "path", put_bytes);
	FAMILY(exposition, METRIC_GAUGE, "cuda_device_metric", "",
	       "A metric of CUPTI's that was requested by name: the mean of the last 5 s.");
	write_columns(exposition, metrics, PM_OTHER, "metric", put_mean);
	FAMILY(exposition, METRIC_GAUGE, "cuda_device_sampled", "",
	       "1 while a GPU's counters are read, 0 while another profiler uses them.");
	write_devices(exposition, metrics, put_sampled);
	FAMILY(exposition, METRIC_COUNTER, "cuda_device_samples", "", "Samples of a GPU.");
	write_devices(exposition, metrics, put_samples);
	FAMILY(exposition, METRIC_COUNTER, "cuda_device_lost_samples", "",
	       "Samples of a GPU that are missing.");
	write_devices(exposition, metrics, put_lost);
	pthread_mutex_unlock(&metrics->lock);
}

void device_metrics__close(struct device_metrics *metrics)
{
	struct pm_device *device;

	if (!metrics)
		return;
	if (metrics->source)
		pm_source__finish(metrics->source);
	for (unsigned int d = 0;
	     metrics->source && (device = pm_source__device(metrics->source, d)); d++) {
		free(device->data);
		device->data = NULL;
	}
	pm_source__close(metrics->source);
	pm_choice__free(&metrics->request.choice);
	pthread_mutex_destroy(&metrics->lock);
	free(metrics);
}
