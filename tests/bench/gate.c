// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stands between the agent and libcupti (CUDA_TRACE_LIBCUPTI), so that one process can take turns
 * with the agent and with CUPTI alone every few milliseconds, which a machine that drifts within
 * seconds does not spoil. The agent is the shipped one and notices nothing.
 *
 *   full      what CUPTI calls goes to the agent
 *   alone     the same kinds are on, but callbacks do nothing, and nobody reads the buffers; of
 *             calls that are not launches there is no callback
 *   nothing   what the agent switched on is off, as after its detach but for the subscriber
 *   zeroed    as full, but with buffers that are cleared as they come back, instead of by CUPTI on
 *             the launching thread: would that be cheaper?
 *
 * Functions that are not here are found in libcupti.so.13 itself, which this library needs: dlsym()
 * looks there as well. "hold" keeps the agent's flushes back: a thread that is stepped instruction
 * by instruction would need a new buffer in each launch.
 *
 * GATE_EXTRA_NS=N: as long as "costly" is on, which is "full" otherwise, each exit of a call spins
 * for about so long: a known cost, to see that a measurement finds it. "spun" answers with what it
 * took, in ns.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/alone.h"

#define SHOWN			   __attribute__((visibility("default")))
#define KINDS			   64
#define CBIDS			   1024
#define MANY			   2000000

#define ZEROED_OUT_ACTIVITY_BUFFER 5

enum state { FULL, COSTLY, ZEROED, ALONE, NOTHING };

static _Atomic enum state state;
static atomic_bool held;
static atomic_bool clears; /* what is not the agent's, from the first "zeroed" on */
static uint64_t cleared_ns, cleared_buffers;
static const struct cupti *cupti;
static void *subscriber;
static cupti_callback agent_call;
static _Atomic(cupti_callback) target; /* of calls: the agent's, or one that does nothing */
static cupti_buffer_requested agent_requested;
static cupti_buffer_completed agent_completed;
static bool kinds[KINDS];    /* as the agent left them */
static bool cbids[3][CBIDS]; /* the same, of the driver and the runtime */
static bool called[3][CBIDS];
static uint64_t extra_turns; /* of spin() */
static _Atomic uint64_t spun_ns, spun_times;
static uint64_t clock_ns; /* from one reading to the next */

/* What the agent uses, under libcupti's names; no header of NVIDIA's is needed to build. */
SHOWN int cuptiSubscribe(void **handle, cupti_callback call, void *userdata);
SHOWN int cuptiSubscribe_v2(void **handle, cupti_callback call, void *userdata,
			    struct cupti_subscriber_params *params);
SHOWN int cuptiUnsubscribe(void *handle);
SHOWN int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t cbid);
SHOWN int cuptiActivityRegisterCallbacks(cupti_buffer_requested requested,
					 cupti_buffer_completed completed);
SHOWN int cuptiActivityEnable(int kind);
SHOWN int cuptiActivityDisable(int kind);
SHOWN int cuptiActivityFlushAll(uint32_t flag);
SHOWN int gate__set(const char *name);

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static __attribute__((noinline)) void spin(uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++)
		__asm__ volatile("");
}

static void on_nothing(void *userdata, int domain, uint32_t cbid, const void *data)
{
}

/* The same way in each state: what it takes itself must not be found as the agent's. A call whose
 * entry went nowhere has no time of entry: the agent leaves it out. */
static void on_call(void *userdata, int domain, uint32_t cbid, const void *data)
{
	if (domain < 3 && cbid < CBIDS)
		called[domain][cbid] = true;
	atomic_load_explicit(&target, memory_order_relaxed)(userdata, domain, cbid, data);
}

/* One of 64 is timed: reading the clock takes as long as what is to be found. */
static void spin_and_look(void)
{
	static _Thread_local uint32_t count;
	static _Thread_local uint64_t least = UINT64_MAX;
	uint64_t before, took;

	if (count++ % 64) {
		spin(extra_turns);
		return;
	}
	before = now();
	spin(extra_turns);
	took = now() - before - clock_ns;
	least = took < least ? took : least;
	/* Else something else ran meanwhile, which a measurement leaves out as well. What makes the
	 * CPU slower (half as fast when its other thread is busy) is in the measurement, too. */
	if (took < least * 5) {
		spun_ns += took;
		spun_times++;
	}
}

static void on_call_and_more(void *userdata, int domain, uint32_t cbid, const void *data)
{
	const struct cupti_callback_data *call = data;

	on_call(userdata, domain, cbid, data);
	if (atomic_load_explicit(&state, memory_order_relaxed) == COSTLY &&
	    domain == CUPTI_DOMAIN_DRIVER && call->site == CUPTI_SITE_EXIT)
		spin_and_look();
}

static void on_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	if (atomic_load(&state) <= COSTLY)
		agent_requested(buffer, size, max_records);
	else
		alone__requested(buffer, size, max_records);
}

static void clear(uint8_t *buffer, size_t bytes)
{
	uint64_t before = now();

	memset(buffer, 0, bytes);
	cleared_ns += now() - before;
	cleared_buffers++;
}

/* Everything goes back to where it is from. The agent reads what it does not own, and leaves it. */
static void on_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	if (!alone__owns(buffer)) {
		agent_completed(context, stream, buffer, size, valid);
		return;
	}
	if (atomic_load(&state) == ZEROED)
		agent_completed(context, stream, buffer, size, valid);
	if (atomic_load(&clears))
		clear(buffer, valid);
	alone__completed(context, stream, buffer, size, valid);
}

