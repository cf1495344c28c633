// SPDX-License-Identifier: BSD-2-Clause
// Prepares each batch on the CPU, in prepare_batch(), before its kernel.
#include "tests/workloads/idle/idle_program.h"

void prepare_batch(uint64_t ns);

IDLE_FUNCTION void prepare_batch(uint64_t ns)
{
	static volatile uint64_t sum;
	uint64_t until = program__now() + ns;

	do {
		for (int i = 0; i < 100000; i++)
			sum = sum + i;
	} while (program__now() < until);
}

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 60, "Work on the CPU.");

	idle_program__start();
	for (uint64_t i = 0; i < steps; i++) {
		prepare_batch(8000000);
		idle_program__kernel(1000000);
	}
	idle_program__expect("cpu");
	return 0;
}
