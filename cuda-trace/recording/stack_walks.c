// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/recording/stack_walks.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/clock.h"

/* Threads whose copies have come, and their stacks not yet: those that run at the same time. */
#define PLACES 64

struct place {
	uint32_t correlation, tid;
	struct unwound *unwound; /* NULL = free */
};

struct stack_walks {
	struct unwind_tables *tables;
	const struct modules *modules;
	struct mappings *mappings;
	struct unwind_memo *memo;
	struct place places[PLACES];
	uint32_t next; /* the place that is taken when none is free */
};

struct stack_walks *stack_walks__new(struct unwind_tables *tables, const struct modules *modules,
				     struct mappings *mappings)
{
	struct stack_walks *walks = calloc(1, sizeof(*walks));

	if (walks) {
		walks->tables = tables;
		walks->modules = modules;
		walks->mappings = mappings;
		walks->memo = unwind_memo__new();
	}
	return walks;
}

/* A thread has one copy at a time: an older one has lost its stack. */
static struct place *place_for(struct stack_walks *walks, uint32_t tid)
{
	struct place *empty = NULL;

	for (int i = 0; i < PLACES; i++) {
		if (walks->places[i].unwound && walks->places[i].tid == tid)
			return &walks->places[i];
		if (!walks->places[i].unwound)
			empty = &walks->places[i];
	}
	return empty ? empty : &walks->places[walks->next++ % PLACES];
}

static const struct unwound *find_or_walk(struct stack_walks *walks,
					  const struct event_stack_copy *copy)
{
	static struct unwind_trace trace;
	static struct unwound unwound;
	uint64_t now = monotonic__ns();
	const struct unwound *found = unwind_memo__find(walks->memo, copy, now);

	if (found)
		return found;
	unwind__walk(&unwound, &trace, copy, walks->tables, walks->modules, walks->mappings);
	/* What ended elsewhere may go on next time: its file was not read yet. */
	if (unwound.end == UNWIND_END_COMPLETE)
		unwind_memo__add(walks->memo, copy, &trace, &unwound, now);
	return &unwound;
}

void stack_walks__handle_copy(struct stack_walks *walks, const struct event_stack_copy *copy)
{
	struct place *place = place_for(walks, copy->tid);
	const struct unwound *unwound = find_or_walk(walks, copy);
	size_t bytes = offsetof(struct unwound, addresses[unwound->count]);

	free(place->unwound);
	place->tid = copy->tid;
	place->correlation = copy->correlation;
	place->unwound = malloc(bytes);
	if (place->unwound)
		memcpy(place->unwound, unwound, bytes);
}

static struct unwound *remove_unwound(struct stack_walks *walks, const struct event_stack *event)
{
	for (int i = 0; i < PLACES; i++) {
		struct unwound *unwound = walks->places[i].unwound;

		if (!unwound || walks->places[i].tid != event->tid)
			continue;
		walks->places[i].unwound = NULL;
		if (walks->places[i].correlation == event->correlation)
			return unwound;
		free(unwound);
		return NULL;
	}
	return NULL;
}

static void add(struct native_stack *stack, const void *addresses, uint32_t count)
{
	memcpy(stack->addresses + stack->count, addresses, count * sizeof(stack->addresses[0]));
	stack->count += count;
}

/* Addresses up to the last one that lies in some file. */
static uint32_t count_in_files(const struct stack_walks *walks, const struct event_stack *event)
{
	uint32_t count = event->depth;
	uint64_t in_module;

	while (count && !mappings__find(walks->mappings, event->addresses[count - 1] - (count > 1),
					&in_module))
		count--;
	return count;
}

static void add_rest(struct native_stack *stack, const struct unwound *unwound,
		     const struct event_stack *event)
{
	uint32_t from = unwound->by_pointers;

	stack->source = STACK_CUT;
	if (from && from < event->depth)
		add(stack, event->addresses + from, event->depth - from);
}

void stack_walks__find(struct stack_walks *walks, const struct event_stack *event,
		       struct native_stack *stack)
{
	struct unwound *unwound = remove_unwound(walks, event);

	stack->count = 0;
	stack->source = STACK_UNWOUND;
	if (!unwound) {
		add(stack, event->addresses, event->depth);
		stack->source = event->depth == STACK_ADDRESSES ? STACK_CUT : STACK_BY_POINTERS;
		return;
	}
	if (unwound->end == UNWIND_END_UNKNOWN &&
	    (!unwound->count || count_in_files(walks, event) > unwound->count))
		add(stack, event->addresses, event->depth);
	else
		add(stack, unwound->addresses, unwound->count);
	if (unwound->end == UNWIND_END_UNKNOWN)
		stack->source = STACK_INCOMPLETE;
	else if (unwound->end == UNWIND_END_COPY)
		add_rest(stack, unwound, event);
	else if (unwound->end == UNWIND_END_FRAMES)
		stack->source = STACK_CUT;
	free(unwound);
}

void stack_walks__free(struct stack_walks *walks)
{
	if (!walks)
		return;
	for (int i = 0; i < PLACES; i++)
		free(walks->places[i].unwound);
	unwind_memo__free(walks->memo);
	free(walks);
}
