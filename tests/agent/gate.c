// SPDX-License-Identifier: BSD-2-Clause
/*
 * The gate that counted launches pass alone, from inside, with many threads. Linked with the
 * agent's own objects. Prints what is wrong; silent and 0 if nothing is.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/profile/launch_gate.h"

static _Atomic(int) failures;

static void fail(const char *what, long a, long b)
{
	if (atomic_fetch_add(&failures, 1) < 20)
		printf("%s: %ld, %ld\n", what, a, b);
}

static _Atomic(int) inside, alone;
static _Atomic(unsigned long) alone_times;

/* Half of the time alone: nobody else may be inside then. */
static void *go_through_gate(void *nothing)
{
	for (int i = 0; i < 2000; i++) {
		if (i % 2 && launch_gate__enter_alone()) {
			atomic_fetch_add(&alone_times, 1);
			if (atomic_fetch_add(&alone, 1) || atomic_load(&inside) ||
			    !launch_gate__is_mine())
				fail("not alone", atomic_load(&inside), i);
			sched_yield();
			atomic_fetch_sub(&alone, 1);
			launch_gate__leave_alone();
			continue;
		}
		if (!launch_gate__enter(60000) || launch_gate__is_mine())
			fail("did not get in", 0, i);
		atomic_fetch_add(&inside, 1);
		sched_yield();
		if (atomic_load(&alone))
			fail("somebody is alone", atomic_load(&inside), i);
		atomic_fetch_sub(&inside, 1);
		launch_gate__leave();
	}
	return nothing;
}

static void test_launch_gate(void)
{
	pthread_t threads[6];

	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, go_through_gate, NULL);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	if (atomic_load(&alone_times) < 3000)
		fail("seldom alone", atomic_load(&alone_times), 6000);
	if (launch_gate__is_shut())
		fail("still shut", 0, 0);
}

static atomic_bool all_in;

/* Alone again and again, for some milliseconds, without a pause between. */
static void *stay_alone(void *nothing)
{
	uint64_t end = clock__now() + 10000000000ULL;

	while (!atomic_load(&all_in) && clock__now() < end) {
		if (!launch_gate__enter_alone())
			continue;
		for (uint64_t until = clock__now() + 3000000; clock__now() < until;)
			;
		launch_gate__leave_alone();
	}
	return nothing;
}

/* Whoever waits comes in between, as soon as it has woken up. */
static void test_launch_gate_gives_way(void)
{
	uint64_t begun = clock__now();
	pthread_t thread;

	pthread_create(&thread, NULL, stay_alone, NULL);
	for (int i = 0; i < 100; i++) {
		if (!launch_gate__enter(60000))
			fail("waited for nothing", 0, i);
		launch_gate__leave();
		usleep(100);
	}
	atomic_store(&all_in, true);
	pthread_join(thread, NULL);
	if (clock__now() - begun > 5000000000ULL)
		fail("gives no way", (clock__now() - begun) / 1000000, 5000);
}

int main(void)
{
	test_launch_gate();
	test_launch_gate_gives_way();
	return atomic_load(&failures) != 0;
}
