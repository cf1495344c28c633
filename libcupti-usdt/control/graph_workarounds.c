// SPDX-License-Identifier: BSD-2-Clause
#include "libcupti-usdt/control/graph_workarounds.h"

#include <stdatomic.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/trace/flusher.h"
#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/base/settings.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/base/threads.h"
#include "libcupti-usdt/base/wakeup.h"

#define BIT(group) (1U << CUDA_GROUP_##group)
#define HELD_MS	   3500
#define TRIAL_NS   100000000ULL /* for a program to launch its first, before it is to be held */

static const uint32_t timed = BIT(KERNEL) | BIT(SAMPLED_KERNEL) | BIT(MEMCPY) |
			      BIT(SAMPLED_MEMCPY) | BIT(MEMSET) | BIT(SAMPLED_MEMSET) | BIT(GRAPH);

static bool unseen;
static uint64_t trial_until; /* 0 = it is over */
static uint32_t reported;    /* of groups, in this session */
static atomic_bool breaks, launched;
static _Atomic(uint32_t) spared; /* futex */

void graph_workarounds__open(uint32_t version, bool program_runs)
{
	atomic_store(&breaks, !settings__get()->force && version > CUPTI_VERSION_12_8 &&
				      version < CUPTI_VERSION_13_0);
	trial_until = program_runs && atomic_load(&breaks) ? clock__now() + TRIAL_NS : 0;
	reported = 0;
}

uint32_t graph_workarounds__spared(void)
{
	bool off = atomic_load(&launched) || clock__now() < trial_until;

	return (off ? timed : 0) | (unseen ? BIT(GRAPH) : 0);
}

void graph_workarounds__tell(uint32_t wanted)
{
	bool all = atomic_load(&launched);
	uint32_t news = wanted & ((all ? timed : 0) | (unseen ? BIT(GRAPH) : 0)) & ~reported;

	reported |= news;
	if (news && all)
		status__trouble(CUPTI_NOT_COMPATIBLE, "cupti",
				"no GPU times of programs that launch graphs, which CUPTI 12.9 "
				"breaks (CUDA error 719): another libcupti takes them");
	else if (news)
		status__trouble(CUPTI_NOT_COMPATIBLE, "cuptiActivityEnable",
				"GRAPH_TRACE: only from a program's start, as CUPTI crashes at "
				"graphs made before; their kernels can be had");
}

void graph_workarounds__are_off(uint32_t groups)
{
	bool off = groups & BIT(KERNEL);

	if (off && !atomic_load(&launched))
		return; /* on trial */
	trial_until = 0;
	if (!off || atomic_exchange(&spared, 1))
		return;
	futex__wake(&spared);
	flusher__ask();
}

void graph_workarounds__go_unseen(void)
{
	unseen = true;
}

bool graph_workarounds__are_due(void)
{
	return (atomic_load(&launched) && !atomic_load(&spared)) ||
	       (trial_until && clock__now() >= trial_until);
}

void graph_workarounds__enter(void)
{
	if (!atomic_load_explicit(&breaks, memory_order_relaxed) || atomic_load(&spared))
		return;
	atomic_store(&launched, true);
	wakeup__request();
	futex__wait_until_set(&spared, HELD_MS);
}
