// SPDX-License-Identifier: BSD-2-Clause
/*
 * Launch calls, as they return. A pointer among the parameters comes from the program: a call that
 * failed may have passed anything, so a launch's config is looked at only after success.
 */
#include "libcupti-usdt/trace/launches.h"

#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/trace/graph_nodes.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/trace/nvtx.h"
#include "libcupti-usdt/emit/ring.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/trace/stack_sampling.h"
#include "libcupti-usdt/base/timestamps.h"

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
static const uint16_t context_ends[] = {DRIVER_CONTEXT_ENDS(UNLOAD_CBID) 0};
#undef UNLOAD_CBID

const uint16_t *launches__unloads(void)
{
	return unloads;
}

static bool has(const uint16_t *cbids, uint32_t cbid)
{
	for (; *cbids; cbids++)
		if (*cbids == cbid)
			return true;
	return false;
}

bool launches__unloads_by(uint32_t cbid)
{
	return has(unloads, cbid);
}

bool launches__ends_context_by(uint32_t cbid)
{
	return has(context_ends, cbid);
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

/* Grid, block and dynamic shared memory lie alike in records and in all parameters. */
_Static_assert(offsetof(struct launch_config, block) - offsetof(struct launch_config, grid) == 12 &&
		       offsetof(struct launch_config, shared) -
				       offsetof(struct launch_config, grid) ==
			       24,
	       "copied at once");
_Static_assert(offsetof(struct cuda_launch, block) - offsetof(struct cuda_launch, grid) == 12 &&
		       offsetof(struct cuda_launch, dynamic_shared) -
				       offsetof(struct cuda_launch, grid) ==
			       24,
	       "copied at once");

#define SHAPE_BYTES 28
_Static_assert(sizeof(struct cuda_launch) - offsetof(struct cuda_launch, grid) == SHAPE_BYTES,
	       "the record's end");

static const struct launch_config unknown;

static inline void read_config(struct cuda_launch *to, const struct launch_config *config)
{
	memcpy((uint8_t *)to + offsetof(struct cuda_launch, grid), config, SHAPE_BYTES);
	to->stream = config->stream;
}

static inline const struct launch_config *config_of(const struct launch_ex_params *params,
						    int result)
{
	return result || !params->config ? &unknown : params->config;
}

static void read_runtime(struct cuda_launch *to, const struct runtime_params *params)
{
	memcpy(to->grid, params->grid, sizeof(to->grid));
	memcpy(to->block, params->block, sizeof(to->block));
	to->dynamic_shared = params->shared;
	to->stream = params->stream;
}

/* Fills what of a record comes from them. */
static void read_params(struct cuda_launch *to, enum launch_shape shape, const void *params)
{
	const struct launch_params *plain = params;

	read_config(to, &unknown);
	if (!params)
		return;
	if (shape == LAUNCH_PLAIN)
		read_config(to, &plain->config);
	else if (shape == LAUNCH_EX)
		read_config(to, config_of(params, to->result));
	else if (shape == LAUNCH_RUNTIME)
		read_runtime(to, params);
	else if (shape == LAUNCH_GRAPH)
		to->stream = ((const struct graph_params *)params)->stream;
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

/* The call created a node: nothing runs before that node's graph is launched. */
static bool is_captured(const struct ring *ring, uint64_t start)
{
	return ring && ring->node_created >= start;
}

/* 0 = nobody needs it. */
static uint32_t executable_id(unsigned int group, const struct graph_params *params)
{
	bool needed = group == CUDA_GROUP_LAUNCH && graph_nodes__for_samples();

	return needed && params ? graph_nodes__exec_id(params->graph) : 0;
}

/* Somebody wants more than the batch: a stack, or the readable probe. */
static COLD_PATH void tell_others(struct ring *ring, unsigned int group, uint64_t start,
				  uint64_t end, struct cuda_launch *launch)
{
	/* A captured launch is one for all replays: no other stack says where their kernels are
	 * from. */
	if (group == CUDA_GROUP_LAUNCH && is_captured(ring, start)) {
		stack_sampling__take(ring, launch->head.correlation, launch->context, start, end);
		if (graph_nodes__for_samples() && ring->node)
			graph_nodes__origin(ring, launch->head.correlation, ring->node,
					    launch->name, start, end);
	} else if (group == CUDA_GROUP_LAUNCH && stack_sampling__may_be_due(ring)) {
		stack_sampling__sample(ring, launch->head.correlation, launch->context);
	}
	if (!probe_sites__readable_wanted(group))
		return;
	launch->start = timestamps__to_ns(start);
	launch->end = timestamps__to_ns(end);
	if (group == CUDA_GROUP_LAUNCH)
		probe_sites__kernel_launch(launch, interned_names__text(launch->name));
	else
		probe_sites__runtime_launch(launch, interned_names__text(launch->name));
}

/* Somebody listens to NVTX: how many ranges are open identifies a launch's range, sent later. */
static inline bool notes_ranges(void)
{
	return atomic_load_explicit(&hot.launch_flags, memory_order_relaxed) & CUDA_LAUNCH_RANGES;
}

/* Every byte of a record is written, by this and what comes from the parameters: it may lie in a
 * ring, and none is cleared before. */
static inline __attribute__((always_inline)) void fill(struct cuda_launch *to, int kind, int domain,
						       uint32_t cbid,
						       const struct cupti_callback_data *data,
						       uint64_t start, uint64_t end)
{
	to->head.kind = kind;
	to->head.size = sizeof(*to);
	to->head.correlation = data->correlation;
	to->start = start;
	to->end = end;
	to->context = data->context_id;
	to->result = data->return_value ? *(const int *)data->return_value : 0;
	to->cbid = cbid;
	to->domain = domain;
	to->flags = atomic_load_explicit(&hot.launch_flags, memory_order_relaxed) |
		    (start & 1) * CUDA_LAUNCH_HELD;
}

void launches__record(struct ring *ring, int domain, uint32_t cbid,
		      const struct cupti_callback_data *data, uint64_t start, uint64_t end,
		      bool captured)
{
	unsigned int group = domain == CUPTI_DOMAIN_DRIVER ? CUDA_GROUP_LAUNCH : CUDA_GROUP_RUNTIME;
	enum launch_shape shape = launches__shape(domain, cbid);
	int kind = shape == LAUNCH_GRAPH ? CUDA_RECORD_GRAPH_LAUNCH : CUDA_RECORD_LAUNCH;
	struct cuda_launch launch;

	fill(&launch, kind, domain, cbid, data, start, end);
	/* No kernel will come of it. */
	if (captured)
		launch.flags &= ~CUDA_LAUNCH_TIMED;
	read_params(&launch, shape, data->params);
	if (shape == LAUNCH_GRAPH && !launch.result && !is_captured(ring, start))
		launch.grid[0] = executable_id(group, data->params);
	launch.tid = ring__tid(ring);
	if (launch.flags & CUDA_LAUNCH_RANGES)
		launch.flags |= (nvtx__depth(ring) & 31) << 2;
	launch.name = shape == LAUNCH_GRAPH ? 0 : interned_names__intern(data->symbol_name);
	if (probe_sites__batch_wanted(group))
		ring__append(ring, group, &launch.head);
	tell_others(ring, group, start, end, &launch);
}

static inline int result_of(const struct cupti_callback_data *data)
{
	return data->return_value ? *(const int *)data->return_value : 0;
}

static void (*slow_path)(int domain, uint32_t cbid, const void *data);

void launches__set_slow_path(void (*path)(int domain, uint32_t cbid, const void *data))
{
	slow_path = path;
}

/* The slow path: failed launches, launches without cached state, every 16th launch, and all while
 * NVTX is listened to. */
static __attribute__((noinline)) void
record_anew(uint32_t cbid, const struct cupti_callback_data *data, uint64_t start, uint64_t end)
{
	struct ring *ring = rings__mine();

	/* Who wants errors by themselves gets it as one, too. */
	if (result_of(data)) {
		slow_path(CUPTI_DOMAIN_DRIVER, cbid, data);
		return;
	}
	ring__count_launch(ring);
	launches__record(ring, CUPTI_DOMAIN_DRIVER, cbid, data, start, end, false);
}

/*
 * Nearly every launch. Nothing is called but in its place, so that nothing is saved, and what is
 * likely lies in a row: the code of a launch has to come into the first cache, too. A launch
 * without a stack must not cost more where some have one: they, too, come this way. Where nobody
 * wants the records, the slot is filled again by the next launch.
 */
HOT_PATH void launches__leave(uint32_t cbid, const struct cupti_callback_data *data)
{
	uint64_t start = launch_state__mixed(*data->correlation_data), end = timestamps__counted();
	const struct launch_params *params = data->params;
	struct ring *ring = ring__at_hand();
	const struct launch_config *config;
	struct cuda_launch *slot;
	uint32_t head, name;

	if (UNLIKELY(!launch_state__believes(start, end)))
		return;
	if (UNLIKELY(!ring || !params || result_of(data) || notes_ranges()))
		return record_anew(cbid, data, start, end);
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	name = interned_names__at_hand(data->symbol_name, ring__launches(ring));
	if (UNLIKELY(!name || !ring__has_space(ring, head)))
		return record_anew(cbid, data, start, end);
	slot = ring__slot(ring, head, CUDA_GROUP_LAUNCH);
	fill(slot, CUDA_RECORD_LAUNCH, CUPTI_DOMAIN_DRIVER, cbid, data, start, end);
	config = &params->config;
	if (launches__common_shape(cbid) == LAUNCH_EX)
		config = config_of(data->params, slot->result);
	read_config(slot, config);
	slot->tid = ring->tid;
	slot->name = name;
	/* Whoever comes gets them at once, before the agent's thread has seen that. */
	if (!atomic_load_explicit(&hot.launches_unsent, memory_order_relaxed) ||
	    site_wanted(launch_batch))
		ring__advance(ring, head);
	ring__count(ring);
	if (stack_sampling__may_be_due(ring))
		stack_sampling__sample(ring, data->correlation, data->context_id);
}
