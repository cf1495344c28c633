// SPDX-License-Identifier: BSD-2-Clause
/*
 * API enter and exit → host records. This is the program's own path: no lock that is waited for,
 * no allocation after a thread's first launch, no CUPTI or CUDA call but for ids and names of what
 * is in graphs, errno as it was.
 *
 * The time of entry is kept in the 64 bits that CUPTI keeps for each call, so nested calls (the
 * driver's inside the runtime's) need nothing of ours. Failure modes: 1. the exit of a call whose
 * entry we did not see (we were switched on meanwhile): those 64 bits hold anything, an address
 * looks like an uptime; so the time is kept mixed with this load's number, and only one between the
 * switching on and now is believed. 2. callbacks still under way after unsubscribing: the groups
 * are 0 first, they write nothing. 3. CUPTI calls back in a forked child: DETOUR_DEAF is set there.
 */
#include "libcupti-usdt/control/callbacks.h"

#include <errno.h>
#include <stdatomic.h>

#include "libcupti-usdt/trace/api_calls.h"
#include "libcupti-usdt/profile/stream_captures.h"
#include "libcupti-usdt/profile/launch_counters.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cuda_driver.h"
#include "libcupti-usdt/control/graph_workarounds.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/trace/graph_adds.h"
#include "libcupti-usdt/trace/graph_changes.h"
#include "libcupti-usdt/trace/graph_instantiations.h"
#include "libcupti-usdt/trace/graph_nodes.h"
#include "libcupti-usdt/trace/kernel_names.h"
#include "libcupti-usdt/profile/launch_gate.h"
#include "libcupti-usdt/trace/launches.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/trace/nvtx.h"
#include "libcupti-usdt/profile/pc_contexts.h"
#include "libcupti-usdt/profile/pc_sampling.h"
#include "libcupti-usdt/profile/pc_source.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/base/timestamps.h"
#include "libcupti-usdt/base/wakeup.h"
#include "libcupti-usdt/trace/switch_barrier.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/control/deferred_kinds.h"

#define BIT(group) (1U << CUDA_GROUP_##group)
/* See pc_sampling__tick(), which lets them go before; but its thread may wait for CUPTI, too. */
#define HELD_MS 3500

/* Groups that need the time of entry; hot.since: since when; hot.mix: what it is mixed with. */
static _Atomic(uint32_t) groups_on;

/* A capture may have begun before anybody listened: for so long each launch is looked at. Most take
 * less. */
#define CAPTURE_NS 300000000ULL
static _Atomic(uint64_t) captures_known; /* ns, from when on */

/* CUPTI has finalised itself. */
static atomic_bool fatal;

static __attribute__((noinline)) void detour(int domain, uint32_t cbid, const void *about);

void callbacks__set_groups(uint32_t groups)
{
	uint32_t before = atomic_load_explicit(&groups_on, memory_order_relaxed);

	if (groups && !before) {
		launches__set_slow_path(detour);
		atomic_store_explicit(&hot.mix, status__instance(), memory_order_relaxed);
		atomic_store_explicit(&hot.since, timestamps__now(), memory_order_relaxed);
		atomic_store(&captures_known, clock__now() + CAPTURE_NS);
		launch_state__detour(DETOUR_CAPTURE, true);
	}
	if (!groups) {
		stream_captures__forget();
		launch_state__detour(DETOUR_CAPTURE, false);
	}
	atomic_store_explicit(&groups_on, groups, memory_order_release);
	launch_state__detour(DETOUR_GROUPS,
			     !(groups & BIT(LAUNCH)) || groups & (BIT(COUNTERS) | BIT(API_LAUNCH)));
}

static COLD_PATH void other_calls(struct ring *ring, uint32_t groups, int domain, uint32_t cbid,
				  const struct cupti_callback_data *data, uint64_t start,
				  uint64_t end)
{
	int saved = errno;

	if (graph_changes__asks(ring))
		return;
	if (groups & BIT(COUNTERS))
		launch_counters__leave(domain, cbid, data);
	if (groups & BIT(GRAPH) && domain == CUPTI_DOMAIN_DRIVER)
		graph_instantiations__record(ring, cbid, data, start, end);
	if (groups & BIT(GRAPH_NODES) && domain == CUPTI_DOMAIN_DRIVER) {
		graph_adds__record(ring, data, start, end);
		graph_changes__record(ring, data, start, end);
	}
	/* Else families may just be learnt by another thread; so in runtime_enter(). */
	if (api_calls__wanted(groups))
		api_calls__record(ring, groups, domain, cbid, data, start, end);
	errno = saved;
}

