// SPDX-License-Identifier: BSD-2-Clause
// Kernels that are shorter than their launches.
#include <stdlib.h>
#include "tests/workloads/idle/idle_program.h"

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 20000, "Thousands of tiny kernels.");

	setenv("SIMCUDA_LAUNCH_NS", "5000", 0);
	idle_program__start();
	for (uint64_t i = 0; i < steps; i++)
		idle_program__kernel(1000);
	idle_program__expect("launch");
	return 0;
}
