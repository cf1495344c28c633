// SPDX-License-Identifier: BSD-2-Clause
/*
 * NVTX calls → records, a range when it ends. Push/pop ranges are kept on a stack a thread (beside
 * its ring), start/end ranges in a table by id; both are bounded, and a range that does not fit is
 * counted. Texts of wide characters become UTF-8. Handles of domains and strings that were made
 * before anybody listened have no name.
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
#include <stdio.h>
#include <string.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_calls.h"
#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/base/timestamps.h"
#include "libcupti-usdt/emit/status.h"

#define DEPTH  16
#define STARTS 256U  /* power of 2 */
#define KNOWN  1024U /* handles; power of 2 */
#define PROBES 16U
#define WIDE   1024U /* bytes of UTF-8: on the program's stack, which may be small */

enum nvtx_kind { NVTX_MARK = 1, NVTX_PUSHED = 2, NVTX_STARTED = 3 };

struct range {
	uint64_t start;	 /* ns: what begins and what ends it have the same */
	uint64_t handle; /* the domain's; 0 = the default one */
	uint32_t text, domain, color, category;
	uint32_t dropped; /* pushed after it in its domain, still open, and not kept */
};

struct stack {
	uint32_t tid; /* whose ranges these are */
	uint32_t session;
	uint32_t depth;
	struct range ranges[DEPTH];
};

struct started {
	_Atomic(uint64_t) id; /* 0 = free, ~0 = being written */
	struct range range;
};

struct known {
	_Atomic(uint64_t) handle;
	_Atomic(uint32_t) name;
};

static struct tables {
	struct stack stacks[RINGS_MAX];
	struct started started[STARTS];
	struct known known[KNOWN];
	_Atomic(uint32_t) session;
} * tables;

int nvtx__open(void)
{
	if (!tables)
		tables = memory__map(sizeof(*tables));
	return tables ? 0 : -ENOMEM;
}

void nvtx__begin(void)
{
	if (!tables)
		return;
	atomic_fetch_add(&tables->session, 1);
	for (uint32_t i = 0; i < STARTS; i++) {
		uint64_t id = atomic_load(&tables->started[i].id);

		if (id != UINT64_MAX)
			atomic_compare_exchange_strong(&tables->started[i].id, &id, 0);
	}
	probe_sites__nvtx_open(status__instance());
}

/* What is no character becomes a question mark. */
static char *put_character(char *to, uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = '?';
	if (c < 0x80) {
		*to++ = c;
		return to;
	}
	if (c < 0x800) {
		*to++ = 0xc0 | c >> 6;
	} else {
		if (c < 0x10000) {
			*to++ = 0xe0 | c >> 12;
		} else {
			*to++ = 0xf0 | c >> 18;
			*to++ = 0x80 | (c >> 12 & 0x3f);
		}
		*to++ = 0x80 | (c >> 6 & 0x3f);
	}
	*to++ = 0x80 | (c & 0x3f);
	return to;
}

static uint32_t intern_wide(const wchar_t *text)
{
	char utf8[WIDE], *to = utf8;

	while (text && *text && to < utf8 + WIDE - 4)
		to = put_character(to, *text++);
	*to = 0;
	return interned_names__intern_text(utf8);
}

static void learn(uint64_t handle, uint32_t id)
{
	for (uint32_t i = 0; handle && i < PROBES; i++) {
		struct known *known = &tables->known[((handle >> 4) + i) & (KNOWN - 1)];
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(&known->handle, &none, handle) ||
		    none == handle) {
			atomic_store(&known->name, id);
			return;
		}
	}
}

static uint32_t name_of(uint64_t handle)
{
	for (uint32_t i = 0; handle && i < PROBES; i++) {
		struct known *known = &tables->known[((handle >> 4) + i) & (KNOWN - 1)];

		if (atomic_load(&known->handle) == handle)
			return atomic_load(&known->name);
	}
	return 0;
}

static struct range make_range(uint64_t domain, uint32_t text)
{
	return (struct range){.start = timestamps__to_ns(timestamps__now()),
			      .handle = domain,
			      .text = text,
			      .domain = name_of(domain)};
}

static struct range make_range_ex(uint64_t domain, const struct nvtx_attributes *attributes)
{
	struct range range = make_range(domain, 0);

	if (!attributes || attributes->size < sizeof(*attributes))
		return range;
	range.color = attributes->color_type ? attributes->color : 0;
	range.category = attributes->category;
	if (attributes->message_type == NVTX_MESSAGE_ASCII)
		range.text = interned_names__intern_text(attributes->message);
	else if (attributes->message_type == NVTX_MESSAGE_WIDE)
		range.text = intern_wide(attributes->message);
	else if (attributes->message_type == NVTX_MESSAGE_REGISTERED)
		range.text = name_of((uintptr_t)attributes->message);
	return range;
}

static struct cuda_nvtx describe(const struct ring *ring, const struct range *range,
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
		.kind = kind,
		.depth = depth,
	};
}