static bool is_success(const struct cupti_callback_data *data)
{
	return !data->return_value || !*(const int *)data->return_value;
}

/* Most calls are over with this: they did not fail, and nobody wants to know more of them. */
static bool is_nobodys(uint32_t groups, int domain, uint32_t cbid,
		       const struct cupti_callback_data *data)
{
	const uint32_t others = BIT(LAUNCH) | BIT(RUNTIME) | BIT(NVTX) | API_CALLS_FAILED;

	return !(groups & ~others) && is_success(data) &&
	       launches__shape(domain, cbid) == LAUNCH_NONE;
}

/* The default stream answers with an error while another one is captured. Who wants each call on
 * streams would see this one, too. */
static bool is_captured(uint32_t groups, uint32_t cbid, const struct cupti_callback_data *data)
{
	struct cuda_launch launch = {.result = 0};

	if (!(launch_state__detours() & DETOUR_CAPTURE || stream_captures__any()) ||
	    groups & BIT(API_STREAM) || !is_success(data))
		return false;
	if (!stream_captures__any() && clock__now() > atomic_load(&captures_known))
		launch_state__detour(DETOUR_CAPTURE, false);
	launches__read(&launch, CUPTI_DOMAIN_DRIVER, cbid, data->params);
	return stream_captures__takes((void *)(uintptr_t)launch.stream);
}

static void api_exit(uint32_t groups, int domain, uint32_t cbid,
		     const struct cupti_callback_data *data)
{
	uint32_t launch_group = domain == CUPTI_DOMAIN_DRIVER ? BIT(LAUNCH) : BIT(RUNTIME);
	uint64_t start = launch_state__mixed(*data->correlation_data), end;
	struct ring *ring;

	if (is_nobodys(groups, domain, cbid, data))
		return;
	end = timestamps__now();
	if (!launch_state__believes(start, end))
		return;
	ring = rings__mine();
	if (launches__shape(domain, cbid) != LAUNCH_NONE) {
		if (domain == CUPTI_DOMAIN_DRIVER)
			ring__count_launch(ring);
		if (groups & launch_group)
			launches__record(ring, domain, cbid, data, start, end,
					 domain == CUPTI_DOMAIN_DRIVER &&
						 is_captured(groups, cbid, data));
	}
	if (groups & ~(BIT(LAUNCH) | BIT(RUNTIME)))
		other_calls(ring, groups, domain, cbid, data, start, end);
}

/* Driver calls inside a runtime call have its correlation, and say that they are inside. */
static COLD_PATH void runtime_enter(uint32_t groups, uint32_t cbid,
				    const struct cupti_callback_data *data)
{
	if (api_calls__wanted(groups) &&
	    groups & 1U << api_calls__group(CUPTI_DOMAIN_RUNTIME, cbid))
		ring__set_runtime_call(rings__mine(), data->correlation);
	*data->correlation_data = launch_state__start(timestamps__now(), false);
}

/* A kernel that is to be counted is prepared for here, and others wait for it. */
static COLD_PATH void counters_enter(int domain, uint32_t cbid,
				     const struct cupti_callback_data *data)
{
	int saved = errno;

	launch_counters__enter(domain, cbid, data);
	errno = saved;
}

/* Only kernels are wanted: they need this callback for their correlation ids. */
static COLD_PATH void count_alone(int domain, const struct cupti_callback_data *data)
{
	if (data->site == CUPTI_SITE_EXIT && domain == CUPTI_DOMAIN_DRIVER)
		ring__count_launch(rings__mine());
}

/* Contexts are learnt from launches; and what runs kernels waits here while a call of CUPTI's is
 * under way that it would lock up with itself: see pc_windows.c. True: nobody else wants to know.
 */
