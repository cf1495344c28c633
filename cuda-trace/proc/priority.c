// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that starts waits until the tool has attached, for a short time; where it loads
 * libcuda, it waits on a CPU. On a busy machine the tool would wait for a CPU behind the very
 * programs that wait for it, and records would be lost.
 */
#include "cuda-trace/proc/priority.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>

#define USUAL  0
#define RAISED (-10)

static bool is_raised;

void priority__raise(void)
{
	errno = 0;
	/* Linux: 0 is the calling thread alone. */
	if (getpriority(PRIO_PROCESS, 0) == USUAL && !errno)
		is_raised |= !setpriority(PRIO_PROCESS, 0, RAISED);
}

void priority__restore(void)
{
	if (is_raised)
		setpriority(PRIO_PROCESS, 0, USUAL);
}
