// SPDX-License-Identifier: BSD-2-Clause
/*
 * dormant → active → dormant, as the semaphores say.
 *
 * Detach is soft: kinds off, what is there flushed, callbacks off, unsubscribed. cuptiFinalize() is
 * never called: it was seen to hang, to break the program's CUDA calls and to corrupt its heap.
 * Failure modes of a detach: 1. CUPTI still hands out buffers or calls back: both are answered, and
 * nothing is unmapped. 2. the call hangs: it hangs the agent's own thread; the program goes on, and
 * its exit waits for a limited time. 3. another client came: nothing of ours is registered again
 * until the next consumer attaches, or a gate lets every client pass (claim.h), and then a refusal
 * means to yield, not to fight.
 */
#include "libcupti-usdt/control/control.h"

#include <errno.h>

#include "libcupti-usdt/trace/activity.h"
#include "libcupti-usdt/trace/api_calls.h"
#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/trace/activity_buffers.h"
#include "libcupti-usdt/control/callbacks.h"
#include "libcupti-usdt/control/claim.h"
#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/profile/launch_counters.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_search.h"
#include "libcupti-usdt/trace/activity_records.h"
#include "libcupti-usdt/trace/devices.h"
#include "libcupti-usdt/cupti/cuda_driver.h"
#include "libcupti-usdt/trace/flusher.h"
#include "libcupti-usdt/control/exit_hook.h"
#include "libcupti-usdt/control/graph_workarounds.h"
#include "libcupti-usdt/control/last_flush.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/trace/kernel_names.h"
#include "libcupti-usdt/control/activity_kinds.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/trace/nvtx.h"
#include "libcupti-usdt/profile/pc_sampling.h"
#include "libcupti-usdt/profile/counter_requests.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/emit/sample_windows.h"
#include "libcupti-usdt/base/settings.h"
#include "libcupti-usdt/base/threads.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/base/timestamps.h"
#include "libcupti-usdt/trace/switch_barrier.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/control/silence.h"
#include "libcupti-usdt/control/subscription.h"
#include "libcupti-usdt/control/deferred_kinds.h"

#define BIT(group)   (1U << CUDA_GROUP_##group)
#define CALIBRATE_NS 1000000000ULL
/* A second consumer of a probe raises no semaphore, nor is one seen that comes just as another
 * leaves, so all is sent again as often as costs little: each second, and a millisecond a name. */
#define REPLAY_NS 1000000000ULL
#define NAME_NS	  1000000ULL
#define SETTLE_NS 1000000000ULL /* callbacks that were under way at a detach are over */

static void *subscriber;
static uint32_t groups_on;	 /* what is switched on in CUPTI */
static uint32_t missing_besides; /* groups that are no kinds, and could not be had */
static uint64_t seen_up;	 /* probes that were listened to when last looked at */
static uint64_t seen_readable_up;
static uint32_t cycle_on, cycle_every; /* of sampling, as requested at the last check */
static bool begun;		       /* the program is not (or no longer) inside its cuInit() */
static bool may_begin = true;	       /* no thread is inside the driver: see prime() */
static bool initialised_by_other;      /* its client was there first */
static bool is_refused;		       /* CUPTI refused us, and nobody has come since */
static uint64_t calibrated, replayed;
static uint64_t closed; /* when the last session ended, until its memory is freed; 0 = it is */

/* Launches between windows bring no record. */
static struct {
	uint64_t launches; /* when the last gap began */
	uint64_t skipped;  /* in the gaps before it */
} gap;

void control__go_inert(enum cuda_inert_reason reason)
{
	status__set_state(CUDA_STATE_INERT, reason);
	status__set_groups(0);
}

static void refused(int result)
{
	bool again = is_refused && status__state() == CUDA_STATE_YIELDED;

	if (result == SUBSCRIPTION_YIELDS)
		return;
	is_refused = true;
	initialised_by_other |= result == CUPTI_MULTIPLE_SUBSCRIBERS;
	claim__note_refusal();
	if (again && result == CUPTI_MULTIPLE_SUBSCRIBERS)
		return;
	status__set_state(result == CUPTI_MULTIPLE_SUBSCRIBERS ? CUDA_STATE_YIELDED
							       : CUDA_STATE_DORMANT,
			  CUDA_INERT_NONE);
	status__trouble(result, "cuptiSubscribe", "%s", cupti_api__result_text(result));
	status__send();
}

