// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/gpu_turns.h"

#include <stdbool.h>
#include <stddef.h>
#include "bpf/time_slice.h"

void gpu_turns__init(struct gpu_turns *turns, uint64_t moment_ns)
{
	*turns = (struct gpu_turns){
		.slice = (uint32_t)((TIME_SLICE_NS + TIME_CHANGE_NS) / moment_ns),
		.change = (uint32_t)(TIME_CHANGE_NS / moment_ns),
	};
}

/* The end of a turn was the change to a kernel that begins now. */
static void drop_change(struct gpu_turns *turns, const struct gpu_turn *to, uint64_t now)
{
	uint32_t ran = turns->had - turns->changed;
	uint32_t change = ran < turns->change ? ran : turns->change;

	if (turns->runner == to || turns->runner->ran + 1 != now)
		return;
	turns->runner->moments -= change;
	turns->changes += change;
	/* It had no turn. */
	if (ran <= change)
		turns->runner->ran = turns->ran_before;
}

void gpu_turns__young(struct gpu_turns *turns, struct gpu_turn *const *list, uint32_t count,
		      uint64_t now, uint32_t length)
{
	if (turns->runner && count == 1)
		drop_change(turns, list[0], now);
	turns->runner = NULL;
	turns->last = count == 1 ? list[0] : NULL;
	for (uint32_t i = 0; i < count; i++) {
		list[i]->moments += (double)length / count;
		list[i]->ran = now + length - 1;
	}
}

static bool goes_on(const struct gpu_turns *turns, struct gpu_turn *const *list, uint32_t count)
{
	if (!turns->runner || turns->had >= turns->slice)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (list[i] == turns->runner)
			return true;
	return false;
}

/* Who has waited longest. */
static void begin_turn(struct gpu_turns *turns, struct gpu_turn *const *list, uint32_t count)
{
	turns->runner = list[0];
	for (uint32_t i = 1; i < count; i++)
		if (list[i]->ran < turns->runner->ran)
			turns->runner = list[i];
	turns->ran_before = turns->runner->ran;
	turns->had = turns->changed = 0;
}

/* Moments of the turn that are not too many for it. */
static void have(struct gpu_turns *turns, uint32_t length)
{
	bool changes = turns->last && turns->last != turns->runner;
	uint32_t change = changes ? turns->change - turns->changed : 0;

	if (change > length)
		change = length;
	turns->had += length;
	turns->changed += change;
	turns->changes += change;
	turns->runner->moments += length - change;
	if (!changes || turns->changed == turns->change)
		turns->last = turns->runner;
}

void gpu_turns__old(struct gpu_turns *turns, struct gpu_turn *const *list, uint32_t count,
		    uint64_t now, uint32_t length)
{
	while (length) {
		uint32_t part = length;

		if (!goes_on(turns, list, count))
			begin_turn(turns, list, count);
		if (part > turns->slice - turns->had)
			part = turns->slice - turns->had;
		have(turns, part);
		now += part;
		length -= part;
		turns->runner->ran = now - 1;
	}
}

double gpu_turns__drain_changes(struct gpu_turns *turns)
{
	double changes = turns->changes;

	turns->changes = 0;
	return changes;
}

void gpu_turns__forget(struct gpu_turns *turns, const struct gpu_turn *turn)
{
	if (turns->runner == turn)
		turns->runner = NULL;
	if (turns->last == turn)
		turns->last = NULL;
}
