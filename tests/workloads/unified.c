// SPDX-License-Identifier: BSD-2-Clause
// Managed memory that wanders: written on the host, incremented on the GPU, read on the host; and
// the same with prefetches. The last line also has managed_bytes, what each journey moves.
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] = "usage: unified [ROUNDS [ELEMENTS]]\n"
			   "ROUNDS (4) journeys of ELEMENTS (1048576) words.\n";

static struct program program;
static CUfunction increment;
static CUstream stream;

static void launch(uint32_t n, CUdeviceptr data)
{
	const struct shape shape = {{(n + 255) / 256, 1, 1}, {256, 1, 1}, 0};
	void *parameters[] = {&n, &data};

	program__check(counted__launch(increment, &shape, stream, parameters), "cuLaunchKernel");
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
}

static void expect_all(const uint32_t *values, uint32_t n, uint32_t value)
{
	for (uint32_t i = 0; i < n; i++)
		if (values[i] != value)
			program__fail("element %u is %u instead of %u", i, values[i], value);
}

int main(int argc, char **argv)
{
	const CUmemLocation gpu = {CU_MEM_LOCATION_DEVICE, 0}, host = {CU_MEM_LOCATION_HOST, 0};
	CUdeviceptr data;
	uint32_t n, *values;
	int concurrent = 0;
	uint64_t rounds;
	size_t bytes;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	rounds = argc > 1 ? program__number(argv[1], "ROUNDS") : 4;
	n = argc > 2 ? program__number(argv[2], "ELEMENTS") : 1 << 20;
	bytes = n * sizeof(*values);
	program__start(&program);
	increment = program__kernel(&program, "increment");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	program__check(cuDeviceGetAttribute(&concurrent, CU_DEVICE_CONCURRENT_MANAGED, 0),
		       "cuDeviceGetAttribute");
	program__check(counted__alloc(cuMemAllocManaged(&data, bytes, CU_MEM_ATTACH_GLOBAL), bytes),
		       "cuMemAllocManaged");
	values = (uint32_t *)(uintptr_t)data;
	for (uint64_t i = 0; i < rounds; i++) {
		memset(values, 0, bytes);
		launch(n, data);
		expect_all(values, n, 1);
		if (!concurrent)
			continue; /* such a GPU cannot be prefetched for */
		program__check(cuMemPrefetchAsync_v2(data, bytes, gpu, 0, stream), "prefetch");
		launch(n, data);
		program__check(cuMemPrefetchAsync_v2(data, bytes, host, 0, stream), "prefetch");
		program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
		expect_all(values, n, 2);
	}
	program__check(counted__free(cuMemFree_v2(data), bytes), "cuMemFree");
	program__also("managed_bytes", bytes);
	program__expect();
	return 0;
}
