// SPDX-License-Identifier: BSD-2-Clause
/*
 * A read of CLOCK_MONOTONIC takes 33 ns on a virtual machine with an H100, of the counter 18 ns
 * (one machine, 10^7 of each), and a launch needs two.
 *
 * Failure modes: 1. counters of different cores differ, or stop: the kernel then keeps time by
 * something else, and so do we. 2. the machine is moved and its counter jumps, or the clock is
 * slewed: pacing measures against a point of a second ago and starts anew when prediction and clock
 * differ by more than 1 ms. 3. a thread converts while the pace is being changed: the new one is
 * written beside the old, and a reader that slept through all that are kept reads again. Nobody
 * waits. 4. two events are converted by different paces, and change their order: a stamp is
 * converted by the pace that was there when it was taken, as long as that is kept, and a new pace
 * continues where the former one is.
 */
#include "libcupti-usdt/base/timestamps.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "libcupti-usdt/base/launch_state.h"

#define SOURCE	 "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define SHORT_NS 2000000ULL /* too little to tell a pace from */
#define APART_NS 1000000ULL
#define BRACKETS 4
#define FRACTION 32 /* bits of ns_per_count */
#define TURN_NS	 1000000000ULL
#define PACES	 16U /* a tick each; power of 2 */

struct point {
	uint64_t count, ns;
};

bool timestamps_count;

static struct pace {
	_Atomic(uint64_t) count, ns, ns_per_count;
} paces[PACES];
static _Atomic(uint32_t) generation; /* of the one that holds; 0 = none yet */

#ifdef __x86_64__
static struct point first;  /* what the pace is measured from; the agent's thread's own */
static struct point second; /* becomes the first at the next turn */

static struct point read_point(void)
{
	struct point best = {0, 0};
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < BRACKETS; i++) {
		uint64_t before = __rdtsc(), ns = clock__now(), after = __rdtsc();

		if (after - before < width) {
			width = after - before;
			best.count = before + (after - before) / 2;
			best.ns = ns;
		}
	}
	return best;
}

static bool kernel_counts(void)
{
	char source[8] = "";
	int file = open(SOURCE, O_RDONLY | O_CLOEXEC);
	ssize_t length = file >= 0 ? read(file, source, sizeof(source) - 1) : 0;

	if (file >= 0)
		close(file);
	return length == 4 && !memcmp(source, "tsc\n", 4);
}

void timestamps__open(void)
{
	timestamps_count = kernel_counts();
	launch_state__detour(DETOUR_CLOCK, !timestamps_count);
	if (timestamps_count)
		first = second = read_point();
}

static void set_pace(struct point now, uint64_t ns_per_count)
{
	uint32_t next = atomic_load_explicit(&generation, memory_order_relaxed) + 1;
	struct pace *pace = &paces[next % PACES];

	atomic_store_explicit(&pace->count, now.count, memory_order_relaxed);
	atomic_store_explicit(&pace->ns, now.ns, memory_order_relaxed);
	atomic_store_explicit(&pace->ns_per_count, ns_per_count, memory_order_relaxed);
	atomic_store_explicit(&generation, next, memory_order_release);
}

/* Goes on from what the former pace says, and makes up for the difference within a second. */
static void follow(struct point now, uint64_t ns_per_count)
{
	uint64_t predicted = timestamps__to_ns(now.count);
	int64_t late = now.ns - predicted;

	set_pace((struct point){now.count, predicted},
		 ns_per_count + (int64_t)((__int128_t)ns_per_count * late / (int64_t)TURN_NS));
}

static bool is_apart(struct point now)
{
	uint64_t predicted = timestamps__to_ns(now.count);

	return predicted + APART_NS < now.ns || now.ns + APART_NS < predicted;
}

void timestamps__pace(void)
{
	uint64_t ns_per_count;
	struct point now;

	if (!timestamps_count)
		return;
	now = read_point();
	/* Only just opened: two milliseconds once, inside cuInit, rather than times that are off.
	 */
	while (now.ns - first.ns < SHORT_NS)
		now = read_point();
	if (atomic_load(&generation) && is_apart(now)) {
		first = second = now;
		set_pace(now, atomic_load(&paces[generation % PACES].ns_per_count));
		return;
	}
	ns_per_count = ((__uint128_t)(now.ns - first.ns) << FRACTION) / (now.count - first.count);
	if (atomic_load(&generation))
		follow(now, ns_per_count);
	else
		set_pace(now, ns_per_count);
	if (now.ns - second.ns >= TURN_NS) {
		first = second;
		second = now;
	}
}
#else
void timestamps__open(void)
{
}

void timestamps__pace(void)
{
}
#endif

/* The number of the pace of that time, or of the oldest that is not being overwritten. */
static uint32_t pace_of(uint64_t stamp, uint32_t newest)
{
	uint32_t pace = newest, oldest = newest < PACES - 1 ? 1 : newest - (PACES - 3);

	while (pace > oldest && (int64_t)(stamp - atomic_load_explicit(&paces[pace % PACES].count,
								       memory_order_relaxed)) < 0)
		pace--;
	return pace;
}

uint64_t timestamps__to_ns(uint64_t stamp)
{
	uint32_t number;
	int64_t distance;
	uint64_t ns, ns_per_count;

	if (!timestamps_count)
		return stamp;
	do {
		struct pace *pace;

		number = pace_of(stamp, atomic_load_explicit(&generation, memory_order_acquire));
		pace = &paces[number % PACES];
		distance = stamp - atomic_load_explicit(&pace->count, memory_order_relaxed);
		ns = atomic_load_explicit(&pace->ns, memory_order_relaxed);
		ns_per_count = atomic_load_explicit(&pace->ns_per_count, memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&generation, memory_order_relaxed) - number >= PACES - 1);
	return ns + (int64_t)(((__int128_t)distance * (int64_t)ns_per_count) >> FRACTION);
}
