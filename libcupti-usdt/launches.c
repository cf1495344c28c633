// SPDX-License-Identifier: BSD-2-Clause
/*
 * Launch calls, as they return. A pointer among the parameters comes from the program: a call that
 * failed may have passed anything, so a launch's config is looked at only after success.
 */
#include "libcupti-usdt/launches.h"

#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/cupti_calls.h"
#include "libcupti-usdt/kinds.h"
#include "libcupti-usdt/names.h"
#include "libcupti-usdt/sites.h"
#include "libcupti-usdt/stacks.h"
#include "libcupti-usdt/stamps.h"

enum shape { SHAPE_NONE, SHAPE_PLAIN, SHAPE_EX, SHAPE_RUNTIME, SHAPE_GRAPH, SHAPE_BARE };

#define LAUNCH_CBID(name, number, shape) number,
static const uint16_t driver_cbids[] = {DRIVER_LAUNCHES(LAUNCH_CBID) 0};
static const uint16_t runtime_cbids[] = {RUNTIME_LAUNCHES(LAUNCH_CBID) 0};
#undef LAUNCH_CBID

const uint16_t *launches__cbids(int domain)
{
	return domain == CUPTI_DOMAIN_DRIVER ? driver_cbids : runtime_cbids;
}

#define LAUNCH_SHAPE(name, number, shape) \
	case number:                      \
		return SHAPE_##shape;

static enum shape driver_shape(uint32_t cbid)
{
	switch (cbid) {
		DRIVER_LAUNCHES(LAUNCH_SHAPE)
	}
	return SHAPE_NONE;
}

static enum shape runtime_shape(uint32_t cbid)
{
	switch (cbid) {
		RUNTIME_LAUNCHES(LAUNCH_SHAPE)
	}
	return SHAPE_NONE;
}

static enum shape shape_of(int domain, uint32_t cbid)
{
	return domain == CUPTI_DOMAIN_DRIVER ? driver_shape(cbid) : runtime_shape(cbid);
}

bool launches__is_launch(int domain, uint32_t cbid)
{
	return shape_of(domain, cbid) != SHAPE_NONE;
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

static void read_params(struct cuda_launch *to, enum shape shape, const void *params)
{
	const struct launch_params *plain = params;
	const struct runtime_params *runtime = params;

	switch (shape) {
	case SHAPE_PLAIN:
		memcpy(to->grid, plain->grid, sizeof(to->grid));
		memcpy(to->block, plain->block, sizeof(to->block));
		to->dynamic_shared = plain->shared;
		to->stream = plain->stream;
		break;
	case SHAPE_RUNTIME:
		memcpy(to->grid, runtime->grid, sizeof(to->grid));
		memcpy(to->block, runtime->block, sizeof(to->block));
		to->dynamic_shared = runtime->shared;
		to->stream = runtime->stream;
		break;
	case SHAPE_EX:
		read_ex(to, params);
		break;
	case SHAPE_GRAPH:
		to->stream = ((const struct graph_params *)params)->stream;
		break;
	case SHAPE_BARE:
	case SHAPE_NONE:
		break;
	}
}

void launches__record(struct ring *ring, int domain, uint32_t cbid,
		      const struct cupti_callback_data *data, uint64_t start, uint64_t end)
{
	enum shape shape = shape_of(domain, cbid);
	unsigned int group = domain == CUPTI_DOMAIN_DRIVER ? CUDA_GROUP_LAUNCH : CUDA_GROUP_RUNTIME;
	struct cuda_launch to = {
		.head = {.kind = shape == SHAPE_GRAPH ? CUDA_RECORD_GRAPH_LAUNCH
						      : CUDA_RECORD_LAUNCH,
			 .size = sizeof(to),
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
		read_params(&to, shape, data->params);
	if (shape != SHAPE_GRAPH)
		to.name = names__intern(data->symbol_name);
	if (sites__batch_wanted(group))
		ring__append(ring, group, &to.head);
	if (group == CUDA_GROUP_LAUNCH && sites__stacks_wanted())
		stacks__sample(ring, &to);
	if (!sites__readable_wanted(group))
		return;
	to.start = stamps__to_ns(start);
	to.end = stamps__to_ns(end);
	if (group == CUDA_GROUP_LAUNCH)
		site__kernel_launch(&to, names__text(to.name));
	else
		site__runtime_launch(&to, names__text(to.name));
}