static void aim(void)
{
	atomic_store(&target, atomic_load(&state) > ZEROED ? on_nothing : agent_call);
}

/* The commands, by the time that many turns take. */
static void calibrate(const char *extra)
{
	uint64_t before = now(), took;

	spin(MANY);
	extra_turns = strtoull(extra, NULL, 10) * MANY / (now() - before);
	clock_ns = UINT64_MAX;
	for (int i = 0; i < 1000; i++) {
		before = now();
		took = now() - before;
		clock_ns = took < clock_ns ? took : clock_ns;
	}
}

static cupti_callback open_real(cupti_callback call)
{
	const char *extra = getenv("GATE_EXTRA_NS");

	cupti = alone__open();
	agent_call = call;
	aim();
	if (extra)
		calibrate(extra);
	return extra_turns ? on_call_and_more : on_call;
}

int cuptiSubscribe(void **handle, cupti_callback call, void *userdata)
{
	cupti_callback ours = open_real(call);
	int result = cupti->Subscribe(handle, ours, userdata);

	subscriber = result ? NULL : *handle;
	return result;
}

int cuptiSubscribe_v2(void **handle, cupti_callback call, void *userdata,
		      struct cupti_subscriber_params *params)
{
	cupti_callback ours = open_real(call);
	int result = cupti->Subscribe_v2(handle, ours, userdata, params);

	subscriber = result ? NULL : *handle;
	return result;
}

int cuptiUnsubscribe(void *handle)
{
	memset(cbids, 0, sizeof(cbids));
	subscriber = NULL;
	return cupti->Unsubscribe(handle);
}

int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t cbid)
{
	if (domain < 3 && cbid < CBIDS)
		cbids[domain][cbid] = enable;
	return cupti->EnableCallback(enable, handle, domain, cbid);
}

int cuptiActivityRegisterCallbacks(cupti_buffer_requested requested,
				   cupti_buffer_completed completed)
{
	agent_requested = requested;
	agent_completed = completed;
	return cupti->ActivityRegisterCallbacks(on_requested, on_completed);
}

int cuptiActivityEnable(int kind)
{
	int result = cupti->ActivityEnable(kind);

	if (!result && kind < KINDS)
		kinds[kind] = true;
	return result;
}

int cuptiActivityDisable(int kind)
{
	if (kind < KINDS)
		kinds[kind] = false;
	return cupti->ActivityDisable(kind);
}

int cuptiActivityFlushAll(uint32_t flag)
{
	return atomic_load(&held) ? 0 : cupti->ActivityFlushAll(flag);
}

static void switch_all(bool on)
{
	for (int domain = 1; domain < 3; domain++)
		for (uint32_t cbid = 0; cbid < CBIDS; cbid++)
			if (cbids[domain][cbid])
				cupti->EnableCallback(on, subscriber, domain, cbid);
	for (int kind = 0; kind < KINDS; kind++)
		if (kinds[kind])
			(on ? cupti->ActivityEnable : cupti->ActivityDisable)(kind);
}

/* Callbacks that CUPTI alone does without, as far as the program makes such calls. */
static void switch_besides(bool on)
{
	for (int domain = 1; domain < 3; domain++)
		for (uint32_t cbid = 0; cbid < CBIDS; cbid++)
			if (cbids[domain][cbid] && called[domain][cbid] &&
			    !alone__is_launch(domain, cbid))
				cupti->EnableCallback(on, subscriber, domain, cbid);
}

/* False: this CUPTI knows no such thing. */
static bool provide_zeroed(bool on)
{
	void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
	int (*set)(int, size_t *, void *) = library ? (int (*)(int, size_t *, void *))dlsym(
							      library, "cuptiActivitySetAttribute")
						    : NULL;
	uint8_t value = on;
	size_t size = sizeof(value);

	atomic_store(&clears, true);
	return set && !set(ZEROED_OUT_ACTIVITY_BUFFER, &size, &value);
}

/* Not while the agent attaches or detaches. 0, or -1: nobody is attached, or no such state. */
int gate__set(const char *name)
{
	static const char *const names[] = {"full", "costly", "zeroed", "alone", "nothing"};
	enum state before = state, next;

	if (!strcmp(name, "hold") || !strcmp(name, "flow"))
		return atomic_store(&held, *name == 'h'), 0;
	if (!strcmp(name, "cleared"))
		return cleared_buffers ? cleared_ns / cleared_buffers : 0;
	if (!strcmp(name, "spun"))
		return spun_times ? spun_ns / spun_times : 0;
	for (next = FULL; next <= NOTHING && strcmp(names[next], name);)
		next++;
	if (!subscriber || next > NOTHING)
		return -1;
	if ((before == ZEROED) != (next == ZEROED) && !provide_zeroed(next == ZEROED))
		return -1;
	if (before == NOTHING && next != NOTHING)
		switch_all(true);
	if ((before == ALONE) != (next == ALONE))
		switch_besides(next != ALONE);
	atomic_store(&state, next);
	aim();
	if (before != NOTHING && next == NOTHING)
		switch_all(false);
	/* What is in a buffer of the other's comes out now. */
	return cupti->ActivityFlushAll(0);
}