static COLD_PATH bool pc_call(uint32_t groups, uint32_t cbid,
			      const struct cupti_callback_data *data)
{
	bool launches = launches__shape(CUPTI_DOMAIN_DRIVER, cbid) != LAUNCH_NONE;
	enum api_calls_sort sort = api_calls__sort(cbid);
	bool enters = data->site == CUPTI_SITE_ENTER;
	int saved = errno;

	pc_contexts__begins(data->context);
	if (enters && launches__ends_context_by(cbid))
		pc_sampling__close_first();
	if (sort == API_CALLS_CAPTURE_BEGINS && enters)
		stream_captures__wait();
	else if (sort == API_CALLS_CAPTURE_BEGINS && is_success(data))
		stream_captures__begins();
	else if (!enters && sort == API_CALLS_CAPTURE_ENDS)
		stream_captures__ends();
	if ((launches || sort) && sort != API_CALLS_CAPTURE_ENDS && !launch_gate__is_mine()) {
		if (enters) {
			pc_sampling__begin_launch(launches);
			launch_gate__enter(HELD_MS);
		} else {
			launch_gate__leave();
		}
	}
	errno = saved;
	return !launches && !groups;
}

/* Launches into a capture run nothing. PC sampling and counters look at captures themselves. */
static COLD_PATH void look_at_capture(uint32_t cbid, const struct cupti_callback_data *data)
{
	enum api_calls_sort sort = api_calls__sort(cbid);

	if (data->site != CUPTI_SITE_EXIT)
		return;
	if (sort == API_CALLS_CAPTURE_BEGINS && is_success(data))
		stream_captures__begins();
	else if (sort == API_CALLS_CAPTURE_ENDS)
		stream_captures__ends();
	else
		return;
	launch_state__detour(DETOUR_CAPTURE,
			     stream_captures__any() || clock__now() < atomic_load(&captures_known));
}

/* True: the launch was held. */
static COLD_PATH bool stand_still(uint32_t cbid, const struct cupti_callback_data *data)
{
	bool graph = launches__is_graph(CUPTI_DOMAIN_DRIVER, cbid), held = false;
	int saved = errno;

	if (graph && data->site == CUPTI_SITE_ENTER)
		graph_workarounds__enter();
	if (data->site == CUPTI_SITE_EXIT)
		switch_barrier__leave(graph);
	else if (launches__shape(CUPTI_DOMAIN_DRIVER, cbid) != LAUNCH_NONE)
		held = switch_barrier__enter(graph);
	errno = saved;
	return held;
}

/* Contexts and modules that come. */
static bool pc_callback(uint32_t cbid, const struct cupti_resource_data *data)
{
	const struct cupti_module_data *module = data->more;

	if (cbid == CUPTI_RESOURCE_CONTEXT_CREATED) {
		pc_contexts__begins(data->context);
		deferred_kinds__context_begins();
	} else if (cbid == CUPTI_RESOURCE_MODULE_LOADED && module) {
		pc_source__module(module->image, module->size);
	}
	return cbid != CUPTI_RESOURCE_CONTEXT_DESTROY_STARTING;
}

static COLD_PATH void names_move(void)
{
	interned_names__forget();
	kernel_names__moved();
}

/*
 * CUPTI empties a context's buffers itself as it goes. Our own batches are flushed by the agent's
 * thread: flushing CUPTI from inside this callback is forbidden.
 */
static void context_ends(void *context)
{
	pc_contexts__ends(context);
	wakeup__request();
}

static void become_fatal(const struct cupti_state_data *data)
{
	status__trouble(data->result, "cupti", "%s", data->message ? data->message : "fatal error");
	atomic_store(&fatal, true);
	wakeup__request();
}

bool callbacks__is_fatal(void)
{
	return atomic_load(&fatal);
}

bool callbacks__fetch_fatal(void)
{
	return atomic_exchange(&fatal, false);
}

