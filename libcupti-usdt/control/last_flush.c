// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuptiActivityFlushAll(0) keeps a buffer as long as a kernel in it runs, and in a program that
 * launches all the time one does. A forced flush returns it at once, but each one makes CUPTI copy
 * more of its buffers from the GPU, again and again, in all later sessions of the process (H100,
 * H200, 13.0 Update 1: docs/internals/agent.md). So if nobody else listens, the kinds go off first:
 * what runs then ends within milliseconds, as a rule, and a flush that is not forced returns it.
 *
 * Failure modes: 1. the consumer does not go, as there are two with the same hello probe, or
 * another one comes: the kinds go on again, and in the first case the launches that the remaining
 * one has missed count as lost. 2. a kernel runs on and on, or switching is dangerous (before 13.0
 * Update 1): the flush is forced. 3. launches meanwhile have no times: they come after the end of
 * what the consumer looks at.
 */
#include "libcupti-usdt/control/last_flush.h"

#include "libcupti-usdt/control/activity_kinds.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/rings.h"
#include "libcupti-usdt/emit/sample_windows.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/trace/flusher.h"
#include "libcupti-usdt/trace/switch_barrier.h"

#define STAYS_NS 2000000000ULL /* longer than the consumer waits */

static bool seen, kinds_off;
static uint64_t answered, since, up, launches;
static uint64_t missed; /* launches without times; lost, if anybody stays who wants them */

static void begin(uint64_t now)
{
	rings__flush();
	launches = rings__launches();
	if (probe_sites__one_listener() && !switch_barrier__is_needed() && activity_kinds__any() &&
	    activity_kinds__switch(0)) {
		kinds_off = true;
		since = now;
		up = probe_sites__up();
	}
	flusher__flush_all();
}

void last_flush__tick(bool is_subscribed, uint64_t now)
{
	bool requested = site_wanted(flush);
	uint64_t flushed = flusher__flushed();

	if (requested && !seen && is_subscribed)
		begin(now);
	else if (requested && !seen)
		flushed = now;
	seen = requested;
	if (!requested && missed && activity_kinds__any())
		status__lost(CUDA_LOST_OTHER_LEFT, missed);
	if (!requested)
		missed = 0;
	if (!requested || flushed <= answered)
		return;
	answered = flushed;
	rings__flush();
	status__set_flushed(flushed);
	status__send();
	probe_sites__flush(status__instance());
}

bool last_flush__is_on(void)
{
	return kinds_off;
}

/* Whoever comes now has missed nothing. */
static void end(void)
{
	if (kinds_off && !(probe_sites__up() & ~up))
		missed += rings__launches() - launches;
	kinds_off = false;
}

void last_flush__follow(uint32_t groups_on, uint64_t now)
{
	bool goes = site_wanted(flush) && !(probe_sites__up() & ~up) && now - since < STAYS_NS;

	if (kinds_off && !goes && activity_kinds__switch(sample_windows__groups(groups_on)))
		end();
}

void last_flush__is_over(void)
{
	end();
}
