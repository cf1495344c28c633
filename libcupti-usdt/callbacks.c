// SPDX-License-Identifier: BSD-2-Clause
/*
 * API enter and exit → host records. This is the program's own path: no lock that is waited for,
 * no allocation after a thread's first launch, no CUPTI or CUDA call, errno as it was.
 *
 * The time of entry is kept in the 64 bits that CUPTI keeps for each call, so nested calls (the
 * driver's inside the runtime's) need nothing of ours. Fears: 1. the exit of a call whose entry we
 * did not see (we were switched on meanwhile): those 64 bits hold anything, an address looks like
 * an uptime; so the time is kept mixed with this load's number, and only one between the switching
 * on and now is believed. 2. callbacks still under way after unsubscribing: the
 * groups are 0 first, they write nothing. 3. CUPTI calls back in a forked child: control knows.
 */
#include "libcupti-usdt/callbacks.h"

#include <errno.h>
#include <stdatomic.h>

#include "libcupti-usdt/api_calls.h"
#include "libcupti-usdt/control.h"
#include "libcupti-usdt/cupti_api.h"
#include "libcupti-usdt/driver.h"
#include "libcupti-usdt/launches.h"
#include "libcupti-usdt/nvtx.h"
#include "libcupti-usdt/rings.h"
#include "libcupti-usdt/stamps.h"
#include "libcupti-usdt/status.h"

#define BIT(group) (1U << CUDA_GROUP_##group)

/* Groups that need the time of entry. */
static _Atomic(uint32_t) groups_on;
static _Atomic(uint64_t) since;

void callbacks__set_groups(uint32_t groups)
{
	uint32_t before = atomic_load_explicit(&groups_on, memory_order_relaxed);

	if (groups && !before)
		atomic_store_explicit(&since, stamps__now(), memory_order_relaxed);
	atomic_store_explicit(&groups_on, groups, memory_order_release);
}

static void api_exit(uint32_t groups, int domain, uint32_t cbid,
		     const struct cupti_callback_data *data)
{
	uint32_t launch_group = domain == CUPTI_DOMAIN_DRIVER ? BIT(LAUNCH) : BIT(RUNTIME);
	uint64_t start = *data->correlation_data ^ status__instance(), end = stamps__now();
	uint64_t earliest = atomic_load_explicit(&since, memory_order_relaxed);
	struct ring *ring;

	if (start < earliest || start > end)
		return;
	ring = rings__mine();
	if (launches__is_launch(domain, cbid)) {
		if (domain == CUPTI_DOMAIN_DRIVER)
			ring__count_launch(ring);
		if (groups & launch_group)
			launches__record(ring, domain, cbid, data, start, end);
	}
	if (groups & ~(BIT(LAUNCH) | BIT(RUNTIME)))
		api_calls__record(ring, groups, domain, cbid, data, start, end);
}

static void api_callback(int domain, uint32_t cbid, const struct cupti_callback_data *data)
{
	uint32_t groups = atomic_load_explicit(&groups_on, memory_order_relaxed);

	if (!data->correlation_data)
		return;
	if (!groups) {
		/* Only kernels are wanted: they need this callback for their correlation ids. */
		if (data->site == CUPTI_SITE_EXIT && domain == CUPTI_DOMAIN_DRIVER)
			ring__count_launch(rings__mine());
		return;
	}
	if (data->site == CUPTI_SITE_EXIT) {
		api_exit(groups, domain, cbid, data);
		return;
	}
	/* Driver calls inside a runtime call have its correlation, and say that they are inside. */
	if (domain == CUPTI_DOMAIN_RUNTIME && groups & 1U << api_calls__group(domain, cbid))
		ring__set_runtime_call(rings__mine(), data->correlation);
	*data->correlation_data = stamps__now() ^ status__instance();
}

void callbacks__dispatch(void *userdata, int domain, uint32_t cbid, const void *data)
{
	int saved = errno;

	if (!control__listening())
		return;
	if (atomic_load_explicit(&driver_asked, memory_order_relaxed) && driver__asks_itself())
		return;
	switch (domain) {
	case CUPTI_DOMAIN_DRIVER:
	case CUPTI_DOMAIN_RUNTIME:
		api_callback(domain, cbid, data);
		break;
	case CUPTI_DOMAIN_NVTX:
		if (atomic_load_explicit(&groups_on, memory_order_relaxed) & BIT(NVTX))
			nvtx__callback(cbid, data);
		break;
	case CUPTI_DOMAIN_RESOURCE:
		control__context_ends();
		break;
	case CUPTI_DOMAIN_STATE:
		if (cbid == CUPTI_STATE_FATAL)
			control__fatal(data);
		break;
	}
	errno = saved;
}
