// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread of its own makes the calls, as in flusher.c: cuptiPCSamplingStart() wants a lock of the
 * driver and was seen to wait for it for 10 s and more, on an H200, while threads launched flat
 * out. Attaching, detaching and all else go on meanwhile.
 *
 * The guest's thread says what it wants and rings; the thread does what of it is new. Fears: 1. it
 * comes late: windows that were over before it looked are not made up for. 2. it never comes back:
 * that is told once, and nobody waits for it but the program's exit and who wants to trace
 * kernels, for a limited time.
 */
#include "libcupti-usdt/pc_sampling.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "libcupti-usdt/clock.h"
#include "libcupti-usdt/control.h"
#include "libcupti-usdt/cupti_api.h"
#include "libcupti-usdt/pc_contexts.h"
#include "libcupti-usdt/pc_source.h"
#include "libcupti-usdt/pc_windows.h"
#include "libcupti-usdt/status.h"
#include "libcupti-usdt/threads.h"

#define PART_MS	  100 /* of a window that goes on */
#define FINISH_MS 300
#define WAY_MS	  500
#define STARVE_NS 3000000000ULL

static _Atomic(uint32_t) bell;	   /* futex */
static _Atomic(uint32_t) done;	   /* futex: raised after each turn */
static atomic_bool wanted;	   /* the group is */
static atomic_bool wants_window;   /* it is to be open */
static atomic_bool makes_way;	   /* nothing may be enabled until the next window */
static _Atomic(uint64_t) since;	   /* ns, when the turn began that is under way; 0 = none is */
static atomic_bool is_open, is_on; /* what the thread has done of it */
static bool told;

static void turn(void)
{
	bool opens = atomic_load(&wanted) && atomic_load(&wants_window) && !atomic_load(&makes_way);

	if (atomic_load(&is_open) && opens)
		pc_windows__part();
	else if (opens)
		pc_windows__open();
	else if (atomic_load(&is_open))
		pc_windows__close();
	atomic_store(&is_open, opens);
	if (opens)
		atomic_store(&is_on, true);
	if (!atomic_load(&is_on) || opens)
		return;
	if (!atomic_load(&wanted))
		pc_windows__end();
	else if (atomic_load(&makes_way))
		pc_windows__make_way();
	else
		return;
	atomic_store(&is_on, false);
}

static void *sample(void *unused)
{
	while (control__listening()) {
		uint32_t seen = atomic_load(&bell);

		atomic_store(&since, clock__now());
		turn();
		atomic_store(&since, 0);
		atomic_fetch_add(&done, 1);
		futex__wake(&done);
		futex__wait(&bell, seen, atomic_load(&is_open) ? PART_MS : FOREVER);
	}
	return NULL;
}

static void ring(void)
{
	atomic_fetch_add(&bell, 1);
	futex__wake(&bell);
}

/* Until it has done what was asked for, as `flag` says. */
static void await_off(atomic_bool *flag, uint32_t milliseconds)
{
	uint64_t end = clock__now() + milliseconds * 1000000ULL;

	for (;;) {
		uint32_t seen = atomic_load(&done);

		if (!atomic_load(flag) || clock__now() >= end)
			return;
		futex__wait(&done, seen, 10);
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

static int begin(void)
{
	static bool started;
	int error;

	if (!cupti_has_it()) {
		status__trouble(CUDA_GUEST_LACKS, "libcupti",
				"PC sampling needs libcupti 12.6 or newer, whole; this is %u",
				cupti_api__get()->version);
		return -ENOSYS;
	}
	error = pc_windows__prepare();
	error = error ? error : pc_source__open();
	if (!error && !started)
		error = thread__start("cupti-pc", sample);
	started = started || !error;
	if (error) {
		status__trouble(error, "memory", "no memory or thread for samples");
		return error;
	}
	told = false;
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
	if (!atomic_exchange(&wants_window, false))
		return;
	ring();
}

void pc_sampling__tick(void)
{
	uint64_t began = atomic_load(&since);

	if (told || !began || clock__now() - began < STARVE_NS)
		return;
	told = true;
	status__trouble(CUDA_GUEST_STARVED, "PC sampling",
			"CUPTI does not come to it: the program launches without a pause");
}

void pc_sampling__make_way(void)
{
	if (!atomic_load(&is_on))
		return;
	atomic_store(&makes_way, true);
	ring();
	await_off(&is_on, WAY_MS);
}

void pc_sampling__finish(void)
{
	pc_sampling__stop();
	await_off(&is_open, FINISH_MS);
}

static void end(void)
{
	atomic_store(&wanted, false);
	pc_contexts__listen(false);
	atomic_store(&wants_window, false);
	ring();
}

/* Contexts and modules to come are told by callbacks, which cost nothing else. The first stays on:
 * others wait for contexts, too. */
static void listen_to_objects(void *subscriber, bool on)
{
	const struct cupti *cupti = cupti_api__get();

	cupti->EnableCallback(1, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_RESOURCE_CONTEXT_CREATED);
	cupti->EnableCallback(on, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_RESOURCE_MODULE_LOADED);
}

int pc_sampling__switch(void *subscriber, bool on, bool window)
{
	bool was_on = atomic_load(&wanted);

	if (on && !was_on && begin())
		return -1;
	if (on != was_on)
		listen_to_objects(subscriber, on);
	if (!on && was_on)
		end();
	else if (on && window)
		pc_sampling__start();
	return 0;
}
