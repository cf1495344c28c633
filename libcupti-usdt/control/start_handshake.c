// SPDX-License-Identifier: BSD-2-Clause
/*
 * The answer to cuda:start is cuda:watched, whose semaphore goes up in this process alone. On the
 * thread that is inside cuInit().
 *
 * Failure modes: 1. a tool that traces other processes listens, so no answer comes: the wait is
 * short, unless the environment says that this process is meant. 2. the tool is gone: so is its
 * listening to cuda:start, and nothing is waited for. 3. the answer came before the question (a
 * program that was held until its tool was ready): its semaphore is up already.
 */
#include "libcupti-usdt/control/start_handshake.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/base/settings.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"

#define ANSWER_NS 2000000 /* between looks for an answer */

static uint64_t until;

static bool is_open(void)
{
	return site_wanted(start) && !site_wanted(watched) && clock__now() < until;
}

void start_handshake__wait(void)
{
	const struct timespec pause = {.tv_nsec = ANSWER_NS};
	unsigned int milliseconds = settings__get()->start_wait_ms;

	if (!site_wanted(start))
		return;
	until = clock__now() + milliseconds * 1000000ULL;
	probe_sites__start(status__instance(), milliseconds);
	while (is_open())
		nanosleep(&pause, NULL);
}
