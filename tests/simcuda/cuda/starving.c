// SPDX-License-Identifier: BSD-2-Clause
// The lock that CUPTI's first subscription waits for: launches hold it for reading and come in as
// long as nobody has it for writing, so that the writer needs a moment in which no thread is inside
// of a launch (as an H200 was seen to behave, docs/measurements/h200/notebook.md).
#include <time.h>
#include "tests/simcuda/cuda/driver.h"

static _Atomic int inside;
static _Atomic bool was_empty;

void starving__enter(void)
{
	if (settings__get()->starve)
		atomic_fetch_add(&inside, 1);
}

/* Who leaves last opens it, though the writer may not be running just then. */
void starving__leave(void)
{
	if (settings__get()->starve && atomic_fetch_sub(&inside, 1) == 1)
		atomic_store(&was_empty, true);
}

/* So many ms at most. */
void starving__wait(uint64_t ms)
{
	const struct timespec pause = {0, 200000};
	uint64_t end = clock__now() + ms * 1000000;

	atomic_store(&was_empty, false);
	while (atomic_load(&inside) && !atomic_load(&was_empty) && clock__now() < end)
		nanosleep(&pause, NULL);
}
