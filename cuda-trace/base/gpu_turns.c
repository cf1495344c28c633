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

/* What was taken for the turn of old work was, at its end, the change to a kernel that begins. */
static void move_change(struct gpu_turns *turns, struct gpu_turn *to, uint64_t now)
{
	uint32_t change = turns->had < turns->change ? turns->had : turns->change;

	if (turns->runner == to || turns->runner->ran + 1 != now)
		return;
	turns->runner->moments -= change;
	to->moments += change;
}

void gpu_turns__young(struct gpu_turns *turns, struct gpu_turn *const *list, uint32_t count,
		      uint64_t now, uint32_t length)
{
	if (turns->runner && count == 1)
		move_change(turns, list[0], now);
	turns->runner = NULL;
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
	turns->had = 0;
	for (uint32_t i = 1; i < count; i++)
		if (list[i]->ran < turns->runner->ran)
			turns->runner = list[i];
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
		now += part;
		length -= part;
		turns->had += part;
		turns->runner->moments += part;
		turns->runner->ran = now - 1;
	}
}

void gpu_turns__forget(struct gpu_turns *turns, const struct gpu_turn *turn)
{
	if (turns->runner == turn)
		turns->runner = NULL;
}
