// SPDX-License-Identifier: BSD-2-Clause
/*
 * Groups → activity kinds and callbacks, and the calls that switch the difference. Callbacks are
 * enabled one by one, never by domain: a domain would cost every call of the program.
 * CONCURRENT_KERNEL and never KERNEL: the latter makes kernels run one after the other.
 */
#include "libcupti-usdt/control/activity_kinds.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "libcupti-usdt/trace/api_calls.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/cupti/cupti_records.h"
#include "libcupti-usdt/control/claim.h"
#include "libcupti-usdt/control/graph_workarounds.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/trace/graph_adds.h"
#include "libcupti-usdt/trace/graph_changes.h"
#include "libcupti-usdt/trace/graph_instantiations.h"
#include "libcupti-usdt/trace/graph_nodes.h"
#include "libcupti-usdt/trace/launches.h"
#include "libcupti-usdt/trace/nvtx.h"
#include "libcupti-usdt/profile/pc_sampling.h"
#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/trace/switch_barrier.h"
#include "libcupti-usdt/emit/status.h"

#define BIT(group) (1U << CUDA_GROUP_##group)

struct kind_of_group {
	uint32_t group;
	uint32_t kind;
	const char *name;
	bool optional; /* older libraries or GPUs may lack it; the group works without */
	bool dump;     /* CUPTI also reports what exists already */
};

static const struct kind_of_group kinds[] = {
#define KIND_OF_GROUP(ours, name, number, groups, ...) {groups, number, #name, __VA_ARGS__},
	CUPTI_ACTIVITY_KINDS(KIND_OF_GROUP)
#undef KIND_OF_GROUP
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t kinds_on;	/* by activity kind */
static uint32_t waiting;	/* by row: CUPTI is not ready for them yet */
static uint32_t refused;	/* by group: CUPTI does without */
static int thread_id_type = -1; /* the program's, while it is ours; -1 = not changed */

/* Overhead records name threads; CUPTI's default are the low bits of pthread_self(). */
static void use_thread_ids(bool system)
{
	const struct cupti *cupti = cupti_api__get();
	int type;

	if (!cupti->GetThreadIdType || !cupti->SetThreadIdType)
		return;
	if (system && thread_id_type < 0 && !cupti->GetThreadIdType(&type) &&
	    !cupti->SetThreadIdType(CUPTI_THREAD_ID_SYSTEM)) {
		thread_id_type = type;
	} else if (!system && thread_id_type >= 0) {
		cupti->SetThreadIdType(thread_id_type);
		thread_id_type = -1;
	}
}

/* All counters of the process; without this the kind stays silent. */
static int configure_uvm(void)
{
	const struct cupti *cupti = cupti_api__get();
	struct cupti_uvm_config config[8] = {0};

	if (!cupti->ActivityConfigureUnifiedMemoryCounter)
		return CUPTI_NOT_COMPATIBLE;
	for (int i = 0; i < 8; i++) {
		config[i].scope = 1; /* a process and device */
		config[i].kind = i + 1;
		config[i].enable = 1;
	}
	return cupti->ActivityConfigureUnifiedMemoryCounter(config, 8);
}

static int enable(const struct kind_of_group *kind)
{
	const struct cupti *cupti = cupti_api__get();
	int result = 0;

	if (kind->kind == CUPTI_KIND_UVM)
		result = configure_uvm();
	if (kind->kind == CUPTI_KIND_OVERHEAD)
		use_thread_ids(true);
	if (kind->kind == CUPTI_KIND_CONCURRENT_KERNEL)
		pc_sampling__make_way();
	if (result)
		return result;
	if (kind->dump && cupti->ActivityEnableAndDump)
		return cupti->ActivityEnableAndDump(kind->kind);
	return cupti->ActivityEnable(kind->kind);
}

static void switch_off(uint32_t groups)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (groups & kinds[i].group || !(kinds_on & 1ULL << kinds[i].kind))
			continue;
		cupti_api__get()->ActivityDisable(kinds[i].kind);
		kinds_on &= ~(1ULL << kinds[i].kind);
		if (kinds[i].kind == CUPTI_KIND_OVERHEAD)
			use_thread_ids(false);
	}
}

