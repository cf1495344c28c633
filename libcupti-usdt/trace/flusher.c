// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuptiActivityFlushAll() waits for CUPTI's own worker, and that for locks of the driver: with
 * eight threads that launch graphs flat out it was seen to take 10 s on an H100. A thread of its
 * own takes that, so that attaching, detaching and host records go on meanwhile.
 *
 * It has nothing to do during the first subscription, which the agent's own thread waits in: then
 * it reports to consumers that the subscription is under way.
 *
 * Failure modes: 1. a flush outlives the session that requested it: what it brings is dropped as
 * nobody listens, or as older than the next session. 2. it never comes back: nothing waits for it,
 * not even the program's exit. 3. requested while it runs: it runs once more, not once a request.
 */
#include "libcupti-usdt/trace/flusher.h"

#include <stdbool.h>
#include <stddef.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/base/wakeup.h"
#include "libcupti-usdt/trace/activity_buffers.h"
#include "libcupti-usdt/trace/activity_records.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/base/threads.h"

#define TELL_MS	    250 /* as often as a dormant agent wakes */
#define SETTLE_MS   5
#define AGAIN_MS    3
#define AGAIN_TIMES 8
#define LAST_TIMES  30 /* the consumer waits for 1.5 s */
#define SETTLE_MAX  20

static _Atomic(uint32_t) wakes; /* futex */
static atomic_bool requested, all, first, telling;
static _Atomic(uint64_t) flushed; /* ns, when the last flush of all began that is over */

/* The first subscription goes on: who began to listen meanwhile can make launches pause for it. */
static void tell_first(void)
{
	atomic_store(&telling, true);
	if (atomic_load(&first) && status__state() != CUDA_STATE_ENDED)
		status__send();
	atomic_store(&telling, false);
}

static void flush_forced(void)
{
	activity_records__expect_unfinished(true);
	cupti_api__get()->ActivityFlushAll(CUPTI_FLUSH_FORCED);
	activity_records__expect_unfinished(false);
}

/* A buffer with one kernel that runs is kept: at another moment none may. The last consumer to go
 * also gets what CUPTI keeps behind unfinished work (last_flush.c). */
static void flush_all(void)
{
	uint64_t began = clock__now();
	bool last = probe_sites__one_listener();
	int times = last ? LAST_TIMES : AGAIN_TIMES;

	cupti_api__get()->ActivityFlushAll(0);
	for (int i = 0;
	     i < times && launch_state__is_listening() && (!last || activity_buffers__are_out());
	     i++) {
		thread__rest(AGAIN_MS * 1000);
		cupti_api__get()->ActivityFlushAll(0);
	}
	if (last && probe_sites__one_listener() && activity_buffers__are_out())
		flush_forced();
	atomic_store(&flushed, began);
	wakeup__request();
}

static void *flush(void *unused)
{
	while (launch_state__is_listening()) {
		uint32_t seen = atomic_load(&wakes);

		if (atomic_exchange(&all, false)) {
			flush_all();
			continue;
		}

		if (atomic_exchange(&requested, false)) {
			cupti_api__get()->ActivityFlushAll(0);
			if (!status__is_busy())
				activity_buffers__trim();
			continue;
		}
		futex__wait(&wakes, seen, atomic_load(&first) ? TELL_MS : FOREVER);
		if (atomic_load(&wakes) == seen)
			tell_first();
	}
	return NULL;
}

int flusher__start(void)
{
	static bool started;
	int error = started ? 0 : thread__start("cupti-flush", flush);

	started = started || !error;
	return error;
}

static void wake(void)
{
	atomic_fetch_add(&wakes, 1);
	futex__wake(&wakes);
}

void flusher__ask(void)
{
	atomic_store(&requested, true);
	wake();
}

void flusher__flush_all(void)
{
	atomic_store(&all, true);
	wake();
}

uint64_t flusher__flushed(void)
{
	return atomic_load(&flushed);
}

void flusher__tell_first(bool under_way)
{
	atomic_store(&first, under_way);
	if (under_way)
		wake();
	/* What is just being sent must not come after the news that it is over. */
	for (int i = 0; !under_way && atomic_load(&telling) && i < SETTLE_MAX; i++)
		thread__rest(SETTLE_MS * 1000);
}
