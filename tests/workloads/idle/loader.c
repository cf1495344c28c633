// SPDX-License-Identifier: BSD-2-Clause
// Waits for another process, which makes batches on the CPU and hands them over through a pipe.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/workloads/idle/idle_program.h"

static char batch[4096];

static void load_batches(int to, uint64_t steps)
{
	prctl(PR_SET_NAME, "loader");
	for (uint64_t i = 0; i < steps; i++) {
		idle_program__spin(8000000);
		if (write(to, batch, sizeof(batch)) != sizeof(batch))
			break;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 60, "A slow data loader.");
	int ends[2];

	if (pipe(ends))
		program__fail("no pipe");
	idle_program__start();
	if (!fork())
		load_batches(ends[1], steps);
	for (uint64_t i = 0; i < steps; i++) {
		if (read(ends[0], batch, sizeof(batch)) != sizeof(batch))
			program__fail("the loader has gone");
		idle_program__kernel(1000000);
	}
	wait(NULL);
	idle_program__expect("process");
	return 0;
}
