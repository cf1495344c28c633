// SPDX-License-Identifier: BSD-2-Clause
/*
 * A launch comes as its record (which kernel) and its stack, in either order: records that came
 * first wait in a table of fixed size, each correlation id in its own place, and are overwritten.
 */
#include "cuda-trace/push/push_stalls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/intern.h"
#include "cuda-trace/profile/pc/pc_reason.h"
#include "cuda-trace/recording/store_text.h"

#define MAX_SUMS   (1u << 16)
#define MAX_PLACES (1u << 16) /* from which kernels are launched */
#define MAX_NAMES  8192
#define MAX_BYTES  (8u << 20)
#define MAX_LEAVES (1u << 18) /* beyond that, kernels are without stacks */
#define NAME_BYTES 4096
#define WAITING	   (1u << 16)
#define DROPPED	   "[dropped by the GPU]"

struct sum {
	struct push_process *owner;
	uint32_t device, function, reason; /* numbers of names; function 0 = dropped */
	uint64_t samples;
};

struct place {
	struct push_process *owner;
	uint32_t function, stack;
	uint32_t next;	 /* of the same kernel; 0 = none */
	uint32_t length; /* of the first of a kernel: how many there are */
	uint64_t launches;
};

/* The list begins with element 1. */
struct places {
	struct place *list;
	uint32_t count, capacity;
	struct key_index index, firsts; /* by kernel and stack; by kernel */
};

struct waiting {
	uint32_t owner, correlation, name;
};

struct push_stalls {
	struct sum *sums;
	uint32_t count, capacity;
	struct key_index index;
	struct places places, older; /* of this interval; the last ones known before it */
	struct interned *names, *reasons;
	struct waiting *waiting;
	struct push_stall_counts counts;
};

static bool renew(struct interned **set, uint32_t most)
{
	intern__free(*set);
	*set = intern__new(most, MAX_BYTES);
	return *set;
}

struct push_stalls *push_stalls__new(void)
{
	struct push_stalls *stalls = calloc(1, sizeof(*stalls));

	if (!stalls)
		return NULL;
	stalls->waiting = calloc(WAITING, sizeof(*stalls->waiting));
	if (stalls->waiting && renew(&stalls->names, MAX_NAMES) &&
	    renew(&stalls->reasons, PC_MAX_REASONS))
		return stalls;
	push_stalls__free(stalls);
	return NULL;
}

static void clear_places(struct places *places)
{
	free(places->list);
	key_index__free(&places->index);
	key_index__free(&places->firsts);
	*places = (struct places){};
}

static void clear_sums(struct push_stalls *stalls)
{
	free(stalls->sums);
	key_index__free(&stalls->index);
	stalls->sums = NULL;
	stalls->count = stalls->capacity = 0;
	stalls->index = (struct key_index){};
}

void push_stalls__free(struct push_stalls *stalls)
{
	if (!stalls)
		return;
	clear_sums(stalls);
	clear_places(&stalls->places);
	clear_places(&stalls->older);
	intern__free(stalls->names);
	intern__free(stalls->reasons);
	free(stalls->waiting);
	free(stalls);
}

/* 0 = there is no space for it. */
static uint32_t number_of(struct interned *set, const char *text)
{
	char *clean = text ? store__clean_text(text, strnlen(text, NAME_BYTES)) : NULL;
	uint32_t number = clean ? intern__number(set, clean, strlen(clean) + 1, NULL) : 0;

	free(clean);
	return number;
}

/* ---- samples ---- */

static bool is_sum(const struct sum *a, const struct sum *b)
{
	return a->owner == b->owner && a->device == b->device && a->function == b->function &&
	       a->reason == b->reason;
}

static bool add_sum(struct push_stalls *stalls, const struct sum *sum)
{
	uint64_t key = key_index__mix((uint64_t)sum->owner->number << 32 | sum->function,
				      (uint64_t)sum->device << 32 | sum->reason);
	ssize_t known = key_index__match(&stalls->index, key, i, is_sum(&stalls->sums[i], sum));

	if (known >= 0) {
		stalls->sums[known].samples += sum->samples;
		return true;
	}
	if (stalls->count >= MAX_SUMS ||
	    !array_grow__for_one(stalls->sums, stalls->capacity, stalls->count) ||
	    !key_index__add(&stalls->index, key, stalls->count))
		return false;
	stalls->sums[stalls->count++] = *sum;
	return true;
}

