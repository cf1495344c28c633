// SPDX-License-Identifier: BSD-2-Clause
#include "libcupti-usdt/control/subscription.h"

#include <stddef.h>

#include "libcupti-usdt/base/thread_progress.h"
#include "libcupti-usdt/base/threads.h"
#include "libcupti-usdt/control/callbacks.h"
#include "libcupti-usdt/control/claim.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/trace/flusher.h"
#include "libcupti-usdt/emit/status.h"

#define SETTLE_MS	   10 /* at least, for threads that sleep in CUPTI's locks */
#define CALLBACK_SETTLE_MS 1000
#define BLIND_SETTLE_MS	   100 /* where threads cannot be seen */
#define YIELD_SETTLE_MS	   50  /* another client waits */
#define SUBSCRIBER_AS	   "cuda-trace"

static int subscribe_named(void **subscriber, char *holder, size_t size)
{
	struct cupti_subscriber_params params = {
		.size = sizeof(params),
		.name = SUBSCRIBER_AS,
		.old_name = holder,
		.old_size = size,
	};

	return cupti_api__get()->Subscribe_v2(subscriber, callbacks__dispatch, NULL, &params);
}

/*
 * The second version of the call has names, and since 13.2 it also makes a subscriber of another
 * sort, which the activity functions used here refuse. There it only serves to ask who holds CUPTI.
 */
static int subscribe(void **subscriber)
{
	const struct cupti *cupti = cupti_api__get();
	char holder[64] = "";
	int result;

	if (cupti->Subscribe_v2 && cupti->version < CUPTI_VERSION_13_2) {
		result = subscribe_named(subscriber, holder, sizeof(holder));
	} else {
		result = cupti->Subscribe(subscriber, callbacks__dispatch, NULL);
		if (result == CUPTI_MULTIPLE_SUBSCRIBERS && cupti->Subscribe_v2 &&
		    !subscribe_named(subscriber, holder, sizeof(holder)))
			cupti->Unsubscribe(*subscriber);
	}
	holder[sizeof(holder) - 1] = '\0';
	status__set_holder(result == CUPTI_MULTIPLE_SUBSCRIBERS ? holder : "");
	if (result)
		*subscriber = NULL;
	return result;
}

/* Sends the status "first subscription under way": a consumer can then make launches pause for it,
 * also one that comes later, as the one for whom it began may be gone. */
int subscription__new(void **subscriber, bool program_runs)
{
	bool first;
	int result;

	*subscriber = NULL;
	if (!claim__begin(program_runs))
		return SUBSCRIPTION_YIELDS;
	first = program_runs && status__begin_first();
	if (first)
		flusher__tell_first(true);
	result = subscribe(subscriber);
	if (!result)
		claim__wait_for_gate();
	if (first) {
		flusher__tell_first(false);
		status__end_first();
	}
	if (result)
		claim__end();
	return result;
}

/*
 * A thread that was interrupted inside CUPTI's dispatcher reads the subscriber's tables when it
 * goes on, which cuptiUnsubscribe() frees. Callbacks are off by now, so no other thread comes
 * along. Programs of 32 threads died of that after a fixed pause of 100 ms (H100, 128 threads on 16
 * CPUs).
 */
void subscription__settle(void)
{
	bool yields = claim__must_yield();

	thread__rest(SETTLE_MS * 1000);
	if (thread_progress__wait(yields ? YIELD_SETTLE_MS : CALLBACK_SETTLE_MS) != THREADS_RAN &&
	    !yields)
		thread__rest(BLIND_SETTLE_MS * 1000);
}

void subscription__end(void **subscriber)
{
	cupti_api__get()->Unsubscribe(*subscriber);
	*subscriber = NULL;
	claim__end();
}
