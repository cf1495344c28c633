// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread that waits for the tool keeps its CPU busy in the kernel. Where the kernel does not
 * preempt itself (PREEMPT_NONE), it gives way only while it holds the lock of its memory map, which
 * the tool needs to set probes: on the same CPU, the two would wait for each other in turns.
 */
#include "cuda-trace/proc/affinity.h"

#include <sched.h>
#include <stdbool.h>

static _Thread_local cpu_set_t before;
static _Thread_local bool has_left;

void affinity__leave(uint32_t cpu)
{
	cpu_set_t others;

	if (has_left || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(before), &before))
		return;
	others = before;
	CPU_CLR(cpu, &others);
	has_left = !CPU_EQUAL(&others, &before) && CPU_COUNT(&others) &&
		   !sched_setaffinity(0, sizeof(others), &others);
}

void affinity__restore(void)
{
	if (has_left)
		sched_setaffinity(0, sizeof(before), &before);
	has_left = false;
}
