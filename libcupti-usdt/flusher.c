// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuptiActivityFlushAll() waits for CUPTI's own worker, and that for locks of the driver: with
 * eight threads that launch graphs flat out it was seen to take 10 s on an H100. A thread of its
 * own takes that, so that attaching, detaching and host records go on meanwhile.
 *
 * Fears: 1. a flush outlives the session that asked for it: what it brings is dropped as nobody
 * listens, or as older than the next session. 2. it never comes back: nothing waits for it, not
 * even the program's exit. 3. asked while it runs: it runs once more, not once for each asking.
 */
#include "libcupti-usdt/flusher.h"

#include <stdbool.h>
#include <stddef.h>

#include "libcupti-usdt/buffers.h"
#include "libcupti-usdt/control.h"
#include "libcupti-usdt/cupti_api.h"
#include "libcupti-usdt/threads.h"

static _Atomic(uint32_t) asked; /* futex */

static void *flush(void *unused)
{
	uint32_t seen = 0;

	while (control__listening()) {
		futex__wait(&asked, seen, FOREVER);
		if (!control__listening())
			break;
		if (atomic_load(&asked) == seen)
			continue;
		seen = atomic_load(&asked);
		cupti_api__get()->ActivityFlushAll(0);
		if (!control__is_busy())
			buffers__trim();
	}
	return NULL;
}

int flusher__start(void)
{
	static bool started;
	int error = started ? 0 : thread__start("cupti-flush", flush);

	started = started || !error;
	return error;
}

void flusher__ask(void)
{
	atomic_fetch_add(&asked, 1);
	futex__wake(&asked);
}
