// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread of its own makes the calls, as in flusher.c: they take a tenth of a second at first, and
 * may take for ever. Attaching, detaching and all else go on meanwhile.
 *
 * The agent's thread says what it wants and wakes this one, which does what of it is new. Failure
 * modes: 1. it comes late: windows that were over before it looked are not made up for. 2. it never
 * comes back: that is reported once, launches that are held for it go on, no further window is
 * tried, and nobody waits for it but the program's exit and who wants to trace kernels, for a
 * limited time.
 * 3. the last listener goes: launches must be reported until CUPTI has been made to stop, or nobody
 * could hold them meanwhile.
 */
#include "libcupti-usdt/profile/pc_sampling.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "libcupti-usdt/profile/stream_captures.h"
#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/profile/launch_gate.h"
#include "libcupti-usdt/profile/pc_contexts.h"
#include "libcupti-usdt/profile/pc_source.h"
#include "libcupti-usdt/profile/pc_windows.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/emit/sample_windows.h"
#include "libcupti-usdt/profile/sass_profiler.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/base/threads.h"
#include "libcupti-usdt/base/wakeup.h"

#define BIT(group) (1U << CUDA_GROUP_##group)
#define PART_MS	   100 /* of a window that goes on */
#define FINISH_MS  300
#define WAY_MS	   500
#define STARVE_NS  3000000000ULL
#define WAIT_NS	   1000000000ULL
#define FIRST_NS   3000000000ULL /* the first launch waits for the first window */
/* A launch that was under way when listening began is known to nobody. */
#define SETTLE_NS 300000000ULL

static _Atomic(uint32_t) wakeups;  /* futex */
static _Atomic(uint32_t) turns;	   /* futex: raised after each */
static atomic_bool wanted;	   /* the group is */
static atomic_bool wants_window;   /* it is to be open */
static atomic_bool makes_way;	   /* nothing may be enabled until the next window */
static _Atomic(uint64_t) since;	   /* ns, when the turn began that is under way; 0 = none is */
static atomic_bool is_open, is_on; /* what the thread has done of it */
static _Atomic(uint64_t) began;	   /* ns, listening */
static atomic_bool starved;	   /* it took too long: no more windows */
/* The first launch of a program, if it is known to be that. */
static atomic_bool is_unlaunched;    /* it is still to come */
static atomic_bool is_idle;	     /* nor was anything else started: no windows */
static atomic_bool first_is_waiting; /* it waits for a window */
static atomic_bool first_opens;	     /* the agent's thread is to open one */
static atomic_bool first_begins;     /* it goes on: the window has its usual length from here on */
static atomic_bool is_first;	     /* its window is open */

static bool is_settled(void)
{
	return clock__now() - atomic_load(&began) >= SETTLE_NS;
}

/* False: not now, as a launch does not end. A window is left out then, an end is tried again. */
static bool open_or_close(bool opens)
{
	bool done = true;

	if (atomic_load(&is_open) && opens)
		pc_windows__part();
	else if (opens)
		done = is_settled() && pc_windows__open();
	else if (atomic_load(&is_open))
		done = pc_windows__close();
	if (!done)
		return false;
	atomic_store(&is_open, opens);
	if (opens)
		atomic_store(&is_on, true);
	return true;
}

/* Milliseconds until something is to be done unasked. */
static uint32_t turn(void)
{
	bool opens = atomic_load(&wanted) && atomic_load(&wants_window) &&
		     !atomic_load(&makes_way) && !atomic_load(&starved) && !atomic_load(&is_idle);
	bool serves_first = atomic_load(&first_is_waiting);
	bool done = open_or_close(opens);

	if (opens && done && serves_first)
		atomic_store(&first_is_waiting, false);
	if (opens || !atomic_load(&is_on))
		return opens ? PART_MS : FOREVER;
	if (!done)
		return PART_MS;
	if (!atomic_load(&wanted))
		done = pc_windows__end();
	else if (atomic_load(&makes_way))
		done = pc_windows__make_way();
	else
		return FOREVER;
	atomic_store(&is_on, !done);
	return done ? FOREVER : PART_MS;
}

static void *sample(void *unused)
{
	while (launch_state__is_listening()) {
		uint32_t seen = atomic_load(&wakeups), rest;

		atomic_store(&since, clock__now());
		rest = turn();
		atomic_store(&since, 0);
		atomic_fetch_add(&turns, 1);
		futex__wake(&turns);
		futex__wait(&wakeups, seen, rest);
	}
	return NULL;
}

static void ring(void)
{
	atomic_fetch_add(&wakeups, 1);
	futex__wake(&wakeups);
}

