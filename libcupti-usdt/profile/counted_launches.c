// SPDX-License-Identifier: BSD-2-Clause
#include "libcupti-usdt/profile/counted_launches.h"

#include <string.h>

#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/profile/counter_collector.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/trace/graph_nodes.h"
#include "libcupti-usdt/trace/kernel_shape.h"
#include "libcupti-usdt/trace/launches.h"
#include "libcupti-usdt/profile/metric_rotation.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/probe_sites.h"

#define STREAM_PER_THREAD 2UL /* CU_STREAM_PER_THREAD */

static struct cuda_counters launches[COUNTED_LAUNCHES_MAX];
static void *contexts[COUNTED_LAUNCHES_MAX];
static uint64_t kinds[COUNTED_LAUNCHES_MAX];
static uint32_t sets[COUNTED_LAUNCHES_MAX];
static uint32_t count, reported;

/* What the parameters say of a call that succeeded. */
static void read_call(struct cuda_counters *to, uint32_t cbid,
		      const struct cupti_callback_data *data)
{
	struct cuda_launch launch = {0};

	launches__read(&launch, CUPTI_DOMAIN_DRIVER, cbid, data->params);
	to->stream = launch.stream;
	if (launches__is_graph(CUPTI_DOMAIN_DRIVER, cbid)) {
		const struct graph_params *params = data->params;

		to->graph = params ? graph_nodes__exec_id(params->graph) : 0;
		if (!to->graph)
			to->graph = CUDA_COUNTERS_SOME_GRAPH;
		return;
	}
	to->name = interned_names__intern(data->symbol_name);
	to->dynamic_shared = launch.dynamic_shared;
	memcpy(to->grid, launch.grid, sizeof(launch.grid));
	memcpy(to->block, launch.block, sizeof(launch.block));
}

/* To those with this suffix no handle means the thread's own stream. */
static bool has_own_stream(uint32_t cbid)
{
	return cbid == CBID_cuLaunchKernel_ptsz || cbid == CBID_cuLaunchKernelEx_ptsz ||
	       cbid == CBID_cuLaunchCooperativeKernel_ptsz || cbid == CBID_cuGraphLaunch_ptsz;
}

void *counted_launches__stream(uint32_t cbid, const struct cupti_callback_data *data)
{
	struct cuda_launch launch = {0};

	launches__read(&launch, CUPTI_DOMAIN_DRIVER, cbid, data->params);
	if (!launch.stream && has_own_stream(cbid))
		return (void *)STREAM_PER_THREAD;
	return (void *)(uintptr_t)launch.stream;
}

/* Of a graph the handle decides: before the call nobody knows whether it is a graph, and so its id
 * is not queried. */
uint64_t counted_launches__kind(uint32_t cbid, const struct cupti_callback_data *data)
{
	bool is_graph = launches__is_graph(CUPTI_DOMAIN_DRIVER, cbid);
	const struct graph_params *params = data->params;
	struct cuda_launch launch = {0};

	launches__read(&launch, CUPTI_DOMAIN_DRIVER, cbid, data->params);
	if (is_graph && params)
		memcpy(launch.grid, &params->graph, sizeof(params->graph));
	return metric_rotation__kind(is_graph ? 0 : interned_names__intern(data->symbol_name),
				     launch.grid, launch.block, launch.dynamic_shared);
}

void counted_launches__add(uint32_t cbid, const struct cupti_callback_data *data, uint32_t set,
			   uint64_t start)
{
	struct cuda_counters *to = &launches[count];

	if (count == COUNTED_LAUNCHES_MAX)
		return;
	*to = (struct cuda_counters){
		.head = {.kind = CUDA_RECORD_COUNTERS, .correlation = data->correlation},
		.start = start,
		.end = clock__now(),
		.context = data->context_id,
	};
	read_call(to, cbid, data);
	cupti_api__get()->GetDeviceId(data->context, &to->device);
	kernel_shape__find(launches__function(cbid, data->params), &to->registers,
			   &to->static_shared);
	contexts[count] = data->context;
	kinds[count] = counted_launches__kind(cbid, data);
	metric_rotation__counted(kinds[count], set);
	sets[count++] = set;
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

#define NAME_BYTES 24

/* "graph 4711"; nothing of the C library's that prints is used inside a program. */
static const char *name_of(const struct cuda_counters *to, char text[NAME_BYTES])
{
	char *at = text + NAME_BYTES;
	uint32_t rest = to->graph;

	if (!to->graph)
		return interned_names__text(to->name);
	for (*--at = '\0'; rest; rest /= 10)
		*--at = '0' + rest % 10;
	return memcpy(at - 6, "graph ", 6);
}

static void tell_readable(const struct cuda_counters *to, const struct cuda_counter *values)
{
	char text[NAME_BYTES];
	const char *name = name_of(to, text);

	if (!probe_sites__readable_wanted(CUDA_GROUP_COUNTERS))
		return;
	for (uint32_t i = 0; i < to->count; i++) {
		double thousandths = values[i].value * 1000;
		uint64_t bits;

		memcpy(&bits, &values[i].value, sizeof(bits));
		/* What is out of range, or no number, is nothing that an integer can say. */
		if (!(thousandths > -9e18 && thousandths < 9e18))
			thousandths = -1;
		probe_sites__counters(to, name, interned_names__text(values[i].metric),
				      (int64_t)thousandths, bits);
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
		metric_rotation__lost(kinds[which], sets[which]);
	count = reported = 0;
}
