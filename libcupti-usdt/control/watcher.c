// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread "cupti-usdt". It wakes four times a second while dormant, ten times while something is
 * on, and up to a thousand times while threads of the program fill their rings faster than that. It
 * makes every call that switches CUPTI, the first one included: should one hang, it is not the
 * program that hangs.
 *
 * Fears of the end: 1. CUPTI hangs: the exiting thread waits for a limited time, then the process
 * goes on without us. 2. exit() in a forked child, where this thread does not exist: the caller
 * checks. 3. exit() while this thread is just switching something on: it looks at `stopping`
 * before each step, and finishes with what it has.
 */
#include "libcupti-usdt/control/watcher.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/control/start_handshake.h"
#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/control/control.h"
#include "libcupti-usdt/trace/devices.h"
#include "libcupti-usdt/control/activity_kinds.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/emit/sample_windows.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/base/threads.h"

#define DORMANT_MS 250
#define ACTIVE_MS  100
/* CUPTI fills buffers for all it has before it hands out the first: what gathers must fit. */
#define BURST_MS 25
#define TURN_NS	 20000000ULL

/* Devices are told of as soon as the driver can: right after the program's cuInit(), mostly. */
#define EAGER_MS    10
#define EAGER_TURNS 30

#define ANSWER_MS   2 /* between looks for an answer to cuda:start */
#define FIRST_MS    4 /* who has just attached waits for something to see */

static uint32_t eager = EAGER_TURNS;
static _Atomic(uint32_t) wakes;	   /* futex: raised to wake the thread */
static _Atomic(uint32_t) begun;	   /* futex: 1 when CUPTI is primed, or on */
static _Atomic(uint32_t) finished; /* futex: 1 when it is done */
static atomic_bool stopping, started;

/* Looks who listens. True: CUPTI is on since. */
static bool follow(void)
{
	bool before = control__is_busy();

	control__follow();
	return control__is_busy() && !before;
}

static uint32_t next_pause(uint32_t pause, bool fast)
{
	if ((devices__are_due() || kinds__wait()) && eager) {
		eager--;
		return EAGER_MS;
	}
	if (!control__is_busy())
		return DORMANT_MS;
	if (fast)
		return pause > 4 ? pause / 4 : 1;
	return pause * 2 < ACTIVE_MS ? pause * 2 : ACTIVE_MS;
}

/* Rings that fill fast are emptied between two ticks, the oftener the faster. */
static void *watch(void *unused)
{
	uint32_t seen = atomic_load(&wakes), waited = 0, pause, sleep;

	arrival__tell();
	control__begin();
	while (arrival__is_open() && !atomic_load(&stopping))
		futex__wait(&wakes, seen, ANSWER_MS);
	status__set_began(clock__now());
	pause = follow() ? FIRST_MS : ACTIVE_MS;
	atomic_store(&begun, 1);
	futex__wake(&begun);
	pause = next_pause(pause, false);
	while (!atomic_load(&stopping)) {
		bool fast;

		sleep = sampling__pause(pause, clock__now());
		futex__wait(&wakes, seen, sleep);
		waited += sleep;
		if (atomic_load(&stopping))
			break;
		control__retry();
		control__sample();
		if (devices__are_due())
			devices__tell();
		fast = rings__flush();
		if (waited >= (fast ? BURST_MS : ACTIVE_MS) || atomic_load(&wakes) != seen) {
			seen = atomic_load(&wakes);
			waited = 0;
			if (follow())
				pause = FIRST_MS;
			if (!atomic_load(&stopping))
				control__tick();
		}
		pause = next_pause(pause, fast);
	}
	/* It ended sooner than the next look. */
	if (devices__are_due())
		devices__tell();
	control__finish();
	atomic_store(&finished, 1);
	futex__wake(&finished);
	return NULL;
}

int watcher__start(void)
{
	int error = thread__start("cupti-usdt", watch);

	atomic_store(&started, !error);
	return error;
}

/*
 * Waits for so long at most, counted in short turns: a machine that stood still for a second (a
 * paused virtual one, a host under load) has not given the guest's thread a second.
 */
void watcher__await(_Atomic(uint32_t) *word, unsigned int milliseconds)
{
	uint64_t before = clock__now(), left = milliseconds * 1000000ULL;

	while (!atomic_load(word) && left) {
		uint64_t now, turn = left < TURN_NS ? left : TURN_NS;

		futex__wait(word, 0, turn / 1000000 + 1);
		now = clock__now();
		left -= now - before < turn ? now - before : turn;
		before = now;
	}
}

void watcher__await_start(unsigned int milliseconds)
{
	if (atomic_load(&started))
		watcher__await(&begun, milliseconds);
}

void watcher__hurry(void)
{
	int saved = errno;

	atomic_fetch_add(&wakes, 1);
	futex__wake(&wakes);
	errno = saved;
}

void watcher__stop(unsigned int milliseconds)
{
	if (!atomic_load(&started))
		return;
	atomic_store(&stopping, true);
	watcher__hurry();
	watcher__await(&finished, milliseconds);
}
