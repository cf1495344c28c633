// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where CUPTI needs it (before 13.0 Update 1), a slot for each thread that is inside of a graph's
 * launch, for as long as somebody listens: who is in one when a switch is due has entered it long
 * before. Other launches are let out by a pause. Later versions need no slots, and the barrier only
 * to switch off: their launches end as soon as their threads have had a CPU.
 *
 * Failure modes: 1. a launch waits for ever: CUPTI does not come back. It waits for a limited time.
 * 2. a graph's launch does not end, as it waits for another that is held, or a thread gets no CPU
 * in the middle of one: the switch is put off, the longer the oftener that happens. 3. a thread was
 * inside before callbacks came, and has no slot: nothing is switched off before they have come for
 * a second. 4. callbacks were switched off while a thread was inside, so that its slot stays taken:
 * slots are forgotten with each session. 5. more threads than slots: whoever has none is not seen,
 * as if this were not here.
 */
#include "libcupti-usdt/trace/switch_barrier.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/base/thread_progress.h"
#include "libcupti-usdt/base/threads.h"

#define SLOTS	  256U
#define HELD_MS	  3500
#define SETTLE_MS 2   /* in which plain launches end, and a graph's that nobody saw begin */
#define LEAVE_US  300 /* in which plain launches end, but for threads that do not get a CPU */
#define TRIES	  6   /* that may fail, within a minute: the next one switches in any case */
#define URGENT_MS 400 /* for which these are waited for if another client waits for us */
#define QUIET_MS  100 /* at first: each time that it does not suffice twice as long */
#define QUIET_MAX 800
#define UNSEEN_NS 1000000000ULL /* a launch that began before callbacks came has ended */
#define PAUSE_NS  1000000000ULL
#define PAUSE_MAX 32000000000ULL

static _Atomic(uintptr_t) slots[SLOTS];
static _Atomic(uint32_t) held; /* futex */
static atomic_bool needed;
static bool was_urgent;
static uint32_t quiet_ms, failures;
static uint64_t pause_ns, not_before, unseen_until;

static void begin_anew(void)
{
	quiet_ms = QUIET_MS;
	pause_ns = PAUSE_NS;
	failures = 0;
}

void switch_barrier__open(uint32_t version, bool program_runs)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		atomic_store(&slots[i], 0);
	begin_anew();
	not_before = 0;
	was_urgent = false;
	unseen_until = program_runs ? clock__now() + UNSEEN_NS : 0;
	atomic_store(&needed, version <= CUPTI_VERSION_13_0);
}

bool switch_barrier__is_needed(void)
{
	return atomic_load_explicit(&needed, memory_order_relaxed);
}

static void replace(uintptr_t from, uintptr_t to)
{
	uint32_t first = (uint64_t)pthread_self() * 0x9e3779b97f4a7c15ULL >> 40;

	for (uint32_t i = 0; i < SLOTS; i++) {
		uintptr_t expected = from;

		if (atomic_compare_exchange_strong(&slots[(first + i) % SLOTS], &expected, to))
			return;
	}
}

bool switch_barrier__enter(bool graph)
{
	uint64_t until = 0;

	for (;;) {
		if (graph)
			replace(0, (uintptr_t)pthread_self());
		if (!atomic_load(&held))
			return until;
		if (!until)
			until = clock__now() + HELD_MS * 1000000ULL;
		else if (clock__now() >= until)
			return true;
		switch_barrier__leave(graph);
		/* In one piece: a thread that wakes up wants a CPU, so the switch would wait for
		 * it. */
		futex__wait(&held, 1, HELD_MS);
	}
}

void switch_barrier__leave(bool graph)
{
	if (graph)
		replace((uintptr_t)pthread_self(), 0);
}

static bool is_quiet(void)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (atomic_load(&slots[i]))
			return false;
	return true;
}

bool switch_barrier__is_put_off(void)
{
	return clock__now() < not_before;
}

static void put_off(void)
{
	failures++;
	not_before = clock__now() + pause_ns;
	if (pause_ns < PAUSE_MAX)
		pause_ns *= 2;
	if (quiet_ms < QUIET_MAX)
		quiet_ms *= 2;
}

static bool graphs_have_left(void)
{
	thread__rest(SETTLE_MS * 1000);
	for (uint32_t turn = 0; turn < quiet_ms; turn++) {
		if (is_quiet())
			return true;
		thread__rest(1000);
	}
	return false;
}

static bool plain_launches_have_left(bool urgent)
{
	enum thread_progress progress;

	thread__rest(LEAVE_US);
	progress = thread_progress__wait(urgent ? URGENT_MS : quiet_ms / 2);
	if (progress == THREADS_UNKNOWN)
		thread__rest(SETTLE_MS * 1000);
	/* A thread that never gets a CPU must not have the program traced for ever. */
	return progress != THREADS_WAIT || failures >= TRIES;
}

bool switch_barrier__begin(bool off, bool urgent)
{
	uint64_t now = clock__now();

	/* A client that has just come does not wait for the end of a pause. */
	if (urgent && !was_urgent)
		not_before = 0;
	was_urgent = urgent;
	if ((!switch_barrier__is_needed() && !off) || atomic_load(&held))
		return true;
	if (now < not_before || (switch_barrier__is_needed() && off && now < unseen_until))
		return false;
	atomic_store(&held, 1);
	launch_state__detour(DETOUR_BARRIER, true);
	if (switch_barrier__is_needed() ? graphs_have_left() : plain_launches_have_left(urgent)) {
		begin_anew();
		return true;
	}
	switch_barrier__end();
	put_off();
	return false;
}

void switch_barrier__end(void)
{
	if (!atomic_exchange(&held, 0))
		return;
	launch_state__detour(DETOUR_BARRIER, false);
	futex__wake(&held);
}
