// SPDX-License-Identifier: BSD-2-Clause
/*
 * Launch calls, as they return. A pointer among the parameters comes from the program: a call that
 * failed may have passed anything, so a launch's config is looked at only after success.
 */
#include "libcupti-usdt/launches.h"

#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/callbacks.h"
#include "libcupti-usdt/cupti_calls.h"
#include "libcupti-usdt/hot.h"
#include "libcupti-usdt/kernel_names.h"
#include "libcupti-usdt/kinds.h"
#include "libcupti-usdt/names.h"
#include "libcupti-usdt/ring.h"
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

#define UNLOAD_CBID(name, number) number,
static const uint16_t unloads[] = {DRIVER_UNLOADS(UNLOAD_CBID) 0};
#undef UNLOAD_CBID

const uint16_t *launches__unloads(void)
{
	return unloads;
}

bool launches__unloads_by(uint32_t cbid)
{
	for (const uint16_t *unload = unloads; *unload; unload++)
		if (*unload == cbid)
			return true;
	return false;
}

/* By number: a table is a line and no jump to be guessed. */
#define LAUNCH_SHAPE(name, number, shape) [number] = LAUNCH_##shape,
static const uint8_t driver_shapes[] = {DRIVER_LAUNCHES(LAUNCH_SHAPE)};
static const uint8_t runtime_shapes[] = {RUNTIME_LAUNCHES(LAUNCH_SHAPE)};
#undef LAUNCH_SHAPE

enum launch_shape launches__shape(int domain, uint32_t cbid)
{
	if (domain == CUPTI_DOMAIN_DRIVER)
		return cbid < sizeof(driver_shapes) ? driver_shapes[cbid] : LAUNCH_NONE;
	return cbid < sizeof(runtime_shapes) ? runtime_shapes[cbid] : LAUNCH_NONE;
}

/* Grid, block and dynamic shared memory lie so in records and in all parameters alike. */
#define SAME_ORDER(from)                                                            \
	_Static_assert(offsetof(from, block) - offsetof(from, grid) == 12 &&        \
			       offsetof(from, shared) - offsetof(from, grid) == 24, \
		       "copied at once")
SAME_ORDER(struct launch_params);
SAME_ORDER(struct launch_config);
_Static_assert(offsetof(struct cuda_launch, block) - offsetof(struct cuda_launch, grid) == 12 &&
		       offsetof(struct cuda_launch, dynamic_shared) -
				       offsetof(struct cuda_launch, grid) ==
			       24,
	       "copied at once");

#define SHAPE_BYTES 28
_Static_assert(sizeof(struct cuda_launch) - offsetof(struct cuda_launch, grid) == SHAPE_BYTES,
	       "the record's end");

static inline void read_shape(struct cuda_launch *to, const void *from, size_t grid,
			      uint64_t stream)
{
	memcpy((uint8_t *)to + offsetof(struct cuda_launch, grid), (const uint8_t *)from + grid,
	       SHAPE_BYTES);
	to->stream = stream;
}

static inline void read_nothing(struct cuda_launch *to)
{
	static const uint8_t none[SHAPE_BYTES];

	read_shape(to, none, 0, 0);
}

static inline void read_ex(struct cuda_launch *to, const struct launch_ex_params *params)
{
	const struct launch_config *config = params->config;

	if (to->result || !config)
		read_nothing(to);
	else
		read_shape(to, config, offsetof(struct launch_config, grid), config->stream);
}

static void read_rare(struct cuda_launch *to, enum launch_shape shape, const void *params)
{
	const struct runtime_params *runtime = params;

	read_nothing(to);
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

/* Fills what of a record comes from them. */
static inline void read_params(struct cuda_launch *to, enum launch_shape shape, const void *params)
{
	const struct launch_params *plain = params;

	if (!params)
		read_nothing(to);
	else if (shape == LAUNCH_PLAIN)
		read_shape(to, plain, offsetof(struct launch_params, grid), plain->stream);
	else if (shape == LAUNCH_EX)
		read_ex(to, params);
	else
		read_rare(to, shape, params);
}

bool launches__is_graph(int domain, uint32_t cbid)
{
	return launches__shape(domain, cbid) == LAUNCH_GRAPH;
}

void launches__read(struct cuda_launch *to, int domain, uint32_t cbid, const void *params)
{
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
	if (group == CUDA_GROUP_LAUNCH && stacks__may_be_due(ring))
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

/* Every byte of a record is written, and once: it may lie in a ring, and none is cleared before. */
static inline __attribute__((always_inline)) void
fill(struct cuda_launch *to, enum launch_shape shape, int domain, uint32_t cbid,
     const struct cupti_callback_data *data, uint64_t start, uint64_t end)
{
	to->head.kind = shape == LAUNCH_GRAPH ? CUDA_RECORD_GRAPH_LAUNCH : CUDA_RECORD_LAUNCH;
	to->head.size = sizeof(*to);
	to->head.correlation = data->correlation;
	to->start = start;
	to->end = end;
	to->context = data->context_id;
	to->result = data->return_value ? *(const int *)data->return_value : 0;
	to->cbid = cbid;
	to->domain = domain;
	to->flags = atomic_load_explicit(&hot.launch_flags, memory_order_relaxed);
	read_params(to, shape, data->params);
}

void launches__record(struct ring *ring, int domain, uint32_t cbid,
		      const struct cupti_callback_data *data, uint64_t start, uint64_t end)
{
	unsigned int group = domain == CUPTI_DOMAIN_DRIVER ? CUDA_GROUP_LAUNCH : CUDA_GROUP_RUNTIME;
	enum launch_shape shape = launches__shape(domain, cbid);
	struct cuda_launch launch;

	fill(&launch, shape, domain, cbid, data, start, end);
	launch.tid = ring__tid(ring);
	launch.name = shape == LAUNCH_GRAPH ? 0 : names__intern(data->symbol_name);
	if (launch.name && domain == CUPTI_DOMAIN_DRIVER)
		kernel_names__launched(data->correlation, launch.name);
	if (sites__batch_wanted(group))
		ring__append(ring, group, &launch.head);
	tell_others(ring, group, start, end, &launch);
}

/* A launch without a stack must not be dear where some have one: they, too, come this way. */
static inline bool record_shortly(uint32_t cbid, const struct cupti_callback_data *data,
				  uint64_t start, uint64_t end)
{
	struct ring *ring = ring__found();
	struct cuda_launch *slot;
	uint32_t head;

	if (!ring || !data->params)
		return false;
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	if (!ring__has_room(ring, head))
		return false;
	slot = ring__slot(ring, head, CUDA_GROUP_LAUNCH);
	fill(slot, launches__common_shape(cbid), CUPTI_DOMAIN_DRIVER, cbid, data, start, end);
	slot->tid = ring->tid;
	slot->name = names__intern_kernel(data->symbol_name, head);
	kernel_names__launched(data->correlation, slot->name);
	ring__advance(ring, head);
	ring__count(ring);
	if (stacks__may_be_due(ring))
		stacks__sample(ring, data->correlation, data->context_id);
	return true;
}

HOT_PATH void launches__leave(uint32_t cbid, const struct cupti_callback_data *data)
{
	uint64_t start = hot__mixed(*data->correlation_data), end = stamps__counted();

	if (hot__believes(start, end) && !record_shortly(cbid, data, start, end))
		callbacks__detour(CUPTI_DOMAIN_DRIVER, cbid, data);
}