void push_stalls__sample(struct push_stalls *stalls, struct push_process *own,
			 const struct cuda_pc_sample *sample)
{
	const char *name = process__name(own->process, sample->reason);
	char reason[PC_REASON_BYTES];
	struct sum sum = {.owner = own, .device = sample->device, .samples = sample->samples};

	/* These were counted before, under the other name. */
	if (pc_reason__split(name ? name : "unknown", reason))
		return;
	sum.function =
		number_of(stalls->names, process__pretty_name(own->process, sample->function));
	sum.reason = number_of(stalls->reasons, reason);
	stalls->counts.placed += sample->samples;
	if (!sum.function || !sum.reason || !add_sum(stalls, &sum))
		stalls->counts.not_fit += sample->samples;
}

void push_stalls__window(struct push_stalls *stalls, struct push_process *own,
			 const struct cuda_pc_window *window)
{
	const struct sum sum = {.owner = own, .device = window->device, .samples = window->dropped};
	struct push_stall_counts *counts = &stalls->counts;

	counts->windows++;
	counts->window_ns += window->end > window->start ? window->end - window->start : 0;
	counts->held_ns += window->held;
	counts->overflows += !!window->overflows;
	counts->total += window->total;
	counts->dropped += window->dropped;
	counts->other += window->other;
	if (window->dropped && !add_sum(stalls, &sum))
		counts->not_fit += window->dropped;
}

/* ---- launches ---- */

static uint64_t kernel_key(const struct push_process *own, uint32_t function)
{
	return (uint64_t)own->number << 32 | function;
}

static bool is_place(const struct place *place, const struct push_process *own, uint32_t function,
		     uint32_t stack)
{
	return place->owner == own && place->function == function && place->stack == stack;
}

/* Without space the kernel has fewer stacks. */
static void add_place(struct places *places, struct push_process *own, uint32_t function,
		      uint32_t stack, uint64_t launches)
{
	uint64_t kernel = kernel_key(own, function), key = key_index__mix(kernel, stack);
	ssize_t known = key_index__match(&places->index, key, i,
					 is_place(&places->list[i], own, function, stack));
	uint32_t *first, number = places->count + 1;

	if (known >= 0) {
		places->list[known].launches += launches;
		return;
	}
	if (places->count >= MAX_PLACES ||
	    !array_grow__to(places->list, places->capacity, (size_t)number + 1) ||
	    !key_index__add(&places->index, key, number))
		return;
	places->list[number] = (struct place){.owner = own,
					      .function = function,
					      .stack = stack,
					      .length = 1,
					      .launches = launches};
	places->count = number;
	first = key_index__at(&places->firsts, kernel);
	if (first) {
		places->list[number].next = *first;
		places->list[number].length += places->list[*first].length;
		*first = number;
	} else {
		key_index__add(&places->firsts, kernel, number);
	}
}

static void add_launch(struct push_stalls *stalls, struct push_process *own, uint32_t name,
		       uint32_t stack)
{
	uint32_t function =
		own->process ? number_of(stalls->names, process__pretty_name(own->process, name))
			     : 0;

	if (function)
		add_place(&stalls->places, own, function, stack, 1);
}

static struct waiting *waiting_of(struct push_stalls *stalls, const struct push_process *own,
				  uint32_t correlation)
{
	return &stalls->waiting[(correlation + own->number * 0x9e3779b1u) % WAITING];
}

void push_stalls__launch(struct push_stalls *stalls, struct push_process *own,
			 const struct cuda_launch *launch, uint32_t stack)
{
	uint32_t correlation = launch->head.correlation;

	if (!launch->name || launch->result)
		return;
	if (stack)
		add_launch(stalls, own, launch->name, stack);
	else
		*waiting_of(stalls, own, correlation) =
			(struct waiting){own->number, correlation, launch->name};
}

