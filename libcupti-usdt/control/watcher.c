// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread "cupti-usdt". It wakes four times a second while dormant, ten times while something is
 * on, and up to a thousand times while threads of the program fill their rings faster than that. It
 * makes every call that switches CUPTI, the first one included: should one hang, it is not the
 * program that hangs.
 *
 * Failure modes of the end: 1. CUPTI hangs: the exiting thread waits for a limited time, then the
 * process goes on without us. 2. exit() in a forked child, where this thread does not exist: the
 * caller checks. 3. exit() while this thread is just switching something on: it looks at `stopping`
 * before each step, and finishes with what it has.
 */
#include "libcupti-usdt/control/watcher.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/control/claim.h"
#include "libcupti-usdt/control/control.h"
#include "libcupti-usdt/control/cpus.h"
#include "libcupti-usdt/control/sandbox.h"
#include "libcupti-usdt/trace/devices.h"
#include "libcupti-usdt/control/activity_kinds.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/emit/sample_windows.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/base/threads.h"
#include "libcupti-usdt/base/wakeup.h"

#define DORMANT_MS 250
#define ACTIVE_MS  100
/* CUPTI fills buffers for all it has before it hands out the first: what gathers must fit. */
#define BURST_MS 25

/* Devices are reported as soon as the driver knows them: mostly right after the program's cuInit().
 */
#define EAGER_MS    10
#define EAGER_TURNS 30

#define FIRST_MS    4 /* who has just attached waits for something to see */

static uint32_t eager = EAGER_TURNS;
static _Atomic(uint32_t) begun;	   /* futex: 1 when CUPTI is primed, or on */
static _Atomic(uint32_t) finished; /* futex: 1 when it is done */
static atomic_bool stopping, started;
static _Atomic(uint32_t) prepared = 1; /* futex: 0 while watcher__prepare() waits */

/* Looks who listens. True: CUPTI is on since. */
static bool follow(void)
{
	bool before = status__is_busy();

	control__follow();
	return status__is_busy() && !before;
}

static uint32_t next_pause(uint32_t pause, bool fast)
{
	if ((devices__are_due() || activity_kinds__wait()) && eager) {
		eager--;
		return EAGER_MS;
	}
	if (!status__is_busy())
		return DORMANT_MS;
	if (fast)
		return pause > 4 ? pause / 4 : 1;
	return pause * 2 < ACTIVE_MS ? pause * 2 : ACTIVE_MS;
}

/* Rings that fill fast are emptied between two ticks, the oftener the faster. */
static void *watch(void *unused)
{
	uint32_t seen = wakeup__count(), waited = 0, pause, sleep;

	if (sandbox__is_free())
		cpus__spread();
	control__begin();
	status__set_began(clock__now());
	pause = follow() ? FIRST_MS : ACTIVE_MS;
	claim__release_program();
	atomic_store(&begun, 1);
	futex__wake(&begun);
	pause = next_pause(pause, false);
	while (!atomic_load(&stopping)) {
		bool fast;

		sleep = sample_windows__pause(pause, clock__now());
		claim__wait(seen, sleep);
		waited += sleep;
		if (atomic_load(&stopping))
			break;
		if (!atomic_load(&prepared)) {
			control__prepare();
			if (follow())
				pause = FIRST_MS;
			atomic_store(&prepared, 1);
			futex__wake(&prepared);
		}
		control__retry();
		control__sample();
		if (devices__are_due())
			devices__tell();
		fast = rings__flush();
		if (waited >= (fast ? BURST_MS : ACTIVE_MS) || wakeup__count() != seen ||
		    claim__is_due()) {
			seen = wakeup__count();
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

void watcher__wait_for_start(unsigned int milliseconds)
{
	if (atomic_load(&started))
		futex__wait_until_set(&begun, milliseconds);
}

void watcher__prepare(unsigned int milliseconds)
{
	if (!atomic_load(&started) || atomic_load(&stopping))
		return;
	atomic_store(&prepared, 0);
	wakeup__request();
	futex__wait_until_set(&prepared, milliseconds);
}

void watcher__stop(unsigned int milliseconds)
{
	if (!atomic_load(&started))
		return;
	atomic_store(&stopping, true);
	wakeup__request();
	futex__wait_until_set(&finished, milliseconds);
}
