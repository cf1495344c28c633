// SPDX-License-Identifier: BSD-2-Clause
// Keeps the GPU busy: waits for the kernel before the last one, and works on the CPU meanwhile.
#include "tests/workloads/idle/idle_program.h"

#define BUFFERS 4

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 60, "Buffers in turn.");
	CUevent events[BUFFERS];

	idle_program__start();
	for (int i = 0; i < BUFFERS; i++)
		program__check(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING), "cuEventCreate");
	for (uint64_t i = 0; i < steps; i++) {
		if (i >= BUFFERS)
			program__check(counted__event_synchronize(events[i % BUFFERS]),
				       "cuEventSynchronize");
		idle_program__spin(1000000);
		idle_program__kernel(10000000);
		program__check(cuEventRecord(events[i % BUFFERS], NULL), "cuEventRecord");
	}
	program__check(counted__stream_synchronize(NULL), "cuStreamSynchronize");
	idle_program__expect("none");
	return 0;
}
