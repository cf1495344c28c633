// SPDX-License-Identifier: BSD-2-Clause
/*
 * One window in each period, at a random place in it: a program that repeats itself each second
 * would else show the same part of itself for ever. Every launch has the same chance to fall into a
 * window, however fast or slow the program is at that time, so a mean over windows is a mean over
 * launches.
 *
 * Failure modes: 1. this thread comes late (a busy machine): we report how long windows were open,
 * not how long they should have been. 2. a kernel outlasts its window: CUPTI keeps its record all
 * the same, and is flushed for it afterwards. 3. a tool changes the cycle under way, or another one
 * comes: the period that runs is cut short, the account goes on.
 */
#include "libcupti-usdt/emit/sample_windows.h"

#include <stdatomic.h>
#include <stddef.h>

#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/emit/probe_sites.h"

#define BIT(group) (1U << CUDA_GROUP_##group)
#define SAMPLED	   (BIT(SAMPLED_KERNEL) | BIT(SAMPLED_MEMCPY) | BIT(SAMPLED_MEMSET) | BIT(PC_SAMPLES))
#define MS	   1000000ULL
/* Most kernels are over by then; after it, each so often, for those that are not. */
#define LINGER_NS (300 * MS)
#define LATE_NS	  (1000 * MS)

static struct {
	uint32_t on_ms, every_ms; /* 0 = nothing is sampled */
	uint64_t start;		  /* of all of it */
	uint64_t period;	  /* start of the one that runs */
	uint64_t edge;		  /* when the window is to open or to close */
	uint64_t opened, closed, requested;
	uint64_t open_ns; /* of the windows before */
	uint32_t windows;
	bool kept_open; /* until sample_windows__release() */
	uint64_t random;
} cycle;

static atomic_bool is_open;
static uint64_t instance;

void sample_windows__prepare(uint64_t number)
{
	instance = number;
}

bool sample_windows__is_open(void)
{
	return atomic_load_explicit(&is_open, memory_order_relaxed);
}

/* xorshift64: good enough to be out of step with any program, and never 0. */
static uint64_t draw(uint64_t below)
{
	if (!cycle.random)
		cycle.random = instance | 1;
	cycle.random ^= cycle.random << 13;
	cycle.random ^= cycle.random >> 7;
	cycle.random ^= cycle.random << 17;
	return below ? cycle.random % below : 0;
}

static void begin_period(uint64_t start)
{
	uint64_t rest = cycle.every_ms > cycle.on_ms ? cycle.every_ms - cycle.on_ms : 0;

	cycle.period = start;
	cycle.edge = start + draw(rest * MS);
}

static void start(uint32_t on, uint32_t every, uint64_t now)
{
	bool goes_on = cycle.on_ms != 0;

	cycle.on_ms = on;
	cycle.every_ms = every;
	if (!goes_on) {
		cycle.start = now;
		cycle.open_ns = cycle.windows = 0;
	}
	if (sample_windows__is_open())
		cycle.edge = cycle.opened + on * MS;
	else
		begin_period(now);
	probe_sites__sample(instance);
}

void sample_windows__follow(uint32_t wanted, uint64_t now)
{
	static const uint32_t usual[] = {CUDA_SAMPLE_MS};
	static const uint32_t kinds[] = {BIT(KERNEL) | BIT(SAMPLED_KERNEL),
					 BIT(MEMCPY) | BIT(SAMPLED_MEMCPY),
					 BIT(MEMSET) | BIT(SAMPLED_MEMSET)};
	uint32_t on, every;

	if (!(wanted & SAMPLED)) {
		if (sample_windows__is_open())
			sample_windows__close(now);
		cycle.on_ms = cycle.every_ms = 0;
		cycle.kept_open = false;
		return;
	}
	probe_sites__cycle(&on, &every);
	on = on ? on : usual[0];
	every = every ? every : usual[1];
	/* Somebody wants all of a kind: then it is one long window, and counts as such. */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((wanted & kinds[i]) == kinds[i])
			on = every;
	if (on != cycle.on_ms || every != cycle.every_ms)
		start(on, every, now);
}

/* A window as long as its period stays open. */
static bool stays_open(void)
{
	return sample_windows__is_open() && (cycle.kept_open || cycle.on_ms >= cycle.every_ms);
}

void sample_windows__keep_open(uint64_t now)
{
	if (!cycle.on_ms)
		return;
	cycle.edge = now;
	cycle.kept_open = true;
}

void sample_windows__release(uint64_t now)
{
	if (!cycle.kept_open)
		return;
	cycle.kept_open = false;
	if (!sample_windows__is_open())
		return;
	cycle.open_ns += now - cycle.opened;
	cycle.opened = now;
	cycle.edge = now + cycle.on_ms * MS;
}

uint32_t sample_windows__groups(uint32_t wanted)
{
	return sample_windows__is_open() ? wanted : wanted & ~SAMPLED;
}

bool sample_windows__is_due(uint64_t now)
{
	if (!cycle.on_ms || stays_open())
		return false;
	return now >= cycle.edge;
}

bool sample_windows__have_kinds(uint32_t groups)
{
	return groups & SAMPLED & ~BIT(PC_SAMPLES);
}

void sample_windows__put_off(uint64_t now)
{
	cycle.edge = now + 100 * MS;
}

void sample_windows__open(void)
{
	atomic_store_explicit(&is_open, true, memory_order_relaxed);
}

void sample_windows__opened(uint64_t now)
{
	cycle.opened = now;
	cycle.edge = now + cycle.on_ms * MS;
	cycle.windows++;
}

/* A window that ended late may have eaten into periods to come: the next whole one is taken. */
void sample_windows__close(uint64_t now)
{
	uint64_t next = cycle.period + cycle.every_ms * MS;

	atomic_store_explicit(&is_open, false, memory_order_relaxed);
	cycle.open_ns += now - cycle.opened;
	cycle.closed = cycle.requested = now;
	if (next < now)
		next = now - (now - next) % (cycle.every_ms * MS);
	begin_period(next);
	if (cycle.edge < now)
		cycle.edge = now;
}

uint32_t sample_windows__pause(uint32_t milliseconds, uint64_t now)
{
	uint64_t left;

	if (!cycle.on_ms || stays_open())
		return milliseconds;
	left = cycle.edge > now ? (cycle.edge - now) / MS : 0;
	return left < milliseconds ? left + 1 : milliseconds;
}

bool sample_windows__lingers(uint64_t now)
{
	if (!cycle.on_ms || !cycle.windows)
		return false;
	if (now - cycle.closed >= LINGER_NS && now - cycle.requested < LATE_NS)
		return false;
	cycle.requested = now;
	return true;
}

void sample_windows__tell(struct cuda_status *status)
{
	status->sample_start = cycle.on_ms ? cycle.start : 0;
	status->sample_open_ns = cycle.open_ns;
	if (sample_windows__is_open() && status->time > cycle.opened)
		status->sample_open_ns += status->time - cycle.opened;
	status->sample_windows = cycle.windows;
	status->sample_on_ms = cycle.on_ms;
	status->sample_every_ms = cycle.every_ms;
}
