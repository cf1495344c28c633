// SPDX-License-Identifier: BSD-2-Clause
/*
 * CUPTI's clock is CLOCK_REALTIME on Linux, unless another client has registered a timestamp
 * callback. The agent registers none (with one, kernels come without times in 12.6U2-13.0): it
 * measures the offset with cuptiGetTimestamp(), and measures it again each second.
 *
 * Failure modes: 1. the reading thread is preempted between two clock reads: take the tightest of
 * several brackets. 2. NTP steps the clock between a record's time and its conversion: a record
 * that would lie in the future is converted with the offset before. 3. cuptiGetTimestamp() is not
 * settled before CUDA is up: an answer that is not near CLOCK_REALTIME and changes by more than a
 * step of the clock could is not believed, CLOCK_REALTIME is taken. 4. In a time namespace
 * (containers, restored checkpoints) CLOCK_MONOTONIC has an offset: records carry times without it.
 * A program that moved its children into a new namespace and stayed outside itself would be taken
 * for one of them; fork or exec in between, as unshare(1) and runtimes do it, are correct.
 */
#include "libcupti-usdt/base/clock.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BRACKETS  5
#define FUTURE_NS 1000000 /* GPU times are up to some 20 us off; beyond 1 ms it is the clock */
#define NEAR_NS	  1000000
#define UNSET	  0
/* "monotonic SECONDS NANOSECONDS", then the same of boottime. */
#define OFFSETS	  "/proc/self/timens_offsets"
#define MONOTONIC "monotonic"

static _Atomic(int64_t) current_offset; /* CUPTI's time - ours */
static _Atomic(int64_t) previous_offset;

struct measured {
	int64_t offset;
	uint64_t width;
};

int64_t clock_namespace_ns;

void clock__open(void)
{
	char text[128], *at;
	int file = open(OFFSETS, O_RDONLY | O_CLOEXEC);
	ssize_t length = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;

	if (file >= 0)
		close(file);
	if (length < 0)
		return;
	text[length] = '\0';
	at = strstr(text, MONOTONIC);
	if (at) {
		int64_t seconds = strtoll(at + strlen(MONOTONIC), &at, 10);

		clock_namespace_ns = seconds * 1000000000 + strtoll(at, NULL, 10);
	}
}

static int realtime(uint64_t *timestamp)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	*timestamp = (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	return 0;
}

static struct measured measure(clock__reader read)
{
	struct measured best = {0, UINT64_MAX};

	for (int i = 0; i < BRACKETS; i++) {
		uint64_t before = clock__now(), there = 0, after;

		if (read(&there) || !there)
			continue;
		after = clock__now();
		if (after - before < best.width) {
			best.width = after - before;
			best.offset = (int64_t)(there - (before + (after - before) / 2));
		}
	}
	return best;
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - b : (uint64_t)b - a;
}

void clock__calibrate(clock__reader read)
{
	struct measured real = measure(realtime), cupti = measure(read), twice;
	int64_t now = atomic_load(&current_offset), offset = real.offset;

	/* Not the real-time clock (WSL, a foreign timestamp callback): believed if it is steady. */
	if (cupti.width != UINT64_MAX && distance(cupti.offset, real.offset) > NEAR_NS) {
		twice = measure(read);
		if (twice.width != UINT64_MAX && distance(twice.offset, cupti.offset) < NEAR_NS)
			offset = twice.offset;
	} else if (cupti.width != UINT64_MAX) {
		offset = cupti.offset;
	}
	if (now != UNSET && distance(now, offset) > NEAR_NS)
		atomic_store(&previous_offset, now);
	atomic_store(&current_offset, offset);
}

void clock__reset(void)
{
	atomic_store(&current_offset, UNSET);
	atomic_store(&previous_offset, UNSET);
}

uint64_t clock__from_cupti(uint64_t timestamp)
{
	uint64_t time = timestamp - atomic_load_explicit(&current_offset, memory_order_relaxed);
	int64_t before = atomic_load_explicit(&previous_offset, memory_order_relaxed);

	if (__builtin_expect(before != UNSET, 0) && time > clock__now() + FUTURE_NS)
		return timestamp - before;
	return time;
}