/* Until it has done what was requested, as `flag` says. */
static void wait_until_off(atomic_bool *flag, uint32_t milliseconds)
{
	uint64_t end = clock__now() + milliseconds * 1000000ULL;

	for (;;) {
		uint32_t seen = atomic_load(&turns);

		if (!atomic_load(flag) || clock__now() >= end)
			return;
		futex__wait(&turns, seen, 10);
	}
}

static bool cupti_has_it(void)
{
	const struct cupti *cupti = cupti_api__get();

	return cupti->version >= CUPTI_VERSION_12_6 && cupti->PCSamplingEnable &&
	       cupti->PCSamplingDisable && cupti->PCSamplingStart && cupti->PCSamplingStop &&
	       cupti->PCSamplingGetNumStallReasons && cupti->PCSamplingGetStallReasons &&
	       cupti->PCSamplingSetConfigurationAttribute && cupti->PCSamplingGetData &&
	       cupti->GetDeviceId && cupti->GetContextId;
}

static int begin(bool from_first)
{
	static bool started;
	int error;

	if (!cupti_has_it()) {
		status__trouble(CUDA_AGENT_LACKS, "libcupti",
				"PC sampling needs libcupti 12.6 or newer, whole; this is %u",
				cupti_api__get()->version);
		return -ENOSYS;
	}
	error = pc_windows__prepare();
	error = error ? error : pc_source__open(PC_SOURCE_SAMPLES);
	if (!error && !started)
		error = thread__start("cupti-pc", sample);
	started = started || !error;
	if (error) {
		status__trouble(error, "memory", "no memory or thread for samples");
		return error;
	}
	atomic_store(&starved, false);
	launch_gate__reset();
	stream_captures__forget();
	atomic_store(&began, from_first ? 0 : clock__now());
	atomic_store(&is_idle, from_first);
	atomic_store(&is_unlaunched, from_first);
	pc_contexts__listen(true);
	atomic_store(&wanted, true);
	return 0;
}

void pc_sampling__start(void)
{
	if (!atomic_load(&wanted))
		return;
	atomic_store(&makes_way, false);
	atomic_store(&wants_window, true);
	ring();
}

void pc_sampling__stop(void)
{
	atomic_store(&is_first, false);
	if (!atomic_exchange(&wants_window, false))
		return;
	ring();
}

/* A short program would be over before a window at a random place. At the entry of the first launch
 * its context is there, and nothing is under way yet. */
void pc_sampling__begin_launch(bool launches)
{
	uint64_t end;

	if (!atomic_load(&is_unlaunched))
		return;
	/* A fill is work as well, but the window is for kernels. */
	if (!launches)
		atomic_store(&is_idle, false);
	end = clock__now() + FIRST_NS;
	if (!launches || stream_captures__any() || !atomic_exchange(&is_unlaunched, false))
		return;
	atomic_store(&is_idle, false);
	atomic_store(&first_is_waiting, true);
	atomic_store(&first_opens, true);
	wakeup__request();
	while (atomic_load(&first_is_waiting) && atomic_load(&wanted) && !atomic_load(&starved) &&
	       clock__now() < end)
		futex__wait(&turns, atomic_load(&turns), 1);
	atomic_store(&first_is_waiting, false);
	atomic_store(&is_first, true);
	atomic_store(&first_begins, true);
	wakeup__request();
}

static void follow_first(void)
{
	if (atomic_load(&first_opens) && atomic_exchange(&first_opens, false)) {
		sample_windows__keep_open(clock__now());
		/* It may be open already. */
		ring();
	}
	if (atomic_load(&first_begins) && atomic_exchange(&first_begins, false))
		sample_windows__release(clock__now());
}

/* Of that window only: a program that makes and ends contexts all the time is not held up. */
void pc_sampling__close_first(void)
{
	if (!atomic_load(&is_first) || !atomic_exchange(&is_first, false))
		return;
	pc_sampling__finish();
}

static bool is_stuck(void)
{
	uint64_t turn_began = atomic_load(&since);

	return turn_began && clock__now() - turn_began >= STARVE_NS;
}

void pc_sampling__tick(void)
{
	follow_first();
	if (atomic_load(&starved) || !is_stuck())
		return;
	atomic_store(&starved, true);
	/* Whoever is held goes on: it cannot get worse than to wait for what does not come back. */
	launch_gate__leave_alone();
	status__trouble(CUDA_AGENT_STARVED, "PC sampling",
			"CUPTI does not come back from switching it on or off");
}

void pc_sampling__make_way(void)
{
	if (!atomic_load(&is_on))
		return;
	atomic_store(&makes_way, true);
	ring();
	wait_until_off(&is_on, WAY_MS);
}