/*
 * The first subscription of a process initialises CUPTI. While the program runs it would starve
 * for seconds where many threads launch, and kill the program where one makes a graph at that
 * moment. So it is made where no thread is inside the driver: in cuInit(), or when cuda-trace has
 * stopped all threads (docs/internals/attach.md).
 */
static void prime(void)
{
	uint64_t before = clock__now();
	int result;

	result = subscription__new(&subscriber, false);
	if (result) {
		refused(result);
		return;
	}
	subscription__end(&subscriber);
	status__set_primed((clock__now() - before) / 1000);
}

void control__open(bool late)
{
	enum cuda_inert_reason reason = cupti_search__run();

	/* It may have made graphs, and contexts are there. */
	begun = late;
	if (late)
		graph_workarounds__go_unseen();
	if (reason) {
		control__go_inert(reason);
		status__trouble(0, "libcupti",
				reason == CUDA_INERT_NO_CUPTI ? "no libcupti found"
							      : "no usable libcupti found");
		return;
	}
}

/* What CUPTI is needed for: counters only in processes that were requested to count. */
static uint32_t wanted_groups(void)
{
	uint32_t wanted = probe_sites__wanted() & ~BIT(DEVICE);

	if (claim__look())
		wanted = 0;
	if (!counter_requests__look(wanted & BIT(COUNTERS), groups_on & BIT(COUNTERS)))
		return wanted & ~BIT(COUNTERS);
	/* CUPTI counts in no context that is sampled, as somebody else may want of all. */
	return wanted & BIT(COUNTERS) ? wanted & ~BIT(PC_SAMPLES) : wanted;
}

void control__begin(void)
{
	bool prepares = begun || settings__get()->start;

	status__set_busy(true);
	if (prepares && status__state() != CUDA_STATE_INERT && !wanted_groups())
		prime();
	status__set_busy(false);
}

void control__prepare(void)
{
	if (subscriber || status__state() == CUDA_STATE_INERT || status__is_initialised())
		return;
	may_begin = true;
	if (!wanted_groups())
		prime();
}

static int open_memory(void)
{
	int error = interned_names__open();

	error = error ? error : kernel_names__open();
	error = error ? error : rings__open();
	error = error ? error : batches__open();
	error = error ? error : activity_buffers__open();
	error = error ? error : flusher__start();
	if (error)
		status__trouble(error, "memory", "no memory or thread for the injection library");
	return error;
}

static uint64_t timed_launches(void)
{
	bool timed = launch_state__times_kernels() || last_flush__is_on();

	return (timed ? rings__launches() : gap.launches) - gap.skipped;
}

/* Subscribes and registers; nothing is switched on yet. */
static int open_session(void)
{
	const struct cupti *cupti = cupti_api__get();
	int result;

	if (open_memory())
		return -1;
	exit_hook__install();
	result = subscription__new(&subscriber, begun);
	if (!result) {
		result = activity__open();
		if (result)
			subscription__end(&subscriber);
	}
	if (result) {
		refused(result);
		return result;
	}
	is_refused = false;
	switch_barrier__open(cupti->version, begun);
	graph_workarounds__open(cupti->version, begun);
	cbids__forget();
	cupti->EnableCallback(1, subscriber, CUPTI_DOMAIN_RESOURCE,
			      CUPTI_RESOURCE_CONTEXT_DESTROY_STARTING);
	/* Fails before 12.2, which has no such state. */
	cupti->EnableCallback(1, subscriber, CUPTI_DOMAIN_STATE, CUPTI_STATE_FATAL);
	clock__reset();
	clock__calibrate(cupti->GetTimestamp);
	timestamps__pace();
	calibrated = clock__now();
	silence__begin(calibrated, timed_launches());
	activity_records__set_start(calibrated);
	status__count_activation();
	return 0;
}

static void close_session(void)
{
	if (claim__must_yield())
		claim__flush();
	subscription__settle();
	activity__close();
	subscription__end(&subscriber);
	rings__flush();
	activity_buffers__trim();
	closed = clock__now();
}