static void send(const struct range *range, enum nvtx_kind kind, uint64_t id, uint32_t depth)
{
	struct ring *ring = rings__mine();
	struct cuda_nvtx to = describe(ring, range, kind, id, depth);

	if (kind != NVTX_MARK)
		to.end = timestamps__to_ns(timestamps__now());
	if (probe_sites__batch_wanted(CUDA_GROUP_NVTX)) {
		if (site_wanted(nvtx_open) && kind != NVTX_MARK)
			rings__send_now(CUDA_GROUP_NVTX, &to.head);
		else
			ring__append(ring, CUDA_GROUP_NVTX, &to.head);
	}
	if (site_wanted(nvtx))
		probe_sites__nvtx(&to, interned_names__text(to.text),
				  interned_names__text(to.domain));
}

static void send_open(const struct range *range, enum nvtx_kind kind, uint64_t id, uint32_t depth)
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

static void push(struct range range)
{
	struct stack *stack = my_stack();
	int outer;

	if (!stack) {
		status__lost(CUDA_LOST_THREADS_FULL, 1);
		return;
	}
	if (stack->depth < DEPTH) {
		send_open(&range, NVTX_PUSHED, 0, stack->depth);
		stack->ranges[stack->depth++] = range;
		return;
	}
	outer = innermost(stack, range.handle);
	if (outer >= 0)
		stack->ranges[outer].dropped++;
	status__lost(CUDA_LOST_RANGES_FULL, 1);
}

static void pop(uint64_t domain)
{
	struct stack *stack = my_stack();
	int i = stack ? innermost(stack, domain) : -1;

	if (i < 0)
		return;
	if (stack->ranges[i].dropped) {
		stack->ranges[i].dropped--;
		return;
	}
	send(&stack->ranges[i], NVTX_PUSHED, 0, i);
	memmove(&stack->ranges[i], &stack->ranges[i + 1],
		(stack->depth - i - 1) * sizeof(stack->ranges[0]));
	stack->depth--;
}

static void start(struct range range, uint64_t id)
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
	if (id)
		status__lost(CUDA_LOST_RANGES_FULL, 1);
}

static void end(uint64_t id)
{
	for (uint32_t i = 0; id && i < PROBES; i++) {
		struct started *slot = &tables->started[(id + i) & (STARTS - 1)];
		uint64_t mine = id;
		struct range range;

		if (!atomic_compare_exchange_strong(&slot->id, &mine, UINT64_MAX))
			continue;
		range = slot->range;
		atomic_store_explicit(&slot->id, 0, memory_order_release);
		send(&range, NVTX_STARTED, id, 0);
		return;
	}
}

static uint64_t result_of(const struct cupti_nvtx_data *data)
{
	return data->return_value ? *(const uint64_t *)data->return_value : 0;
}

static void mark(struct range range)
{
	send(&range, NVTX_MARK, 0, 0);
}

static void plain_call(uint32_t cbid, const struct cupti_nvtx_data *data)
{
	const union nvtx_params *params = data->params;

	switch (cbid) {
	case NVTX_MarkA:
		mark(make_range(0, interned_names__intern_text(params->text)));
		break;
	case NVTX_MarkW:
		mark(make_range(0, intern_wide(params->wide)));
		break;
	case NVTX_MarkEx:
		mark(make_range_ex(0, params->attributes));
		break;
	case NVTX_RangePushA:
		push(make_range(0, interned_names__intern_text(params->text)));
		break;
	case NVTX_RangePushEx:
		push(make_range_ex(0, params->attributes));
		break;
	case NVTX_RangePushW:
		push(make_range(0, intern_wide(params->wide)));
		break;
	case NVTX_RangePop:
		pop(0);
		break;
	case NVTX_RangeStartA:
		start(make_range(0, interned_names__intern_text(params->text)), result_of(data));
		break;
	case NVTX_RangeStartEx:
		start(make_range_ex(0, params->attributes), result_of(data));
		break;
	case NVTX_RangeStartW:
		start(make_range(0, intern_wide(params->wide)), result_of(data));
		break;
	case NVTX_RangeEnd:
		end(params->range);
		break;
	}
}

static void domain_call(uint32_t cbid, const struct cupti_nvtx_data *data)
{
	const struct nvtx_domain_params *params = data->params;
	const union nvtx_params *made = data->params;

	switch (cbid) {
	case NVTX_DomainMarkEx:
		mark(make_range_ex(params->domain, params->attributes));
		break;
	case NVTX_DomainRangePushEx:
		push(make_range_ex(params->domain, params->attributes));
		break;
	case NVTX_DomainRangePop:
		pop(params->domain);
		break;
	case NVTX_DomainRangeStartEx:
		start(make_range_ex(params->domain, params->attributes), result_of(data));
		break;
	case NVTX_DomainRangeEnd:
		end(params->range);
		break;
	case NVTX_DomainRegisterStringA:
		learn(result_of(data), interned_names__intern_text(params->text));
		break;
	case NVTX_DomainRegisterStringW:
		learn(result_of(data), intern_wide(params->wide));
		break;
	case NVTX_DomainCreateA:
		learn(result_of(data), interned_names__intern_text(made->text));
		break;
	case NVTX_DomainCreateW:
		learn(result_of(data), intern_wide(made->wide));
		break;
	}
}

void nvtx__callback(uint32_t cbid, const struct cupti_nvtx_data *data)
{
	if (!tables)
		return;
	if (cbid < NVTX_DomainMarkEx)
		plain_call(cbid, data);
	else
		domain_call(cbid, data);
}
