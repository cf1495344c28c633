// SPDX-License-Identifier: BSD-2-Clause
// Waits for the GPU after each kernel.
#include <stdlib.h>
#include "tests/workloads/idle/idle_program.h"

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 500, "A wait in each step.");

	setenv("SIMCUDA_WAKE_NS", "100000", 0);
	idle_program__start();
	for (uint64_t i = 0; i < steps; i++) {
		idle_program__kernel(300000);
		program__check(counted__stream_synchronize(NULL), "cuStreamSynchronize");
	}
	idle_program__expect("cuda_call");
	return 0;
}
