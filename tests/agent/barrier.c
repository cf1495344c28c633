// SPDX-License-Identifier: BSD-2-Clause
/* switch_barrier.h while a thread gets no CPU, on a clock of its own. Prints what is wrong; silent
 * and 0 if nothing is. */
#include <stdio.h>
#include <time.h>

#include "libcupti-usdt/base/thread_progress.h"
#include "libcupti-usdt/base/threads.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/trace/switch_barrier.h"

#define S 1000000000ULL

static int failures;
static uint64_t now = S;
static uint32_t waited; /* ms, by the last attempt */
static enum thread_progress progress;

/* The C library's, under clock__now(). */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	*time = (struct timespec){now / S, now % S};
	return 0;
}

void thread__rest(uint32_t microseconds)
{
}

void futex__wait(_Atomic(uint32_t) *word, uint32_t value, uint32_t milliseconds)
{
}

void futex__wake(_Atomic(uint32_t) *word)
{
}

enum thread_progress thread_progress__wait(uint32_t milliseconds)
{
	waited = milliseconds;
	return progress;
}

static void expect(bool holds, const char *what)
{
	failures += !holds;
	if (!holds)
		puts(what);
}

static void open_barrier(void)
{
	progress = THREADS_WAIT;
	switch_barrier__open(CUPTI_VERSION_13_0 + 1, false);
}

/* Six attempts fail, with pauses that double; the seventh switches. */
static void test_bound(void)
{
	static const uint32_t held_ms[] = {50, 100, 200, 400, 400, 400};
	uint64_t pause = S;

	open_barrier();
	for (int i = 0; i < 6; i++) {
		expect(!switch_barrier__begin(true, false), "begins while a thread has no CPU");
		expect(waited == held_ms[i], "holds launches for another time");
		now += pause - 1;
		expect(switch_barrier__is_put_off(), "the pause is shorter");
		expect(!switch_barrier__begin(true, false), "begins during the pause");
		now++;
		expect(!switch_barrier__is_put_off(), "the pause is longer");
		pause = pause < 32 * S ? 2 * pause : pause;
	}
	expect(switch_barrier__begin(true, false), "puts off for ever");
	switch_barrier__end();
	expect(!switch_barrier__begin(true, false), "has not begun anew");
	expect(waited == held_ms[0], "has not begun anew");
}

/* Another client comes during a pause: one attempt at once, and no second one before a pause. */
static void test_urgent(void)
{
	open_barrier();
	expect(!switch_barrier__begin(true, false), "begins while a thread has no CPU");
	expect(!switch_barrier__begin(true, true), "begins while a thread has no CPU");
	expect(waited == 400, "does not wait longer for a client");
	waited = 0;
	expect(!switch_barrier__begin(true, true) && !waited,
	       "holds launches for a client for ever");
	now += 2 * S;
	progress = THREADS_RAN;
	expect(switch_barrier__begin(true, true), "does not begin though all have run");
	switch_barrier__end();
	expect(switch_barrier__begin(true, false), "a success leaves a pause behind");
	switch_barrier__end();
}

int main(void)
{
	test_bound();
	test_urgent();
	return failures != 0;
}