void push_stalls__stack(struct push_stalls *stalls, struct push_process *own, uint32_t correlation,
			uint32_t stack)
{
	struct waiting *waiting = waiting_of(stalls, own, correlation);

	if (waiting->owner != own->number || waiting->correlation != correlation)
		return;
	add_launch(stalls, own, waiting->name, stack);
	*waiting = (struct waiting){};
}

/* ---- the end of an interval ---- */

static const char *text_at(const struct interned *set, uint32_t number)
{
	return intern__at(set, number, NULL);
}

/* Calls have the numbers of places, those of older ones come behind them. */
static int fill_calls(const struct push_stalls *stalls, struct push_groups *groups)
{
	const uint32_t count = stalls->places.count;
	const uint32_t all = count + stalls->older.count;

	if (!array_grow__to(groups->calls, groups->call_capacity, (size_t)all + 1))
		return -ENOMEM;
	groups->call_count = all;
	for (uint32_t i = 1; i <= all; i++) {
		const struct place *place =
			i <= count ? &stalls->places.list[i] : &stalls->older.list[i - count];
		uint32_t shift = i <= count ? 0 : count;

		groups->calls[i] = (struct push_call){.stack = place->stack,
						      .next = place->next ? place->next + shift : 0,
						      .ns = place->launches,
						      .count = place->launches};
	}
	return 0;
}

/* The first call of the kernel, if its calls are no more than *leaves, from which they are taken.
 */
static uint32_t calls_of(const struct push_stalls *stalls, const struct sum *sum, uint32_t *leaves)
{
	uint64_t key = kernel_key(sum->owner, sum->function);
	const struct places *places = &stalls->places;
	uint32_t *first = key_index__at(&places->firsts, key), shift = 0;

	if (!first) {
		places = &stalls->older;
		first = key_index__at(&places->firsts, key);
		shift = stalls->places.count;
	}
	if (!first || places->list[*first].length > *leaves)
		return 0;
	*leaves -= places->list[*first].length;
	return *first + shift;
}

int push_stalls__fill(struct push_stalls *stalls, struct push_groups *groups)
{
	uint32_t leaves = MAX_LEAVES;

	if (!array_grow__to(groups->list, groups->capacity, (size_t)stalls->count + 2) ||
	    fill_calls(stalls, groups))
		return -ENOMEM;
	for (uint32_t i = 0; i < stalls->count; i++) {
		const struct sum *sum = &stalls->sums[i];
		struct push_group *group = &groups->list[i + 1];
		bool known = sum->function != 0;

		*group = (struct push_group){
			.owner = sum->owner,
			.device = sum->device,
			.calls = known ? calls_of(stalls, sum, &leaves) : 0,
			.ns = sum->samples,
			.count = sum->samples,
			.text = strdup(known ? text_at(stalls->names, sum->function) : DROPPED),
			.reason = known ? text_at(stalls->reasons, sum->reason) : NULL,
		};
		if (!group->text)
			return -ENOMEM;
		groups->count = i + 1;
	}
	return 0;
}

void push_stalls__next(struct push_stalls *stalls)
{
	struct places kept = {};

	for (uint32_t i = 1; i <= stalls->places.count + stalls->older.count; i++) {
		bool is_old = i > stalls->places.count;
		const struct place *place = is_old ? &stalls->older.list[i - stalls->places.count]
						   : &stalls->places.list[i];
		uint64_t kernel = kernel_key(place->owner, place->function);

		if (place->owner->process &&
		    !(is_old && key_index__at(&stalls->places.firsts, kernel)))
			add_place(&kept, place->owner, place->function, place->stack,
				  place->launches);
	}
	clear_sums(stalls);
	clear_places(&stalls->places);
	clear_places(&stalls->older);
	stalls->older = kept;
	if (intern__count(stalls->names) < MAX_NAMES / 2)
		return;
	clear_places(&stalls->older);
	renew(&stalls->names, MAX_NAMES);
}

void push_stalls__forget_stacks(struct push_stalls *stalls)
{
	clear_places(&stalls->places);
	clear_places(&stalls->older);
}

void push_stalls__count(const struct push_stalls *stalls, struct push_stall_counts *counts)
{
	const struct push_stall_counts *own = &stalls->counts;
	uint64_t known = own->dropped + own->other + own->placed;

	*counts = *own;
	counts->unplaced = own->total > known ? own->total - known : 0;
}
