// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/foreign/foreign_allowance.h"

#include <time.h>
#include "cuda-trace/proc/process_stat.h"

/* A slow disk, a file system that does not answer, SIGSTOP: so many times what it may use. */
#define BLOCKED_FACTOR 3
/* Beyond that factor, whatever the reason. */
#define STARVED_MS 20000

void foreign_allowance__begin(struct foreign_allowance *allowance, uint32_t cpu_ms, uint64_t now)
{
	*allowance = (struct foreign_allowance){.cpu_ms = cpu_ms, .begin = now, .seen = now};
}

bool foreign_allowance__charge(struct foreign_allowance *allowance,
			       const struct foreign_progress *progress)
{
	uint64_t slice = progress->now - allowance->seen;
	uint64_t blocked_most = (uint64_t)BLOCKED_FACTOR * allowance->cpu_ms;

	allowance->seen = progress->now;
	/* The state is that of this moment: if the tool itself got no processor, the child may have
	 * run for most of the time. */
	if (progress->state && progress->state != 'R')
		allowance->blocked_ms +=
			slice < 2 * FOREIGN_ALLOWANCE_SLICE ? slice : 2 * FOREIGN_ALLOWANCE_SLICE;
	return progress->cpu_ms < allowance->cpu_ms && allowance->blocked_ms < blocked_most &&
	       progress->now - allowance->begin < blocked_most + STARVED_MS;
}

static uint64_t cpu_ms_of(pid_t child)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(child, &clock) || clock_gettime(clock, &used))
		return 0;
	return used.tv_sec * 1000ull + used.tv_nsec / 1000000;
}

struct foreign_progress foreign_allowance__look(pid_t child, uint64_t now)
{
	return (struct foreign_progress){
		.now = now, .cpu_ms = cpu_ms_of(child), .state = process_stat__state(child)};
}
