// SPDX-License-Identifier: BSD-2-Clause
// Frees and allocates in each step, which waits for the GPU.
#include <stdlib.h>
#include "tests/workloads/idle/idle_program.h"

#define BYTES (8u << 20)

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 500, "Allocations that synchronise.");
	CUdeviceptr memory;

	setenv("SIMCUDA_WAKE_NS", "100000", 0);
	idle_program__start();
	for (uint64_t i = 0; i < steps; i++) {
		program__check(counted__alloc(cuMemAlloc_v2(&memory, BYTES), BYTES), "cuMemAlloc");
		idle_program__kernel(200000);
		program__check(counted__free(cuMemFree_v2(memory), BYTES), "cuMemFree");
	}
	idle_program__expect("cuda_call");
	return 0;
}
