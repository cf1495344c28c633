// SPDX-License-Identifier: BSD-2-Clause
/*
 * NVTX calls → records, a range when it ends. Push/pop ranges are kept on a stack a thread (beside
 * its ring), start/end ranges in a table by id; both are bounded, and a range that does not fit is
 * counted. Handles of domains and strings that were made before anybody listened have no name.
 *
 * Failure modes: 1. a thread's ring goes to another thread with ranges still open: the stack knows
 * whose it is. 2. a pop without a push, a push without a pop: ignored; the stack is bounded. 3. two
 * threads start and end one range at once: a slot is claimed and released by compare-and-swap.
 * 4. the pop of a range that did not fit ends the one around it: that one counts how many such
 * there are. With none of its domain around it such a pop finds nothing to end. 5. two domains of
 * one name, or without a known one, end each other's ranges: their handles distinguish them. 6. a
 * range is left open by a listener that goes, and the next one's pops end it, or it takes up memory
 * for ever: nothing is kept from one session to the next. 7. a tool collects while a range is open,
 * and a launch in it arrives before the range does: while somebody listens to cuda:nvtx_open, a
 * range is sent at once as it begins and as it ends.
 */
#include "libcupti-usdt/trace/nvtx.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/base/timestamps.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/trace/nvtx_names.h"
#include "libcupti-usdt/trace/nvtx_payloads.h"
#include "libcupti-usdt/trace/nvtx_ranges.h"

#define DEPTH  16
#define STARTS 256U /* power of 2 */
#define PROBES 16U

enum nvtx_kind { NVTX_MARK = 1, NVTX_PUSHED = 2, NVTX_STARTED = 3 };

struct stack {
	uint32_t tid; /* whose ranges these are */
	uint32_t session;
	uint32_t depth;
	struct nvtx_range ranges[DEPTH];
};

struct started {
	_Atomic(uint64_t) id; /* 0 = free, ~0 = being written */
	struct nvtx_range range;
};

static struct tables {
	struct stack stacks[RINGS_MAX];
	struct started started[STARTS];
	_Atomic(uint32_t) session;
} * tables;

int nvtx__open(void)
{
	if (!tables && !nvtx_names__open() && !nvtx_payloads__open())
		tables = memory__map(sizeof(*tables));
	return tables ? 0 : -ENOMEM;
}

bool nvtx_ranges__are_kept(void)
{
	return tables;
}

uint32_t nvtx_ranges__begin(void)
{
	uint32_t session = atomic_fetch_add(&tables->session, 1) + 1;

	for (uint32_t i = 0; i < STARTS; i++) {
		uint64_t id = atomic_load(&tables->started[i].id);

		if (id != UINT64_MAX)
			atomic_compare_exchange_strong(&tables->started[i].id, &id, 0);
	}
	return session;
}

/* A pop or an end may bring more. */
static void add_payloads(struct nvtx_range *range, uint64_t domain,
			 const struct nvtx_payload_data *data, size_t count)
{
	uint32_t text = 0;

	if (!count)
		return;
	range->kept = nvtx_payloads__keep(range->kept, domain, data, count, &text);
	if (range->kept)
		range->payload_kind = CUDA_NVTX_SCHEMA;
}

static struct cuda_nvtx describe(const struct ring *ring, const struct nvtx_range *range,
				 enum nvtx_kind kind, uint64_t id, uint32_t depth)
{
	return (struct cuda_nvtx){
		.head = {.kind = CUDA_RECORD_NVTX, .size = sizeof(struct cuda_nvtx)},
		.start = range->start,
		.end = range->start,
		.range = id,
		.tid = ring__tid(ring),
		.text = range->text,
		.domain = range->domain,
		.color = range->color,
		.category = range->category,
		.category_name = range->category_name,
		.kind = kind,
		.payload_kind = range->kept ? 0 : range->payload_kind,
		.payload = range->payload,
		.start_tid = range->tid,
		.depth = depth,
	};
}

static void drop(struct nvtx_range *range)
{
	nvtx_payloads__drop(range->kept,
			    atomic_load_explicit(&tables->session, memory_order_relaxed));
	range->kept = 0;
}

static void send_payloads(struct nvtx_range *range, struct ring *ring, bool at_once,
			  struct cuda_nvtx *to)
{
	uint32_t id;

	if (!range->kept)
		return;
	to->payload_parts = nvtx_payloads__send(range->kept, ring, at_once, &id);
	to->payload = id;
	to->payload_kind = CUDA_NVTX_SCHEMA;
	range->kept = 0;
}

static void send(struct nvtx_range *range, enum nvtx_kind kind, uint64_t id, uint32_t depth)
{
	struct ring *ring = rings__mine();
	struct cuda_nvtx to = describe(ring, range, kind, id, depth);

	if (kind != NVTX_MARK)
		to.end = timestamps__to_ns(timestamps__now());
	if (probe_sites__batch_wanted(CUDA_GROUP_NVTX)) {
		bool at_once = site_wanted(nvtx_open) && kind != NVTX_MARK;

		send_payloads(range, ring, at_once, &to);
		if (at_once)
			rings__send_now(CUDA_GROUP_NVTX, &to.head);
		else
			ring__append(ring, CUDA_GROUP_NVTX, &to.head);
	}
	drop(range);
	if (site_wanted(nvtx))
		probe_sites__nvtx(&to, interned_names__text(to.text),
				  interned_names__text(to.domain));
}