void pc_sampling__finish(void)
{
	pc_sampling__stop();
	wait_until_off(&is_open, FINISH_MS);
}

static bool is_draining(void)
{
	return !atomic_load(&wanted);
}

static bool drain(void)
{
	if (atomic_exchange(&wanted, false)) {
		atomic_store(&wants_window, false);
		ring();
	}
	/* What a turn is about to switch on counts as on: it says so before it asks whether to. A
	 * call that does not come back keeps the subscriber: nothing is taken away from under it.
	 */
	return atomic_load(&since) || atomic_load(&is_on);
}

/* Somebody wants samples while those of the one before cannot end: once it has lasted. */
static void tell_who_waits(bool waits)
{
	static uint64_t waits_since;
	static bool said;

	if (!waits) {
		waits_since = 0;
		said = false;
	} else if (!waits_since) {
		waits_since = clock__now();
	} else if (!said && clock__now() - waits_since >= WAIT_NS && stream_captures__any()) {
		said = true;
		status__trouble(-EBUSY, "PC sampling",
				"a graph is being captured, which CUPTI would break: until that "
				"ends nobody else gets samples");
	}
}

/* CUPTI must stop sampling while callbacks still see launches, which are held meanwhile. */
static uint32_t drain_first(uint32_t groups, uint32_t groups_on)
{
	bool again = groups & BIT(PC_SAMPLES), drains;

	if (!(groups_on & BIT(PC_SAMPLES)) || (again && !is_draining())) {
		tell_who_waits(false);
		return groups;
	}
	drains = drain();
	tell_who_waits(drains && again);
	return drains ? groups | BIT(PC_SAMPLES) : groups & ~BIT(PC_SAMPLES);
}

/* Launches whose kernels somebody wants, and that CUPTI does not stamp because of us. */
static struct {
	bool wanted;
	bool counting;
	uint64_t launches; /* when last counted */
} unstamped;

static void count_unstamped(void)
{
	uint64_t launches = rings__launches();

	if (unstamped.counting)
		status__lost(CUDA_LOST_PROFILED, launches - unstamped.launches);
	unstamped.launches = launches;
	unstamped.counting = unstamped.wanted && !launch_state__times_kernels();
}

/* Never both in one process: with kernels traced on and off beside PC samples, a PyTorch program
 * died (H200). Samples win, as somebody asks for those of a few processes and for a while, and for
 * kernels of all of them and for ever. */
static uint32_t exclude(uint32_t groups)
{
	const uint32_t kernels = BIT(KERNEL) | BIT(SAMPLED_KERNEL) | BIT(GRAPH);
	/* With these on as a context is enabled, CUPTI cannot tell whose any sample is (H200). */
	const uint32_t copies =
		BIT(MEMCPY) | BIT(SAMPLED_MEMCPY) | BIT(MEMSET) | BIT(SAMPLED_MEMSET);
	bool both = groups & (kernels | copies) && groups & BIT(PC_SAMPLES) && cupti_has_it();

	unstamped.wanted = both;
	/* When they are to come back, pc_sampling__switch() counts, after that. */
	if (both || !(groups & (kernels | copies)))
		count_unstamped();
	return both ? groups & ~(kernels | copies) : groups;
}

uint32_t pc_sampling__settle(uint32_t groups, uint32_t groups_on)
{
	return exclude(drain_first(groups, groups_on));
}

/* Callbacks report contexts and modules to come, which costs nothing else. The first stays on:
 * others wait for contexts, too. */
static void listen_to_objects(void *subscriber, bool on)
{
	const struct cupti *cupti = cupti_api__get();

	cupti->EnableCallback(1, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_RESOURCE_CONTEXT_CREATED);
	cupti->EnableCallback(on || sass_profiler__is_listening(), subscriber,
			      CUPTI_DOMAIN_RESOURCE, CUPTI_RESOURCE_MODULE_LOADED);
}

int pc_sampling__switch(void *subscriber, bool on, bool window, bool from_first)
{
	static bool is_listening;

	count_unstamped();
	if (on && !is_listening && begin(from_first))
		return -1;
	if (on != is_listening)
		listen_to_objects(subscriber, on);
	if (!on && is_listening) {
		drain();
		atomic_store(&is_unlaunched, false);
		atomic_store(&is_idle, false);
		pc_contexts__listen(false);
		/* Of those who went before their first window nothing else ends. */
		pc_source__close(PC_SOURCE_SAMPLES);
	}
	is_listening = on;
	if (on && window)
		pc_sampling__start();
	return 0;
}
