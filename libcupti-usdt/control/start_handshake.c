// SPDX-License-Identifier: BSD-2-Clause
/*
 * The answer to cuda:start is cuda:watched, whose semaphore goes up in this process alone. On the
 * guest's thread, for which cuInit() waits.
 *
 * Fears: 1. a stranger waits for an answer that never comes: for a short time only, unless the
 * environment says that it is meant. 2. the tool is gone: so is its listening to cuda:start, and
 * nothing is waited for. 3. the answer came before the question (a program that was held until its
 * tool was ready): it is up already.
 */
#include "libcupti-usdt/control/start_handshake.h"

#include <stdint.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/base/settings.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"

static uint64_t until;

void arrival__tell(void)
{
	unsigned int milliseconds = settings__get()->await_ms;

	if (!site_wanted(start))
		return;
	until = clock__now() + milliseconds * 1000000ULL;
	site__start(status__instance(), milliseconds);
}

bool arrival__is_open(void)
{
	return until && site_wanted(start) && !site_wanted(watched) && clock__now() < until;
}
