// SPDX-License-Identifier: BSD-2-Clause
/*
 * When the agent waits for the gate that keeps other clients of CUPTI out: before it subscribes,
 * but after it where the program's threads are stopped meanwhile. Linked with the agent's claim and
 * subscription; what these call is below. Prints what is wrong; silent and 0 if nothing is.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/base/thread_progress.h"
#include "libcupti-usdt/base/threads.h"
#include "libcupti-usdt/base/wakeup.h"
#include "libcupti-usdt/control/callbacks.h"
#include "libcupti-usdt/control/claim.h"
#include "libcupti-usdt/control/subscription.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/trace/activity_buffers.h"
#include "libcupti-usdt/trace/flusher.h"
#include "libcupti-usdt/trace/switch_barrier.h"

/* What happens, in this order: C the claim, w a wait for the gate (once), S the subscription, R the
 * release. */
static char events[16];

static void note(char event)
{
	size_t length = strlen(events);

	if (length && events[length - 1] == event)
		return;
	if (length + 1 < sizeof(events))
		events[length] = event;
}

#if defined(__aarch64__)
#define BREAKPOINT 0xd42000a0
#else
#define BREAKPOINT 0xcc
#endif

/* The entry of cuptiSubscribe(), where the tool's gate is a breakpoint. It is not called. */
static uint32_t entry;
static bool gate_comes;
static int refusal;

volatile unsigned short cuda_cupti_claim_semaphore, cuda_yield_semaphore;
int64_t clock_namespace_ns;

static int subscribe(void **subscriber, cupti_callback callback, void *userdata,
		     struct cupti_subscriber_params *params)
{
	(void)callback, (void)userdata, (void)params;
	note('S');
	*subscriber = &entry;
	return refusal;
}

static int unsubscribe(void *subscriber)
{
	(void)subscriber;
	return 0;
}

const struct cupti *cupti_api__get(void)
{
	static struct cupti cupti;

	cupti.version = CUPTI_VERSION_13_2 - 1;
	cupti.Subscribe = (void *)&entry;
	cupti.Subscribe_v2 = subscribe;
	cupti.Unsubscribe = unsubscribe;
	return &cupti;
}

void thread__rest(uint32_t microseconds)
{
	note('w');
	if (gate_comes)
		entry = BREAKPOINT;
	usleep(microseconds);
}

void probe_sites__cupti_claim(uint64_t instance, uint64_t function, uint64_t code, uint64_t end,
			      const volatile uint64_t *hint)
{
	(void)instance, (void)function, (void)code, (void)end, (void)hint;
	note('C');
}

void probe_sites__cupti_release(uint64_t instance)
{
	(void)instance;
	note('R');
}

void probe_sites__yield(uint64_t instance)
{
	(void)instance;
}

uint64_t status__instance(void)
{
	return 1;
}

bool status__is_busy(void)
{
	return false;
}

enum cuda_state status__state(void)
{
	return CUDA_STATE_ACTIVE;
}

void status__trouble(int code, const char *component, const char *format, ...)
{
	(void)code, (void)component, (void)format;
}

bool status__begin_first(void)
{
	return false;
}

void status__end_first(void)
{
}

void status__set_holder(const char *holder)
{
	(void)holder;
}

bool activity_buffers__are_out(void)
{
	return false;
}

bool switch_barrier__is_put_off(void)
{
	return false;
}

uint32_t wakeup__count(void)
{
	return 0;
}

void wakeup__wait(uint32_t seen, uint32_t milliseconds)
{
	(void)seen, (void)milliseconds;
}

void callbacks__dispatch(void *userdata, int domain, uint32_t cbid, const void *data)
{
	(void)userdata, (void)domain, (void)cbid, (void)data;
}

void flusher__tell_first(bool under_way)
{
	(void)under_way;
}

enum thread_progress thread_progress__wait(uint32_t milliseconds)
{
	(void)milliseconds;
	return THREADS_RAN;
}

static int failures;

/* One subscription: what it returns, and what happens in it. */
static void expect(const char *what, bool program_runs, int result, const char *expected)
{
	void *subscriber;
	int got;

	memset(events, 0, sizeof(events));
	entry = 0;
	got = subscription__new(&subscriber, program_runs);
	if (got != result || strcmp(events, expected)) {
		printf("%s: %d, %s instead of %d, %s\n", what, got, events, result, expected);
		failures++;
	}
	if (!got)
		subscription__end(&subscriber);
}

int main(void)
{
	uint64_t begun;

	cuda_cupti_claim_semaphore = 1;
	gate_comes = true;
	expect("within cuInit()", false, 0, "CwS");
	expect("a stopped program", true, 0, "CSw");
	gate_comes = false;
	begun = clock__now();
	expect("a stopped program, no gate", true, 0, "CSw");
	if (clock__now() - begun > 500000000) {
		printf("a stopped program, no gate: waits for too long\n");
		failures++;
	}
	refusal = CUPTI_MULTIPLE_SUBSCRIBERS;
	expect("refused by CUPTI", true, CUPTI_MULTIPLE_SUBSCRIBERS, "CSR");
	refusal = 0;
	cuda_yield_semaphore = 1;
	expect("another client waits", true, SUBSCRIPTION_YIELDS, "CR");
	cuda_yield_semaphore = 0;
	cuda_cupti_claim_semaphore = 0;
	expect("nobody makes a gate", true, 0, "CS");
	cuda_cupti_claim_semaphore = 1;
	gate_comes = true;
	claim__release_program();
	expect("a program that goes on", true, 0, "CwS");
	return failures != 0;
}
