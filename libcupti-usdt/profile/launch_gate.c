// SPDX-License-Identifier: BSD-2-Clause
/*
 * A slot for each thread that is in a launch call, and a word that says that one is alone. No
 * thread-local storage: that of a library which is opened late may be allocated at its first use.
 *
 * Failure modes: 1. a launch waits for another that waits for it (kernels that wait for each
 * other's flags): both waits have an end; the one alone gives up first, so its kernel is not
 * counted. 2. a thread is killed inside a launch: so is its process. 3. more threads than slots:
 * whoever has none keeps everybody from being alone meanwhile. 4. a thread that launches without a
 * pause shuts the gate again before any that waits has woken up: it lets the others go first.
 */
#include "libcupti-usdt/profile/launch_gate.h"

#include <pthread.h>
#include <stdatomic.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/base/threads.h"

#define SLOTS	      256U
#define TURN_MS	      20
#define ALONE_TURNS   200
#define ALONE_TURN_MS 1
#define LET_OTHERS_MS 20

static _Atomic(uintptr_t) slots[SLOTS];
static _Atomic(uint32_t) without_slot;
static _Atomic(uint32_t) alone;	  /* futex */
static _Atomic(uint32_t) waiting; /* futex */
static _Atomic(uintptr_t) owner;

static uintptr_t self(void)
{
	return (uintptr_t)pthread_self();
}

static uint32_t first_slot(void)
{
	return (uint32_t)(self() * 0x9e3779b97f4a7c15ULL >> 40) % SLOTS;
}

static _Atomic(uintptr_t) *replace(uintptr_t from, uintptr_t to)
{
	uint32_t first = first_slot();

	for (uint32_t i = 0; i < SLOTS; i++) {
		uintptr_t expected = from;

		if (atomic_compare_exchange_strong(&slots[(first + i) % SLOTS], &expected, to))
			return &slots[(first + i) % SLOTS];
	}
	return NULL;
}

static void acquire_slot(void)
{
	if (!replace(0, self()))
		atomic_fetch_add(&without_slot, 1);
}

/* Nothing to release: this call was entered before anybody looked. */
void launch_gate__leave(void)
{
	uint32_t some = atomic_load(&without_slot);

	if (replace(self(), 0))
		return;
	while (some && !atomic_compare_exchange_weak(&without_slot, &some, some - 1))
		;
}

static void stop_waiting(void)
{
	atomic_fetch_sub(&waiting, 1);
	futex__wake(&waiting);
}

/* By the clock, not by turns: each launch that is counted wakes this one up. */
static bool enter_late(uint32_t most_ms)
{
	for (uint64_t end = clock__now() + most_ms * 1000000ULL; clock__now() < end;) {
		futex__wait(&alone, 1, TURN_MS);
		acquire_slot();
		if (!atomic_load(&alone))
			return true;
		launch_gate__leave();
	}
	acquire_slot();
	return false;
}

bool launch_gate__enter(uint32_t most_ms)
{
	bool is_in;

	acquire_slot();
	if (!atomic_load(&alone))
		return true;
	launch_gate__leave();
	atomic_fetch_add(&waiting, 1);
	is_in = enter_late(most_ms);
	stop_waiting();
	return is_in;
}

static bool is_quiet(void)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (atomic_load(&slots[i]))
			return false;
	return !atomic_load(&without_slot);
}

static bool shut(void)
{
	uint32_t nobody = 0;

	if (!atomic_compare_exchange_strong(&alone, &nobody, 1))
		return false;
	atomic_store(&owner, self());
	return true;
}

static void let_others_first(void)
{
	uint32_t others;

	for (int turn = 0; turn < LET_OTHERS_MS && (others = atomic_load(&waiting)); turn++)
		futex__wait(&waiting, others, 1);
}

static bool claim(void)
{
	bool is_mine;

	let_others_first();
	if (shut())
		return true;
	atomic_fetch_add(&waiting, 1);
	for (int turn = 0; !(is_mine = shut()) && turn < ALONE_TURNS; turn++)
		futex__wait(&alone, 1, TURN_MS);
	stop_waiting();
	return is_mine;
}

bool launch_gate__enter_alone(void)
{
	if (!claim())
		return false;
	for (int turn = 0; turn < ALONE_TURNS; turn++) {
		if (is_quiet())
			return true;
		futex__wait(&alone, 1, ALONE_TURN_MS);
	}
	launch_gate__leave_alone();
	return false;
}

void launch_gate__leave_alone(void)
{
	atomic_store(&owner, 0);
	atomic_store(&alone, 0);
	futex__wake(&alone);
}

void launch_gate__join(void)
{
	acquire_slot();
	launch_gate__leave_alone();
}

bool launch_gate__is_mine(void)
{
	return atomic_load(&owner) == self();
}

void launch_gate__reset(void)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		atomic_store(&slots[i], 0);
	atomic_store(&without_slot, 0);
}

bool launch_gate__is_shut(void)
{
	return atomic_load(&alone);
}