static void send_open(const struct nvtx_range *range, enum nvtx_kind kind, uint64_t id,
		      uint32_t depth)
{
	struct cuda_nvtx to = describe(rings__mine(), range, kind, id, depth);

	if (!site_wanted(nvtx_open) || !probe_sites__batch_wanted(CUDA_GROUP_NVTX))
		return;
	to.head.kind = CUDA_RECORD_NVTX_OPEN;
	rings__send_now(CUDA_GROUP_NVTX, &to.head);
}

static struct stack *my_stack(void)
{
	struct ring *ring = rings__mine();
	struct stack *stack = ring ? &tables->stacks[ring__index(ring)] : NULL;
	uint32_t session = atomic_load_explicit(&tables->session, memory_order_relaxed);

	if (stack && (stack->tid != ring__tid(ring) || stack->session != session)) {
		/* Of a thread that ended with ranges open. */
		for (uint32_t i = 0; stack->session == session && i < stack->depth; i++)
			drop(&stack->ranges[i]);
		stack->tid = ring__tid(ring);
		stack->session = session;
		stack->depth = 0;
	}
	return stack;
}

uint32_t nvtx__depth(const struct ring *ring)
{
	const struct stack *stack = ring && tables ? &tables->stacks[ring__index(ring)] : NULL;

	if (!stack || stack->tid != ring__tid(ring) ||
	    stack->session != atomic_load_explicit(&tables->session, memory_order_relaxed))
		return 0;
	return stack->depth;
}

/* The place of the innermost range of that domain, -1 = none: each domain has its own order. */
static int innermost(const struct stack *stack, uint64_t domain)
{
	int i = (int)stack->depth - 1;

	while (i >= 0 && stack->ranges[i].handle != domain)
		i--;
	return i;
}

void nvtx_ranges__push(struct nvtx_range range)
{
	struct stack *stack = my_stack();
	int outer;

	if (!stack) {
		drop(&range);
		status__lost(CUDA_LOST_THREADS_FULL, 1);
		return;
	}
	if (stack->depth < DEPTH) {
		send_open(&range, NVTX_PUSHED, 0, stack->depth);
		stack->ranges[stack->depth++] = range;
		return;
	}
	drop(&range);
	outer = innermost(stack, range.handle);
	if (outer >= 0)
		stack->ranges[outer].dropped++;
	status__lost(CUDA_LOST_RANGES_FULL, 1);
}

void nvtx_ranges__pop(uint64_t domain, const struct nvtx_payload_data *data, size_t count)
{
	struct stack *stack = my_stack();
	int i = stack ? innermost(stack, domain) : -1;

	if (i < 0)
		return;
	if (stack->ranges[i].dropped) {
		stack->ranges[i].dropped--;
		return;
	}
	add_payloads(&stack->ranges[i], domain, data, count);
	send(&stack->ranges[i], NVTX_PUSHED, 0, i);
	memmove(&stack->ranges[i], &stack->ranges[i + 1],
		(stack->depth - i - 1) * sizeof(stack->ranges[0]));
	stack->depth--;
}

void nvtx_ranges__start(struct nvtx_range range, uint64_t id)
{
	for (uint32_t i = 0; id && i < PROBES; i++) {
		struct started *slot = &tables->started[(id + i) & (STARTS - 1)];
		uint64_t none = 0;

		if (!atomic_compare_exchange_strong(&slot->id, &none, UINT64_MAX))
			continue;
		slot->range = range;
		send_open(&range, NVTX_STARTED, id, 0);
		atomic_store_explicit(&slot->id, id, memory_order_release);
		return;
	}
	drop(&range);
	if (id)
		status__lost(CUDA_LOST_RANGES_FULL, 1);
}

void nvtx_ranges__end(uint64_t id, const struct nvtx_payload_data *data, size_t count)
{
	for (uint32_t i = 0; id && i < PROBES; i++) {
		struct started *slot = &tables->started[(id + i) & (STARTS - 1)];
		uint64_t mine = id;
		struct nvtx_range range;

		if (!atomic_compare_exchange_strong(&slot->id, &mine, UINT64_MAX))
			continue;
		range = slot->range;
		atomic_store_explicit(&slot->id, 0, memory_order_release);
		add_payloads(&range, range.handle, data, count);
		send(&range, NVTX_STARTED, id, 0);
		return;
	}
}

void nvtx_ranges__mark(struct nvtx_range range)
{
	send(&range, NVTX_MARK, 0, 0);
}

uint32_t nvtx_ranges__open(void)
{
	const struct stack *stack = my_stack();

	return stack ? stack->depth : 0;
}