/* False: not now; what was to be switched off is still on. */
static bool switch_groups(uint32_t wanted)
{
	uint32_t host = BIT(LAUNCH) | BIT(RUNTIME) | BIT(NVTX) | BIT(COUNTERS) | BIT(GRAPH) |
			api_calls__groups();
	uint32_t fewer = groups_on & ~wanted;

	host |= wanted & BIT(LAUNCH) ? BIT(GRAPH_NODES) : 0; /* its calls have stacks, too */
	if (wanted & BIT(NVTX) && nvtx__open())
		status__trouble(-ENOMEM, "memory", "no memory for NVTX ranges");
	callbacks__set_groups((wanted | groups_on) & host);
	launch_counters__follow(subscriber, wanted & BIT(COUNTERS), begun);
	/* Modules may have gone while their end was not reported, and while that is switched on. */
	interned_names__forget();
	kernel_names__moved();
	if (wanted & ~groups_on)
		cbids__switch(subscriber, wanted | groups_on);
	interned_names__forget();
	sample_windows__follow(wanted, clock__now());
	if (wanted & ~groups_on & BIT(SAMPLED_KERNEL))
		gap.launches = rings__launches();
	if (wanted & (BIT(KERNEL) | BIT(SAMPLED_KERNEL)))
		kernel_names__begin();
	if (!activity_kinds__switch(sample_windows__groups(wanted)))
		return false;
	last_flush__is_over();
	missing_besides = pc_sampling__switch(subscriber, wanted & BIT(PC_SAMPLES),
					      sample_windows__is_open(), !begun)
				  ? BIT(PC_SAMPLES)
				  : 0;
	deferred_kinds__note(subscriber, begun);
	if (fewer) {
		flusher__ask();
		cbids__switch(subscriber, wanted);
		callbacks__set_groups(wanted & host);
	}
	groups_on = wanted;
	status__set_groups(wanted & ~(activity_kinds__missing() | missing_besides));
	return true;
}

static void announce(void)
{
	replayed = clock__now();
	interned_names__replay();
	if (begun)
		devices__tell();
	status__send();
	probe_sites__hello(status__instance());
}

static enum cuda_state resting_state(void)
{
	return claim__must_yield() && probe_sites__wanted() & ~BIT(DEVICE) ? CUDA_STATE_YIELDED
									   : CUDA_STATE_DORMANT;
}

/* The first subscription of a process is made where no thread is inside the driver: see prime(). */
static bool may_subscribe(void)
{
	return may_begin || initialised_by_other || status__is_initialised();
}

static void change_to(uint32_t wanted)
{
	uint64_t before = clock__now();

	if (!wanted && !subscriber)
		return;
	if (!subscriber &&
	    ((is_refused && !claim__may_retry()) || !may_subscribe() || open_session()))
		return;
	if (!switch_groups(wanted))
		return;
	if (!wanted)
		close_session();
	status__set_switched((clock__now() - before) / 1000);
	status__set_state(wanted ? CUDA_STATE_ACTIVE : resting_state(), CUDA_INERT_NONE);
	announce();
}

static void become_fatal(void)
{
	/* CUPTI has finalised itself: not one more call. */
	callbacks__set_groups(0);
	launch_state__detour(DETOUR_DEAF, true);
	rings__flush();
	subscriber = NULL;
	groups_on = 0;
	control__go_inert(CUDA_INERT_FATAL);
	status__send();
}

void control__retry(void)
{
	if (!subscriber || !deferred_kinds__retry())
		return;
	status__set_groups(groups_on & ~(activity_kinds__missing() | missing_besides));
	status__send();
}

/* Windows: of the kinds alone, callbacks stay as they are. */
void control__sample(void)
{
	bool kinds = switch_barrier__is_needed() || sample_windows__have_kinds(groups_on);
	bool opens = !sample_windows__is_open();

	if (!subscriber || !sample_windows__is_due(clock__now()))
		return;
	if (last_flush__is_on())
		return sample_windows__put_off(clock__now());
	if (kinds && !switch_barrier__begin(!opens, false))
		return sample_windows__put_off(clock__now());
	if (opens) {
		gap.skipped += rings__launches() - gap.launches;
		sample_windows__open();
		activity_kinds__switch(sample_windows__groups(groups_on));
		pc_sampling__start();
		sample_windows__opened(clock__now());
		return;
	}
	sample_windows__close(clock__now());
	activity_kinds__switch(sample_windows__groups(groups_on));
	pc_sampling__stop();
	gap.launches = rings__launches();
	flusher__ask();
}

