// SPDX-License-Identifier: BSD-2-Clause
#include "libcupti-usdt/profile/counted_launches.h"

#include <string.h>

#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/profile/counter_collector.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/trace/kernel_shape.h"
#include "libcupti-usdt/trace/launches.h"
#include "libcupti-usdt/profile/metric_rotation.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/probe_sites.h"

static struct cuda_counters launches[COUNTED_LAUNCHES_MAX];
static void *contexts[COUNTED_LAUNCHES_MAX];
static uint32_t sets[COUNTED_LAUNCHES_MAX];
static uint32_t count, reported;

static uint64_t kind_of(const struct cuda_counters *launch)
{
	return metric_rotation__kind(launch->name, launch->grid, launch->block,
				     launch->dynamic_shared);
}

void *counted_launches__stream(uint32_t cbid, const struct cupti_callback_data *data)
{
	struct cuda_launch launch = {0};

	launches__read(&launch, CUPTI_DOMAIN_DRIVER, cbid, data->params);
	return (void *)(uintptr_t)launch.stream;
}

uint64_t counted_launches__kind(uint32_t cbid, const struct cupti_callback_data *data)
{
	struct cuda_launch launch = {0};

	launches__read(&launch, CUPTI_DOMAIN_DRIVER, cbid, data->params);
	return metric_rotation__kind(interned_names__intern(data->symbol_name), launch.grid,
				     launch.block, launch.dynamic_shared);
}

void counted_launches__add(uint32_t cbid, const struct cupti_callback_data *data, uint32_t set,
			   uint64_t start)
{
	struct cuda_counters *to = &launches[count];
	struct cuda_launch launch = {0};

	if (count == COUNTED_LAUNCHES_MAX)
		return;
	launches__read(&launch, CUPTI_DOMAIN_DRIVER, cbid, data->params);
	*to = (struct cuda_counters){
		.head = {.kind = CUDA_RECORD_COUNTERS, .correlation = data->correlation},
		.start = start,
		.end = clock__now(),
		.stream = launch.stream,
		.name = interned_names__intern(data->symbol_name),
		.context = data->context_id,
		.dynamic_shared = launch.dynamic_shared,
	};
	memcpy(to->grid, launch.grid, sizeof(launch.grid));
	memcpy(to->block, launch.block, sizeof(launch.block));
	cupti_api__get()->GetDeviceId(data->context, &to->device);
	kernel_shape__find(launches__function(cbid, data->params), &to->registers,
			   &to->static_shared);
	contexts[count] = data->context;
	sets[count++] = set;
	metric_rotation__counted(kind_of(to), set);
}

uint32_t counted_launches__count(void)
{
	return count;
}

void counted_launches__last_ends(void)
{
	if (count)
		launches[count - 1].end = clock__now();
}

static void tell_readable(const struct cuda_counters *to, const struct cuda_counter *values)
{
	if (!probe_sites__readable_wanted(CUDA_GROUP_COUNTERS))
		return;
	for (uint32_t i = 0; i < to->count; i++) {
		double thousandths = values[i].value * 1000;
		uint64_t bits;

		memcpy(&bits, &values[i].value, sizeof(bits));
		/* What is out of range, or no number, is nothing that an integer can say. */
		if (!(thousandths > -9e18 && thousandths < 9e18))
			thousandths = -1;
		probe_sites__counters(to, interned_names__text(to->name),
				      interned_names__text(values[i].metric), (int64_t)thousandths,
				      bits);
	}
}

int counted_launches__tell(const struct collector *collector, _Atomic(uint64_t) *number,
			   struct range_failure *failure)
{
	static struct {
		struct cuda_counters head;
		struct cuda_counter values[CUDA_COUNTERS_METRICS];
	} to;
	static double values[CUDA_COUNTERS_METRICS];
	const struct range_plan *plan = collector->plan();

	for (uint32_t which = 0; which < count; which++, reported++) {
		if (plan->values && collector->values(contexts[which], which, values, failure))
			return -1;
		to.head = launches[which];
		to.head.head.size = sizeof(to.head) + plan->values * sizeof(to.values[0]);
		to.head.number = atomic_fetch_add(number, 1) + 1;
		to.head.passes = plan->passes;
		to.head.count = plan->values;
		for (uint32_t i = 0; i < plan->values; i++) {
			to.values[i].metric =
				interned_names__intern_text(plan->metrics[plan->first + i]);
			to.values[i].value = values[i];
		}
		batch__send_in_place(CUDA_GROUP_COUNTERS, &to, to.head.head.size, 1);
		tell_readable(&to.head, to.values);
		collector->tell(&to.head);
	}
	return 0;
}

void counted_launches__tell_metrics(const struct collector *collector)
{
	const struct range_plan *plan = collector->plan();

	for (uint32_t i = 0; i < plan->count; i++) {
		struct cuda_counters_metric to = {
			.head = {.kind = CUDA_RECORD_COUNTERS_METRIC, .size = sizeof(to)},
			.metric = interned_names__intern_text(plan->metrics[i]),
		};
		struct range_metric metric;

		collector->describe(plan->metrics[i], &metric);
		to.unit = metric.unit ? interned_names__intern_text(metric.unit) : 0;
		to.description =
			metric.description ? interned_names__intern_text(metric.description) : 0;
		to.type = metric.type;
		batch__send_in_place(CUDA_GROUP_COUNTERS, &to, sizeof(to), 1);
	}
}

void counted_launches__forget(void)
{
	for (uint32_t which = reported; which < count; which++)
		metric_rotation__lost(kind_of(&launches[which]), sets[which]);
	count = reported = 0;
}
