// SPDX-License-Identifier: BSD-2-Clause
// Keeps the GPU busy: launches far ahead, waits once.
#include "tests/workloads/idle/idle_program.h"

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 300, "A deep queue.");

	idle_program__start();
	for (uint64_t i = 0; i < steps; i++)
		idle_program__kernel(2000000);
	program__check(counted__stream_synchronize(NULL), "cuStreamSynchronize");
	idle_program__expect("none");
	return 0;
}
