// SPDX-License-Identifier: BSD-2-Clause
/*
 * OpenTelemetry's names for GPUs, on a resource that is the host; and names of `cuda-trace metrics`
 * for processes, each on a resource of its own.
 */
#include "cuda-trace/push/push_otlp_metrics.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/push/push_attributes.h"

#define METRICS_MAX 4 /* of a resource */

struct packing {
	const struct push_metrics *metrics;
	const struct push_common_labels *labels;
	uint64_t from, until;
	struct push_arena arena;
};

/* A message with its defaults. */
#define NEW(packing, type, init)                                                        \
	({                                                                              \
		type *message_ = push_arena__get(&(packing)->arena, sizeof(*message_)); \
                                                                                        \
		if (message_)                                                           \
			init(message_);                                                 \
		message_;                                                               \
	})

static void **new_list(struct packing *packing, size_t count)
{
	return push_arena__get(&packing->arena, (count + 1) * sizeof(void *));
}

static void put_id(char text[48], const struct gpu_identity *gpu)
{
	static const uint8_t none[16];
	bool is_mig = memcmp(gpu->mig_uuid, none, sizeof(none)) != 0;
	const uint8_t *uuid = is_mig ? gpu->mig_uuid : gpu->uuid;
	int n;

	if (!gpu->known) {
		snprintf(text, 48, "device %u", gpu->ordinal);
		return;
	}
	n = snprintf(text, 48, is_mig ? "MIG-" : "GPU-");
	for (int i = 0; i < 16; i++)
		n += snprintf(text + n, 48 - n, "%s%02x",
			      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static bool put_gpu(struct packing *packing, uint32_t index, Otlp__NumberDataPoint *point,
		    const char *task)
{
	struct push_attributes attributes;
	char id[48];

	if (!push_attributes__begin(&attributes, &packing->arena))
		return false;
	put_id(id, &packing->metrics->set.list[index]);
	push_attributes__text(&attributes, "hw.id", id);
	push_attributes__text(&attributes, "hw.model", packing->metrics->gpus[index].model);
	push_attributes__text(&attributes, "hw.vendor", "NVIDIA");
	push_attributes__text(&attributes, "hw.gpu.task", task);
	point->attributes = attributes.list;
	point->n_attributes = attributes.count;
	point->start_time_unix_nano = packing->metrics->since;
	point->time_unix_nano = packing->until;
	return true;
}

static Otlp__Metric *new_metric(struct packing *packing, const char *name, const char *unit,
				const char *description)
{
	Otlp__Metric *metric = NEW(packing, Otlp__Metric, otlp__metric__init);

	if (!metric)
		return NULL;
	metric->name = (char *)name;
	metric->unit = (char *)unit;
	metric->description = (char *)description;
	return metric;
}

/* A sum since the start, of as many points as there may be GPUs. */
static Otlp__Metric *new_sum(struct packing *packing, const char *name, const char *unit,
			     const char *description, bool is_monotonic)
{
	Otlp__Metric *metric = new_metric(packing, name, unit, description);
	Otlp__Sum *sum = NEW(packing, Otlp__Sum, otlp__sum__init);

	if (!metric || !sum)
		return NULL;
	sum->data_points = (Otlp__NumberDataPoint **)new_list(packing, GPU_SET_MAX);
	sum->aggregation_temporality = OTLP__TEMPORALITY__CUMULATIVE;
	sum->is_monotonic = is_monotonic;
	metric->data_case = OTLP__METRIC__DATA_SUM;
	metric->sum = sum;
	return sum->data_points ? metric : NULL;
}

static Otlp__Metric *new_gauge(struct packing *packing, const char *name, const char *unit,
			       const char *description)
{
	Otlp__Metric *metric = new_metric(packing, name, unit, description);
	Otlp__Gauge *gauge = NEW(packing, Otlp__Gauge, otlp__gauge__init);

	if (!metric || !gauge)
		return NULL;
	gauge->data_points = (Otlp__NumberDataPoint **)new_list(packing, GPU_SET_MAX);
	metric->data_case = OTLP__METRIC__DATA_GAUGE;
	metric->gauge = gauge;
	return gauge->data_points ? metric : NULL;
}

static Otlp__NumberDataPoint *real_point(struct packing *packing, double value)
{
	Otlp__NumberDataPoint *point =
		NEW(packing, Otlp__NumberDataPoint, otlp__number_data_point__init);

	if (!point)
		return NULL;
	point->value_case = OTLP__NUMBER_DATA_POINT__VALUE_AS_DOUBLE;
	point->as_double = value;
	return point;
}

/* Records come up to some 100 ms after their time: what is more than all is of the time before. */
static double utilization(const struct packing *packing, const struct push_gpu *gpu)
{
	double busy = interval_set__length(&gpu->busy) - gpu->busy_before;
	double whole = packing->until - packing->from;

	return whole > 0 && busy < whole ? busy / whole : busy > 0;
}

static bool add_gpu(struct packing *packing, uint32_t index, Otlp__Gauge *used, Otlp__Sum *busy,
		    Otlp__Sum *memory)
{
	const struct push_gpu *gpu = &packing->metrics->gpus[index];
	Otlp__NumberDataPoint *points[3] = {
		real_point(packing, utilization(packing, gpu)),
		real_point(packing, interval_set__length(&gpu->busy) / 1e9),
		real_point(packing, 0),
	};

	for (int i = 0; i < 3; i++)
		if (!points[i] || !put_gpu(packing, index, points[i], i ? "" : "general"))
			return false;
	used->data_points[used->n_data_points++] = points[0];
	busy->data_points[busy->n_data_points++] = points[1];
	if (!gpu->memory)
		return true;
	points[2]->value_case = OTLP__NUMBER_DATA_POINT__VALUE_AS_INT;
	points[2]->as_int = gpu->memory;
	memory->data_points[memory->n_data_points++] = points[2];
	return true;
}

static Otlp__ResourceMetrics *new_resource(struct packing *packing,
					   const struct push_source *source)
{
	Otlp__ResourceMetrics *resource =
		NEW(packing, Otlp__ResourceMetrics, otlp__resource_metrics__init);
	Otlp__ScopeMetrics *scope = NEW(packing, Otlp__ScopeMetrics, otlp__scope_metrics__init);
	Otlp__Scope *who = NEW(packing, Otlp__Scope, otlp__scope__init);
	void **scopes = new_list(packing, 1);

	if (!resource || !scope || !who || !scopes)
		return NULL;
	resource->resource = push_attributes__resource(&packing->arena, packing->labels, source);
	resource->scope_metrics = (Otlp__ScopeMetrics **)scopes;
	resource->n_scope_metrics = 1;
	*scopes = scope;
	who->name = (char *)"cuda-trace";
	who->version = (char *)VERSION;
	scope->scope = who;
	scope->metrics = (Otlp__Metric **)new_list(packing, METRICS_MAX);
	return resource->resource && scope->metrics ? resource : NULL;
}

static void add_metric(Otlp__ResourceMetrics *resource, Otlp__Metric *metric)
{
	Otlp__ScopeMetrics *scope = *resource->scope_metrics;

	scope->metrics[scope->n_metrics++] = metric;
}

static Otlp__ResourceMetrics *pack_gpus(struct packing *packing)
{
	Otlp__ResourceMetrics *resource = new_resource(packing, NULL);
	Otlp__Metric *used =
		new_gauge(packing, "hw.gpu.utilization", "1",
			  "Part of the time in which kernels of observed programs ran.");
	Otlp__Metric *busy = new_sum(packing, "cuda_device_busy_seconds", "s",
				     "Time in which kernels of observed programs ran.", true);
	Otlp__Metric *memory =
		new_sum(packing, "hw.gpu.memory.limit", "By", "Size of the GPU's memory.", false);

	if (!resource || !used || !busy || !memory)
		return NULL;
	for (uint32_t i = 0; i < packing->metrics->set.count; i++)
		if (!add_gpu(packing, i, used->gauge, busy->sum, memory->sum))
			return NULL;
	add_metric(resource, used);
	add_metric(resource, busy);
	if (memory->sum->n_data_points)
		add_metric(resource, memory);
	return resource;
}

static Otlp__ResourceMetrics *pack_series(struct packing *packing, const struct push_series *series)
{
	Otlp__ResourceMetrics *resource = new_resource(packing, &series->source);
	Otlp__Metric *metric = new_metric(packing, "cuda_kernel_duration_seconds", "s",
					  "Time of kernels on the GPU.");
	Otlp__Histogram *histogram = NEW(packing, Otlp__Histogram, otlp__histogram__init);
	Otlp__HistogramDataPoint *point =
		NEW(packing, Otlp__HistogramDataPoint, otlp__histogram_data_point__init);
	struct push_attributes attributes;
	void **points = new_list(packing, 1);

	if (!resource || !metric || !histogram || !point || !points ||
	    !push_attributes__begin(&attributes, &packing->arena))
		return NULL;
	push_attributes__number(&attributes, "device", series->device);
	point->start_time_unix_nano = series->since;
	point->time_unix_nano = packing->until;
	point->count = series->kernels;
	point->known_case = OTLP__HISTOGRAM_DATA_POINT__KNOWN_SUM;
	point->sum = series->ns / 1e9;
	point->attributes = attributes.list;
	point->n_attributes = attributes.count;
	*points = point;
	histogram->data_points = (Otlp__HistogramDataPoint **)points;
	histogram->n_data_points = 1;
	histogram->aggregation_temporality = OTLP__TEMPORALITY__CUMULATIVE;
	metric->data_case = OTLP__METRIC__DATA_HISTOGRAM;
	metric->histogram = histogram;
	add_metric(resource, metric);
	return resource;
}

static int pack(struct packing *packing, uint8_t **body, size_t *size)
{
	const struct push_metrics *metrics = packing->metrics;
	Otlp__MetricsRequest request = OTLP__METRICS_REQUEST__INIT;
	void **resources = new_list(packing, metrics->series_count + 1);

	if (!resources)
		return -ENOMEM;
	request.resource_metrics = (Otlp__ResourceMetrics **)resources;
	request.n_resource_metrics = metrics->series_count + 1;
	resources[0] = pack_gpus(packing);
	for (uint32_t i = 0; i < metrics->series_count; i++)
		resources[i + 1] = pack_series(packing, &metrics->series[i]);
	for (uint32_t i = 0; i <= metrics->series_count; i++)
		if (!resources[i])
			return -ENOMEM;
	*size = otlp__metrics_request__get_packed_size(&request);
	*body = malloc(*size + 1);
	if (!*body)
		return -ENOMEM;
	otlp__metrics_request__pack(&request, *body);
	return 0;
}

int push_otlp_metrics__pack(const struct push_metrics *metrics,
			    const struct push_common_labels *labels, uint64_t from, uint64_t until,
			    uint8_t **body, size_t *size)
{
	struct packing packing = {metrics, labels, from, until, {}};
	int err = pack(&packing, body, size);

	push_arena__free(&packing.arena);
	return err;
}
