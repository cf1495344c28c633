// SPDX-License-Identifier: BSD-2-Clause
// Copies from pageable memory: the driver copies to its own memory first, while the GPU is idle.
#include <stdlib.h>
#include <string.h>
#include "tests/workloads/idle/idle_program.h"

#define BYTES	(32u << 20)
#define COPY_NS (1000 + BYTES / 20) /* of the simulated GPU, at 20 GB/s */

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 40, "Copies of pageable memory.");
	char *source = malloc(BYTES);
	CUdeviceptr target;

	if (!source)
		program__fail("no memory");
	memset(source, 1, BYTES);
	idle_program__start();
	program__check(counted__alloc(cuMemAlloc_v2(&target, BYTES), BYTES), "cuMemAlloc");
	program__check(counted__copy(cuMemcpyHtoD_v2(target, source, BYTES), BYTES), "cuMemcpy");
	for (uint64_t i = 0; i < steps; i++) {
		uint64_t start, took;

		idle_program__kernel(100000);
		program__check(counted__stream_synchronize(NULL), "cuStreamSynchronize");
		start = program__now();
		program__check(counted__copy(cuMemcpyHtoD_v2(target, source, BYTES), BYTES),
			       "cuMemcpyHtoD");
		took = program__now() - start;
		idle_program__note(took > COPY_NS ? took - COPY_NS : 0);
	}
	program__check(counted__free(cuMemFree_v2(target), BYTES), "cuMemFree");
	idle_program__expect("cuda_call");
	return 0;
}