static COLD_PATH void rare_callback(int domain, uint32_t cbid, const void *data)
{
	int saved = errno;

	switch (domain) {
	case CUPTI_DOMAIN_NVTX:
		if (atomic_load_explicit(&groups_on, memory_order_relaxed) & BIT(NVTX))
			nvtx__callback(cbid, data);
		break;
	case CUPTI_DOMAIN_RESOURCE:
		if (graph_nodes__is_one(cbid)) {
			graph_nodes__record(cbid, data);
			break;
		}
		if (pc_callback(cbid, data))
			break;
		names_move();
		context_ends(((const struct cupti_resource_data *)data)->context);
		launch_counters__context_ends(((const struct cupti_resource_data *)data)->context);
		break;
	case CUPTI_DOMAIN_STATE:
		if (cbid == CUPTI_STATE_FATAL)
			become_fatal(data);
		break;
	}
	errno = saved;
}

static COLD_PATH void graph_call_enters(const struct cupti_callback_data *data)
{
	int saved = errno;

	graph_changes__enter(rings__mine(), data);
	errno = saved;
}

static __attribute__((noinline)) void driver_enter(uint32_t groups, uint32_t cbid,
						   const struct cupti_callback_data *data,
						   uint64_t held_since)
{
	enum launch_shape shape = launches__shape(CUPTI_DOMAIN_DRIVER, cbid);

	if (groups & BIT(GRAPH_NODES) && shape == LAUNCH_NONE)
		graph_call_enters(data);
	if (kernel_names__are_wanted() && shape != LAUNCH_NONE && shape != LAUNCH_GRAPH)
		kernel_names__launches(data->correlation, data->symbol_name);
	*data->correlation_data =
		launch_state__start(held_since ? held_since : timestamps__now(), held_since);
}

static void detour(int domain, uint32_t cbid, const void *about)
{
	uint32_t groups = atomic_load_explicit(&groups_on, memory_order_relaxed);
	uint32_t detours = launch_state__detours();
	const struct cupti_callback_data *data = about;
	uint64_t held_since = 0;

	if (detours & DETOUR_DEAF || (detours & DETOUR_DRIVER && cuda_driver__asks_itself()))
		return;
	if ((switch_barrier__is_needed() || detours & DETOUR_BARRIER) &&
	    domain == CUPTI_DOMAIN_DRIVER) {
		/* Until then was the program's time, what follows is ours. */
		uint64_t now = data->site == CUPTI_SITE_ENTER ? timestamps__now() : 0;

		if (stand_still(cbid, data))
			held_since = now;
	}
	if (groups & BIT(COUNTERS) && domain == CUPTI_DOMAIN_DRIVER &&
	    data->site == CUPTI_SITE_ENTER) {
		counters_enter(domain, cbid, data);
		held_since = 0;
	}
	if (detours & DETOUR_PC && domain == CUPTI_DOMAIN_DRIVER && pc_call(groups, cbid, data))
		return;
	if (domain == CUPTI_DOMAIN_DRIVER && !(detours & DETOUR_PC || groups & BIT(COUNTERS)))
		look_at_capture(cbid, data);
	if (domain == CUPTI_DOMAIN_DRIVER && launches__unloads_by(cbid))
		names_move();
	if (domain != CUPTI_DOMAIN_DRIVER && domain != CUPTI_DOMAIN_RUNTIME)
		rare_callback(domain, cbid, about);
	else if (!data->correlation_data)
		return;
	else if (!groups)
		count_alone(domain, data);
	else if (data->site == CUPTI_SITE_EXIT)
		api_exit(groups, domain, cbid, data);
	else if (domain == CUPTI_DOMAIN_RUNTIME)
		runtime_enter(groups, cbid, data);
	else
		driver_enter(groups, cbid, data, held_since);
}

/*
 * Runs twice in each launch, and uses no stack: slow paths are tail calls.
 * errno is kept by those who come near a system call: looking it up is a call itself.
 */
HOT_PATH void callbacks__dispatch(void *userdata, int domain, uint32_t cbid, const void *about)
{
	const struct cupti_callback_data *data = about;

	(void)userdata;
	if (__builtin_expect(launch_state__detours() || domain != CUPTI_DOMAIN_DRIVER, 0) ||
	    launches__common_shape(cbid) == LAUNCH_NONE || !data->correlation_data)
		detour(domain, cbid, about);
	else if (data->site == CUPTI_SITE_EXIT)
		launches__leave(cbid, data);
	else if (kernel_names__are_wanted())
		driver_enter(0, cbid, data, 0);
	else
		*data->correlation_data = launch_state__start(timestamps__counted(), false);
}