static void try_row(size_t row)
{
	const struct kind_of_group *kind = &kinds[row];
	int result = enable(kind);

	waiting &= ~(1U << row);
	if (!result) {
		kinds_on |= 1ULL << kind->kind;
	} else if (result == CUPTI_NOT_READY) {
		waiting |= 1U << row;
	} else if (!kind->optional) {
		refused |= kind->group;
		status__trouble(result, "cuptiActivityEnable", "%s: %s", kind->name,
				cupti_api__result_text(result));
	}
}

uint32_t activity_kinds__missing(void)
{
	uint32_t groups = refused;

	for (size_t i = 0; i < KINDS; i++)
		if (waiting & 1U << i && !kinds[i].optional)
			groups |= kinds[i].group;
	return groups;
}

static bool nvtx_on;

static void note_launch_flags(void)
{
	bool timed = kinds_on >> CUPTI_KIND_CONCURRENT_KERNEL & 1;

	atomic_store_explicit(&hot.launch_flags,
			      (timed ? CUDA_LAUNCH_TIMED : 0) | (nvtx_on ? CUDA_LAUNCH_RANGES : 0),
			      memory_order_relaxed);
}

/* Is any kind to go on, or off? */
static bool moves(uint32_t groups, bool off)
{
	for (size_t i = 0; i < KINDS; i++) {
		bool is_on = kinds_on & 1ULL << kinds[i].kind, is_wanted = groups & kinds[i].group;

		if (is_on != is_wanted && is_on == off)
			return true;
	}
	return false;
}

static bool stand_still(uint32_t groups)
{
	bool off = moves(groups, true);

	return (!off && !moves(groups, false)) || switch_barrier__begin(off, claim__must_yield());
}

bool activity_kinds__switch(uint32_t groups)
{
	uint32_t spared;

	/* Whole graphs and their nodes exclude each other; the nodes win. */
	if (groups & BIT(GRAPH_NODES))
		groups &= ~BIT(GRAPH);
	graph_workarounds__tell(groups);
	if (!stand_still(groups & ~graph_workarounds__spared()))
		return false;
	/* Checked once more: a thread that waits now may be about to launch one. */
	spared = graph_workarounds__spared();
	refused = groups & spared;
	groups &= ~spared;
	switch_off(groups);
	waiting = 0;
	for (size_t i = 0; i < KINDS; i++)
		if (groups & kinds[i].group && !(kinds_on & 1ULL << kinds[i].kind))
			try_row(i);
	graph_workarounds__are_off(spared);
	graph_workarounds__tell(refused);
	/* Before the first launch under the new kinds returns. */
	note_launch_flags();
	switch_barrier__end();
	return true;
}

bool activity_kinds__wait(void)
{
	return waiting != 0;
}

void activity_kinds__retry(void)
{
	for (size_t i = 0; i < KINDS; i++)
		if (waiting & 1U << i && kinds[i].group & ~graph_workarounds__spared())
			try_row(i);
	note_launch_flags();
}

void activity_kinds__tell_waiting(void)
{
	for (size_t i = 0; i < KINDS; i++)
		if (waiting & 1U << i && !kinds[i].optional)
			status__trouble(CUPTI_NOT_READY, "cuptiActivityEnable", "%s: %s",
					kinds[i].name, cupti_api__result_text(CUPTI_NOT_READY));
}

bool activity_kinds__trace_graphs(void)
{
	return kinds_on >> CUPTI_KIND_GRAPH_TRACE & 1;
}

int activity_kinds__any(void)
{
	return kinds_on != 0;
}

struct cbid_set {
	uint64_t bits[2][API_CBIDS / 64];
};

static struct cbid_set cbids_on;

static void include(struct cbid_set *set, int domain, uint32_t cbid)
{
	if (cbid < API_CBIDS)
		set->bits[domain - 1][cbid / 64] |= 1ULL << cbid % 64;
}

static void include_launches(struct cbid_set *set, int domain)
{
	for (const uint16_t *cbid = launches__cbids(domain); *cbid; cbid++)
		include(set, domain, *cbid);
}

static void include_unloads(struct cbid_set *set)
{
	for (const uint16_t *cbid = launches__unloads(); *cbid; cbid++)
		include(set, CUPTI_DOMAIN_DRIVER, *cbid);
}

static void include_instantiations(struct cbid_set *set)
{
	for (const uint16_t *cbid = graph_instantiations__cbids(); *cbid; cbid++)
		include(set, CUPTI_DOMAIN_DRIVER, *cbid);
}

