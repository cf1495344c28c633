// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unified memory wanted from a program's start: inside its cuInit(), where everything is switched
 * on, CUPTI answers CUPTI_ERROR_NOT_READY. We try again every 10 ms to 100 ms, and as soon as
 * the first context is there, on the agent's own thread as ever.
 *
 * Failure modes: 1. what the program does first in its context is not seen: its thread waits for
 * that try. 2. CUPTI calls back with a lock held that the try needs: the wait is short, and there
 * is one.
 * 3. CUPTI is never ready: that is said once, when it has had a context for some seconds.
 */
#include "libcupti-usdt/control/deferred_kinds.h"

#include <stdatomic.h>
#include <stdint.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/control/activity_kinds.h"
#include "libcupti-usdt/base/threads.h"
#include "libcupti-usdt/base/wakeup.h"

#define RETRY_NS    10000000ULL
#define DEFERRED_NS 5000000000ULL
#define CONTEXT_MS  50 /* that a program's first context may wait */

static uint64_t tried;
static uint64_t since; /* when CUPTI should have been ready; 0 = it need not be yet */
static bool reported;
static atomic_bool waits_for_context, has_context;
static _Atomic(uint32_t) tried_with_context; /* futex */

void deferred_kinds__note(void *subscriber, bool begun)
{
	bool waits = activity_kinds__wait();

	tried = clock__now();
	since = begun ? tried : 0;
	reported = false;
	atomic_store(&has_context, false);
	atomic_store(&tried_with_context, 0);
	atomic_store(&waits_for_context, waits);
	if (waits)
		cupti_api__get()->EnableCallback(1, subscriber, CUPTI_DOMAIN_RESOURCE,
						 CUPTI_RESOURCE_CONTEXT_CREATED);
}

static void tell(uint64_t now)
{
	if (reported || !since || now - since < DEFERRED_NS)
		return;
	reported = true;
	activity_kinds__tell_waiting();
}

bool deferred_kinds__retry(void)
{
	bool context = atomic_load(&has_context);
	uint64_t now;

	if (!activity_kinds__wait())
		return false;
	now = clock__now();
	if (context && !atomic_load(&tried_with_context))
		since = now;
	else if (now - tried < RETRY_NS)
		return false;
	tried = now;
	activity_kinds__retry();
	if (context) {
		atomic_store(&tried_with_context, 1);
		futex__wake(&tried_with_context);
	}
	if (activity_kinds__wait()) {
		tell(now);
		return false;
	}
	atomic_store(&waits_for_context, false);
	return true;
}

void deferred_kinds__finish(void)
{
	if (atomic_load(&has_context) && !reported)
		activity_kinds__tell_waiting();
}

void deferred_kinds__context_begins(void)
{
	if (!atomic_exchange(&waits_for_context, false))
		return;
	atomic_store(&has_context, true);
	wakeup__request();
	futex__wait_until_set(&tried_with_context, CONTEXT_MS);
}
