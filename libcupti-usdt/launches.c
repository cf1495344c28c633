// SPDX-License-Identifier: BSD-2-Clause
/*
 * Launch calls, as they return. A pointer among the parameters comes from the program: a call that
 * failed may have passed anything, so a launch's config is looked at only after success.
 */
#include "libcupti-usdt/launches.h"

#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/cupti_calls.h"
#include "libcupti-usdt/hot.h"
#include "libcupti-usdt/kinds.h"
#include "libcupti-usdt/names.h"
#include "libcupti-usdt/sites.h"
#include "libcupti-usdt/stacks.h"
#include "libcupti-usdt/stamps.h"

#define LAUNCH_CBID(name, number, shape) number,
static const uint16_t driver_cbids[] = {DRIVER_LAUNCHES(LAUNCH_CBID) 0};
static const uint16_t runtime_cbids[] = {RUNTIME_LAUNCHES(LAUNCH_CBID) 0};
#undef LAUNCH_CBID

const uint16_t *launches__cbids(int domain)
{
	return domain == CUPTI_DOMAIN_DRIVER ? driver_cbids : runtime_cbids;
}

/* By number: a table is a line and no jump to be guessed. */
#define LAUNCH_SHAPE(name, number, shape) [number] = LAUNCH_##shape,
static const uint8_t driver_shapes[] = {DRIVER_LAUNCHES(LAUNCH_SHAPE)};
static const uint8_t runtime_shapes[] = {RUNTIME_LAUNCHES(LAUNCH_SHAPE)};
#undef LAUNCH_SHAPE

HOT_PATH enum launch_shape launches__shape(int domain, uint32_t cbid)
{
	if (domain == CUPTI_DOMAIN_DRIVER)
		return cbid < sizeof(driver_shapes) ? driver_shapes[cbid] : LAUNCH_NONE;
	return cbid < sizeof(runtime_shapes) ? runtime_shapes[cbid] : LAUNCH_NONE;
}

static void read_ex(struct cuda_launch *to, const struct launch_ex_params *params)
{
	const struct launch_config *config = params->config;

	if (to->result || !config)
		return;
	memcpy(to->grid, config->grid, sizeof(to->grid));
	memcpy(to->block, config->block, sizeof(to->block));
	to->dynamic_shared = config->shared;
	to->stream = config->stream;
}

static void read_rare(struct cuda_launch *to, enum launch_shape shape, const void *params)
{
	const struct runtime_params *runtime = params;

	switch (shape) {
	case LAUNCH_RUNTIME:
		memcpy(to->grid, runtime->grid, sizeof(to->grid));
		memcpy(to->block, runtime->block, sizeof(to->block));
		to->dynamic_shared = runtime->shared;
		to->stream = runtime->stream;
		break;
	case LAUNCH_GRAPH:
		to->stream = ((const struct graph_params *)params)->stream;
		break;
	default:
		break;
	}
}

static inline void read_params(struct cuda_launch *to, enum launch_shape shape, const void *params)
{
	const struct launch_params *plain = params;

	if (shape == LAUNCH_PLAIN) {
		memcpy(to->grid, plain->grid, sizeof(to->grid));
		memcpy(to->block, plain->block, sizeof(to->block));
		to->dynamic_shared = plain->shared;
		to->stream = plain->stream;
	} else if (shape == LAUNCH_EX) {
		read_ex(to, params);
	} else {
		read_rare(to, shape, params);
	}
}

bool launches__is_graph(int domain, uint32_t cbid)
{
	return launches__shape(domain, cbid) == LAUNCH_GRAPH;
}

void launches__read(struct cuda_launch *to, int domain, uint32_t cbid, const void *params)
{
	if (params)
		read_params(to, launches__shape(domain, cbid), params);
}

