// SPDX-License-Identifier: BSD-2-Clause
// Sleeps before each kernel.
#include <unistd.h>
#include "tests/workloads/idle/idle_program.h"

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 60, "A sleep in each step.");

	idle_program__start();
	for (uint64_t i = 0; i < steps; i++) {
		usleep(8000);
		idle_program__kernel(1000000);
	}
	idle_program__expect("sleep");
	return 0;
}