static void include_adds(struct cbid_set *set)
{
	for (uint32_t cbid = 1; cbid < API_CBIDS; cbid++)
		if (graph_adds__is_one(cbid) || graph_changes__is_one(cbid))
			include(set, CUPTI_DOMAIN_DRIVER, cbid);
}

static void include_families(struct cbid_set *set, uint32_t groups)
{
	for (int domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_RUNTIME; domain++)
		for (uint32_t cbid = 1; cbid < API_CBIDS; cbid++) {
			unsigned int group = api_calls__group(domain, cbid);

			if (group && groups & (1U << group | api_calls__failures(group)))
				include(set, domain, cbid);
		}
}

/* They are held with the launches, or counted. */
static void include_sorted(struct cbid_set *set)
{
	for (uint32_t cbid = 1; cbid < API_CBIDS; cbid++)
		if (api_calls__sort(cbid))
			include(set, CUPTI_DOMAIN_DRIVER, cbid);
}

static void include_captures(struct cbid_set *set)
{
	for (uint32_t cbid = 1; cbid < API_CBIDS; cbid++)
		if (api_calls__sort(cbid) == API_CALLS_CAPTURE_BEGINS ||
		    api_calls__sort(cbid) == API_CALLS_CAPTURE_ENDS)
			include(set, CUPTI_DOMAIN_DRIVER, cbid);
}

static void switch_to(void *subscriber, const struct cbid_set *set)
{
	const struct cupti *cupti = cupti_api__get();

	for (int domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_RUNTIME; domain++)
		for (uint32_t word = 0; word < API_CBIDS / 64; word++) {
			uint64_t want = set->bits[domain - 1][word];
			uint64_t *on = &cbids_on.bits[domain - 1][word];

			for (uint64_t diff = want ^ *on; diff; diff &= diff - 1) {
				uint32_t bit = __builtin_ctzll(diff);

				/* A library that does not know the call answers with an error. */
				cupti->EnableCallback(want >> bit & 1, subscriber, domain,
						      word * 64 + bit);
			}
			*on = want;
		}
}

/* NVTX calls come only if they were requested at the program's start: as a whole then. */
static void switch_nvtx(void *subscriber, bool on)
{
	if (on && !nvtx_on)
		nvtx__begin();
	if (on == nvtx_on)
		return;
	if (!on)
		nvtx__end();
	cupti_api__get()->EnableDomain(on, subscriber, CUPTI_DOMAIN_NVTX);
	nvtx_on = on;
	note_launch_flags();
}

void cbids__switch(void *subscriber, uint32_t groups)
{
	/* GPU records carry a correlation id only if the call that caused them is called back. */
	const uint32_t correlated =
		BIT(LAUNCH) | BIT(KERNEL) | BIT(SAMPLED_KERNEL) | BIT(GRAPH) | BIT(PC_SAMPLES);
	struct cbid_set set = {0};

	if (groups & (correlated | BIT(COUNTERS)) || (groups && switch_barrier__is_needed()))
		include_launches(&set, CUPTI_DOMAIN_DRIVER);
	if (groups & BIT(RUNTIME))
		include_launches(&set, CUPTI_DOMAIN_RUNTIME);
	if (groups & BIT(LAUNCH)) {
		api_calls__learn();
		include_unloads(&set);
		include_captures(&set);
	}
	if (groups & BIT(GRAPH))
		include_instantiations(&set);
	if (groups & BIT(GRAPH_NODES) && groups & BIT(LAUNCH))
		include_adds(&set);
	if (api_calls__wanted(groups)) {
		api_calls__learn();
		include_families(&set, groups);
	}
	if (groups & (BIT(PC_SAMPLES) | BIT(COUNTERS))) {
		api_calls__learn();
		include_unloads(&set);
		include_sorted(&set);
	}
	switch_to(subscriber, &set);
	switch_nvtx(subscriber, groups & BIT(NVTX));
	graph_nodes__switch(subscriber, groups & BIT(GRAPH_NODES));
}

void cbids__forget(void)
{
	memset(&cbids_on, 0, sizeof(cbids_on));
	graph_nodes__forget();
	if (nvtx_on)
		nvtx__end();
	nvtx_on = false;
	note_launch_flags();
}