void *launches__function(uint32_t cbid, const void *params)
{
	enum launch_shape shape = launches__shape(CUPTI_DOMAIN_DRIVER, cbid);

	if (shape == LAUNCH_PLAIN && params)
		return ((const struct launch_params *)params)->function;
	if (shape == LAUNCH_EX && params)
		return ((const struct launch_ex_params *)params)->function;
	return NULL;
}

/* Somebody wants more than the batch: a stack, or the readable probe. */
static COLD_PATH void tell_others(struct ring *ring, unsigned int group, uint64_t start,
				  uint64_t end, struct cuda_launch *launch)
{
	if (group == CUDA_GROUP_LAUNCH && sites__stacks_wanted())
		stacks__sample(ring, launch->head.correlation, launch->context);
	if (!sites__readable_wanted(group))
		return;
	launch->start = stamps__to_ns(start);
	launch->end = stamps__to_ns(end);
	if (group == CUDA_GROUP_LAUNCH)
		site__kernel_launch(launch, names__text(launch->name));
	else
		site__runtime_launch(launch, names__text(launch->name));
}

static inline __attribute__((always_inline)) void
fill(struct cuda_launch *to, struct ring *ring, enum launch_shape shape, int domain, uint32_t cbid,
     const struct cupti_callback_data *data, uint64_t start, uint64_t end)
{
	*to = (struct cuda_launch){
		.head = {.kind = shape == LAUNCH_GRAPH ? CUDA_RECORD_GRAPH_LAUNCH
						       : CUDA_RECORD_LAUNCH,
			 .size = sizeof(*to),
			 .correlation = data->correlation},
		.start = start,
		.end = end,
		.tid = ring__tid(ring),
		.context = data->context_id,
		.result = data->return_value ? *(const int *)data->return_value : 0,
		.cbid = cbid,
		.domain = domain,
		.flags = kinds__stamps_kernels() ? CUDA_LAUNCH_TIMED : 0,
	};
	if (data->params)
		read_params(to, shape, data->params);
	if (shape != LAUNCH_GRAPH)
		to->name = names__intern(data->symbol_name);
}

/* Others than the batch's consumers want it, or the ring has no room. Where those others want
 * stacks alone, of few launches, the rest of them must not be dear: they go straight into the ring.
 */
static COLD_PATH void record_apart(struct ring *ring, enum launch_shape shape, int domain,
				   uint32_t cbid, const struct cupti_callback_data *data,
				   uint64_t start, uint64_t end)
{
	unsigned int group = domain == CUPTI_DOMAIN_DRIVER ? CUDA_GROUP_LAUNCH : CUDA_GROUP_RUNTIME;
	unsigned int others = sites__others_want_launches();
	struct cuda_launch launch, *slot = NULL;

	if (others == SITES_OTHERS_STACKS)
		slot = ring__claim(ring, group);
	if (slot) {
		fill(slot, ring, shape, domain, cbid, data, start, end);
		ring__publish(ring);
		if (group == CUDA_GROUP_LAUNCH)
			stacks__sample(ring, data->correlation, data->context_id);
		return;
	}
	fill(&launch, ring, shape, domain, cbid, data, start, end);
	if (sites__batch_wanted(group))
		ring__append(ring, group, &launch.head);
	if (others != SITES_OTHERS_NONE)
		tell_others(ring, group, start, end, &launch);
}

HOT_PATH void launches__record(struct ring *ring, enum launch_shape shape, int domain,
			       uint32_t cbid, const struct cupti_callback_data *data,
			       uint64_t start, uint64_t end)
{
	unsigned int group = domain == CUPTI_DOMAIN_DRIVER ? CUDA_GROUP_LAUNCH : CUDA_GROUP_RUNTIME;
	struct cuda_launch *slot = NULL;

	if (sites__others_want_launches() == SITES_OTHERS_NONE)
		slot = ring__claim(ring, group);
	if (!slot) {
		record_apart(ring, shape, domain, cbid, data, start, end);
		return;
	}
	fill(slot, ring, shape, domain, cbid, data, start, end);
	ring__publish(ring);
}