static bool cycle_has_changed(void)
{
	uint32_t on = cycle_on, every = cycle_every;

	probe_sites__cycle(&cycle_on, &cycle_every);
	return on != cycle_on || every != cycle_every;
}

/* A kernel that is being counted is waited for, before the group goes off or, as the listener has
 * come back meanwhile, begins anew. */
static uint32_t settle_counters(uint32_t wanted)
{
	if (!(groups_on & BIT(COUNTERS)))
		return wanted;
	if (!(wanted & BIT(COUNTERS)))
		launch_counters__drain();
	if (!launch_counters__is_draining())
		return wanted;
	return launch_counters__is_counting() ? wanted | BIT(COUNTERS) : wanted & ~BIT(COUNTERS);
}

/* Another client has come, or gone, while nothing of ours was on. */
static void follow_yield(void)
{
	enum cuda_state state = status__state();

	if (state == CUDA_STATE_INERT || is_refused || state == resting_state())
		return;
	status__set_state(resting_state(), CUDA_INERT_NONE);
	announce();
}

void control__follow(void)
{
	uint32_t wanted = pc_sampling__settle(settle_counters(wanted_groups()), groups_on);
	uint64_t up = probe_sites__up(), come = up & ~seen_up;
	uint64_t readable = probe_sites__readable_up();

	if (come || readable & ~seen_readable_up)
		is_refused = false;
	seen_up = up;
	seen_readable_up = readable;
	if (cycle_has_changed() && subscriber)
		sample_windows__follow(groups_on, clock__now());
	/* Before any call of the driver: from here on nothing is called. */
	if (site_wanted(sandboxed) && !subscriber && status__state() != CUDA_STATE_INERT) {
		control__go_inert(CUDA_INERT_SANDBOXED);
		announce();
		return;
	}
	/* Devices are fetched once the driver knows their addresses: not inside cuInit(). */
	if (wanted & BIT(OBJECT) && !cuda_driver__learn_devices())
		wanted &= ~BIT(OBJECT);
	if (callbacks__fetch_fatal())
		become_fatal();
	if (subscriber && wanted == groups_on)
		last_flush__follow(groups_on, clock__now());
	/* Or nothing could be enabled and the listener has detached. */
	if (status__state() != CUDA_STATE_INERT &&
	    (wanted != groups_on || (subscriber && (!wanted || graph_workarounds__are_due())))) {
		status__set_busy(true);
		change_to(wanted);
		status__set_busy(subscriber != NULL);
	}
	if (!subscriber)
		follow_yield();
	if (come & probe_sites__name_bits())
		announce();
	if (!activity_kinds__trace_graphs())
		graph_workarounds__go_unseen();
	begun = true;
	may_begin = false;
}

void control__tick(void)
{
	uint64_t now = clock__now();

	last_flush__tick(subscriber, now);
	if (subscriber) {
		timestamps__pace();
		rings__flush();
		if (now - calibrated >= CALIBRATE_NS) {
			clock__calibrate(cupti_api__get()->GetTimestamp);
			calibrated = now;
		}
		if (activity_kinds__any() || sample_windows__lingers(now))
			flusher__ask();
		pc_sampling__tick();
		silence__check(now, timed_launches(),
			       groups_on & (BIT(KERNEL) | BIT(SAMPLED_KERNEL)) &&
				       !last_flush__is_on());
		launch_counters__tick(now);
	}
	if (closed && !subscriber && now - closed >= SETTLE_NS) {
		rings__trim();
		closed = 0;
	}
	status__send_lost();
	if (probe_sites__up() & probe_sites__name_bits() &&
	    now - replayed >= REPLAY_NS + interned_names__count() * NAME_NS)
		announce();
}

void control__finish(void)
{
	if (subscriber && !callbacks__is_fatal()) {
		activity_records__expect_unfinished(true);
		launch_counters__finish();
		deferred_kinds__finish();
		rings__flush();
		pc_sampling__finish();
		if (activity_kinds__any() || activity_buffers__are_out())
			cupti_api__get()->ActivityFlushAll(CUPTI_FLUSH_FORCED);
	}
	control__say_end();
}

void control__say_end(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (atomic_flag_test_and_set(&said))
		return;
	callbacks__set_groups(0);
	launch_state__detour(DETOUR_DEAF, true);
	rings__flush();
	status__end();
	status__send_lost();
	status__send();
}
