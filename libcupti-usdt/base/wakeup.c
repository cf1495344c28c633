// SPDX-License-Identifier: BSD-2-Clause
#include "libcupti-usdt/base/wakeup.h"

#include <errno.h>
#include <stdatomic.h>

#include "libcupti-usdt/base/threads.h"

static _Atomic(uint32_t) requests; /* futex */

void wakeup__request(void)
{
	int saved = errno;

	atomic_fetch_add(&requests, 1);
	futex__wake(&requests);
	errno = saved;
}

uint32_t wakeup__count(void)
{
	return atomic_load(&requests);
}

void wakeup__wait(uint32_t seen, uint32_t milliseconds)
{
	futex__wait(&requests, seen, milliseconds);
}
