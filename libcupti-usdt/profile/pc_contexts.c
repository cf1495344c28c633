// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure mode: a context is destroyed while a call of ours names it. Its slot is emptied in
 * CUPTI's callback before that, on the thread that destroys it, which waits, for a limited time,
 * for the call that is under way; CUPTI itself takes down what it had for the context.
 */
#include "libcupti-usdt/profile/pc_contexts.h"

#include <errno.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/base/threads.h"

#define STALE_TRIES 3
#define WAIT_MS	    200 /* of a thread that destroys a context */

static struct slot slots[CONTEXTS];
static _Atomic(uint32_t) in_call; /* futex: slot + 1 whose context is in a call of ours */
static int first;

struct slot *pc_contexts__slot(int i)
{
	return &slots[i];
}

void pc_contexts__listen(bool on)
{
	launch_state__detour(DETOUR_PC, on);
}

static bool is_known(const void *context)
{
	for (int i = 0; i < CONTEXTS; i++)
		if (atomic_load(&slots[i].context) == context)
			return true;
	return false;
}

static void add_context(void *context)
{
	for (int i = 0; context && i < CONTEXTS && !is_known(context); i++) {
		void *none = NULL;

		if (atomic_compare_exchange_strong(&slots[i].context, &none, context))
			return;
	}
}

void pc_contexts__begins(void *context)
{
	if (launch_state__detours() & DETOUR_PC)
		add_context(context);
}

void pc_contexts__ends(void *context)
{
	for (uint32_t i = 0; context && i < CONTEXTS; i++) {
		void *expected = context;

		if (atomic_load(&slots[i].context) != context)
			continue;
		atomic_fetch_add(&slots[i].ended, 1);
		if (!atomic_compare_exchange_strong(&slots[i].context, &expected, NULL))
			continue;
		for (int turn = 0; turn < WAIT_MS && atomic_load(&in_call) == i + 1; turn++)
			futex__wait(&in_call, i + 1, 1);
	}
}

void *pc_contexts__enter(struct slot *slot)
{
	void *context;

	atomic_store(&in_call, slot - slots + 1);
	context = atomic_load(&slot->context);
	if (context && atomic_load(&slot->ended) == slot->seen)
		return context;
	atomic_store(&in_call, 0);
	return NULL;
}

void pc_contexts__leave(void)
{
	atomic_store(&in_call, 0);
	futex__wake(&in_call);
}

void pc_contexts__clear(struct slot *slot)
{
	slot->enabled = slot->started = slot->stopped = slot->refused = slot->rivalled = false;
	slot->id = slot->device = slot->period = 0;
}

int pc_contexts__call(struct slot *slot, int (*function)(struct cupti_pc_context *))
{
	struct cupti_pc_context of = {.size = CUPTI_PC_SIZE(struct cupti_pc_context, context)};
	int result;

	of.context = pc_contexts__enter(slot);
	if (!of.context) {
		pc_contexts__clear(slot);
		return -ENOENT;
	}
	result = function(&of);
	pc_contexts__leave();
	return result;
}

void pc_contexts__tell(struct slot *slot, int result, const char *what, const char *why)
{
	slot->refused = true;
	status__trouble(result, what, "%s", why);
}

/* The driver may still show a context as active that CUPTI has said goodbye to. */
void pc_contexts__refuse(struct slot *slot, int result, const char *what)
{
	if (result == CUPTI_INVALID_CONTEXT ||
	    (result == CUPTI_INVALID_OPERATION && slot->stale++ < STALE_TRIES))
		pc_contexts__free(slot);
	else if (result > 0)
		pc_contexts__tell(slot, result, what, cupti_api__result_text(result));
	else
		slot->refused = true;
}

void pc_contexts__free(struct slot *slot)
{
	pc_contexts__clear(slot);
	atomic_store(&slot->context, NULL);
}

bool pc_contexts__has_rival(const struct slot *slot)
{
	for (int i = 0; i < CONTEXTS; i++)
		if (&slots[i] != slot && slots[i].started && slots[i].device == slot->device)
			return true;
	return false;
}

/* Another one is the first each time: of those that a GPU has, one can be sampled at a time. */
void pc_contexts__each(void (*do_it)(struct slot *), void (*cut)(struct slot *))
{
	first = (first + 1) % CONTEXTS;
	for (int n = 0, i = first; n < CONTEXTS; n++, i = (i + 1) % CONTEXTS) {
		uint32_t ended = atomic_load(&slots[i].ended);

		/* Another one may have taken the place of that which went, at the same address
		 * even. */
		if (ended != slots[i].seen) {
			if (slots[i].started)
				cut(&slots[i]);
			pc_contexts__clear(&slots[i]);
		}
		slots[i].seen = ended;
		if (atomic_load(&slots[i].context))
			do_it(&slots[i]);
	}
}
