// SPDX-License-Identifier: BSD-2-Clause
// For how long a process that reads a file may take, as the machine and the file behave.
#include <stdio.h>
#include "cuda-trace/foreign/foreign_allowance.h"

#define CPU_MS 800

static int wrong;

/* Looks every slice until the time is over, and returns when that was, in ms. */
static uint64_t time_over(char state, unsigned int cpu_percent, uint64_t slice)
{
	struct foreign_allowance allowance;
	uint64_t now = 1000;
	bool goes_on = true;

	foreign_allowance__begin(&allowance, CPU_MS, now);
	while (goes_on && now < 1000000) {
		now += slice;
		goes_on = foreign_allowance__charge(
			&allowance,
			&(struct foreign_progress){.now = now,
						   .cpu_ms = (now - 1000) * cpu_percent / 100,
						   .state = state});
	}
	return now - 1000;
}

static void expect(const char *what, uint64_t is, uint64_t least, uint64_t most)
{
	if (is >= least && is <= most)
		return;
	printf("%s: %llu ms, not %llu to %llu\n", what, (unsigned long long)is,
	       (unsigned long long)least, (unsigned long long)most);
	wrong = 1;
}

int main(void)
{
	expect("a file that takes a processor for ever", time_over('R', 100, 50), CPU_MS, CPU_MS);
	expect("the same with a tenth of one", time_over('R', 10, 50), 10 * CPU_MS, 10 * CPU_MS);
	expect("no processor at all", time_over('R', 0, 50), 15000, 30000);
	expect("a read that blocks", time_over('D', 0, 50), 2000, 3000);
	expect("a stopped process", time_over('T', 0, 50), 2000, 3000);
	/* The tool looks seldom: it cannot know that the process was blocked for long. */
	expect("a tool without a processor", time_over('S', 1, 3000), 15000, 30000);
	return wrong;
}
