// SPDX-License-Identifier: BSD-2-Clause
/*
 * The agent's half of docs/internals/yield.md. While it has CUPTI, the gate (uprobes of the tool)
 * keeps the calls of other clients waiting until cuda:cupti_release, so every wait here is short.
 */
#include "libcupti-usdt/control/claim.h"

#include <string.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/base/threads.h"
#include "libcupti-usdt/base/wakeup.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/trace/activity_buffers.h"
#include "libcupti-usdt/trace/switch_barrier.h"

#define GATE_NS		1000000000ULL /* for which a gate that is not there yet is waited for */
#define STOPPED_NS	40000000ULL   /* the same while the program's threads are stopped for us */
#define HINT_NS		5000000000ULL
#define TURN_MS		2
#define ACTIVE_LOOK_MS	20 /* between two looks at the semaphore: a client waits for that */
#define YIELDED_LOOK_MS 50
/* Work that ends so soon is not handed out unfinished. The client waits for that, too. */
#define SETTLE_NS 50000000ULL
#define RETRY_NS  500000000ULL

/* The linker's: this library, up to the end of its text. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool claimed, yields, released;
static uint64_t retry;	    /* ns */
static uint64_t gate_until; /* ns; 0 = the gate is not waited for */

/* The tool writes another number here to make this library yield at once: until the semaphore is
 * up, which can take the Linux kernel most of a second. It counts for HINT_NS at most. */
static volatile uint64_t hint;
static uint64_t hint_seen, hint_since; /* ns */

/* A uprobe is a breakpoint at the function's entry. Anybody's will do: what is behind it is what a
 * debugger shows us, and the wait is short. */
static bool has_breakpoint(const void *function)
{
#if defined(__x86_64__)
	return *(const volatile uint8_t *)function == 0xcc;
#elif defined(__aarch64__)
	return *(const volatile uint32_t *)function == 0xd42000a0;
#else
	return true;
#endif
}

static bool is_gated(void)
{
	return site_wanted(cupti_claim) &&
	       has_breakpoint((const void *)cupti_api__get()->Subscribe);
}

void claim__note_refusal(void)
{
	retry = clock__now() + RETRY_NS;
}

bool claim__may_retry(void)
{
	return status__state() == CUDA_STATE_YIELDED && is_gated() && clock__now() >= retry;
}

static bool is_requested(void)
{
	uint64_t written = hint;

	if (written != hint_seen) {
		hint_seen = written;
		hint_since = clock__now();
	}
	if (site_wanted(yield)) {
		hint_since = 0;
		return true;
	}
	return hint_since && clock__now() - hint_since < HINT_NS;
}

bool claim__look(void)
{
	yields = is_requested();
	return yields;
}

bool claim__must_yield(void)
{
	return yields;
}

void claim__release_program(void)
{
	released = true;
}

void claim__wait_for_gate(void)
{
	while (site_wanted(cupti_claim) && !is_gated() && clock__now() < gate_until)
		thread__rest(TURN_MS * 1000);
	gate_until = 0;
}

bool claim__begin(bool program_runs)
{
	bool is_stopped = program_runs && !released;

	claimed = true;
	gate_until = clock__now() + (is_stopped ? STOPPED_NS : GATE_NS);
	probe_sites__cupti_claim(status__instance(), (uintptr_t)cupti_api__get()->Subscribe,
				 (uintptr_t)__ehdr_start, (uintptr_t)etext, &hint);
	/* No other client can come before the program goes on: claim__wait_for_gate(). */
	if (!is_stopped)
		claim__wait_for_gate();
	if (!claim__look())
		return true;
	claim__end();
	return false;
}

void claim__end(void)
{
	if (!claimed)
		return;
	claimed = false;
	if (yields)
		probe_sites__yield(status__instance());
	probe_sites__cupti_release(status__instance());
}

static bool has_changed(void)
{
	return is_requested() != yields;
}

/* CUPTI's switches may have to be put off (switch_barrier.h). */
static bool is_under_way(void)
{
	return yields && status__is_busy() && !switch_barrier__is_put_off();
}

bool claim__is_due(void)
{
	return has_changed() || is_under_way();
}

void claim__flush(void)
{
	uint64_t until = clock__now() + SETTLE_NS;

	cupti_api__get()->ActivityFlushAll(0);
	while (activity_buffers__are_out() && clock__now() < until) {
		thread__rest(TURN_MS * 1000);
		cupti_api__get()->ActivityFlushAll(0);
	}
	if (activity_buffers__are_out())
		cupti_api__get()->ActivityFlushAll(CUPTI_FLUSH_FORCED);
	if (activity_buffers__are_out())
		status__trouble(0, "cuptiActivityFlushAll",
				"CUPTI keeps buffers of this library, and another client begins");
}

static uint32_t look_ms(void)
{
	if (is_under_way())
		return TURN_MS;
	if (yields || status__state() == CUDA_STATE_YIELDED)
		return YIELDED_LOOK_MS;
	return status__is_busy() && site_wanted(cupti_claim) ? ACTIVE_LOOK_MS : FOREVER;
}

void claim__wait(uint32_t seen, uint32_t milliseconds)
{
	uint32_t look = look_ms();

	while (milliseconds && !has_changed() && wakeup__count() == seen) {
		uint32_t turn = milliseconds < look ? milliseconds : look;

		wakeup__wait(seen, turn);
		milliseconds -= turn;
		if (is_under_way())
			return;
	}
}
