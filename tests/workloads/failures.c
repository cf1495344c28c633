// SPDX-License-Identifier: BSD-2-Clause
// CUDA calls that fail, among calls that do not: launches with a bad shape, too much shared memory
// or no function, and other calls with bad arguments. None of them may disturb the good ones.
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: failures [ROUNDS]\n"
	"In each of ROUNDS (10), one launch succeeds and five fail, and four other calls fail.\n";

static void must_fail(CUresult result, CUresult wanted, const char *what)
{
	if (result != wanted)
		program__fail("%s: error %d instead of %d", what, result, wanted);
}

static void fail_launches(CUfunction empty, CUstream stream)
{
	const struct shape block = {{1, 1, 1}, {2000, 1, 1}, 0};
	const struct shape grid = {{0, 1, 1}, {32, 1, 1}, 0};
	const struct shape shared = {{1, 1, 1}, {32, 1, 1}, 64 << 20};
	const struct shape good = {{1, 1, 1}, {32, 1, 1}, 0};

	must_fail(counted__launch(empty, &block, stream, NULL), CUDA_ERROR_INVALID_VALUE,
		  "a block of 2000 threads");
	must_fail(counted__launch(empty, &grid, stream, NULL), CUDA_ERROR_INVALID_VALUE,
		  "an empty grid");
	must_fail(counted__launch(empty, &shared, stream, NULL), CUDA_ERROR_INVALID_VALUE,
		  "64 MiB of shared memory");
	must_fail(counted__launch_ex(empty, &block, stream, NULL, NULL, 0),
		  CUDA_ERROR_INVALID_VALUE, "a block of 2000 threads, the new way");
	must_fail(counted__launch(NULL, &good, stream, NULL), CUDA_ERROR_INVALID_HANDLE,
		  "a launch of no function");
}

static void fail_others(struct program *program)
{
	CUdeviceptr memory;
	CUfunction kernel;
	CUdevice device;

	must_fail(counted__alloc(cuMemAlloc_v2(&memory, 1ULL << 46), 0), CUDA_ERROR_OUT_OF_MEMORY,
		  "64 TiB");
	must_fail(counted__alloc(cuMemAlloc_v2(&memory, 0), 0), CUDA_ERROR_INVALID_VALUE,
		  "0 bytes");
	must_fail(counted__result(cuModuleGetFunction(&kernel, program->module, "nowhere")),
		  CUDA_ERROR_NOT_FOUND, "a kernel that is not there");
	must_fail(counted__result(cuDeviceGet(&device, 1000)), CUDA_ERROR_INVALID_DEVICE,
		  "device 1000");
}

int main(int argc, char **argv)
{
	const struct shape good = {{1, 1, 1}, {32, 1, 1}, 0};
	struct program program;
	CUfunction empty;
	CUstream stream;
	uint64_t rounds;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	rounds = argc > 1 ? program__number(argv[1], "ROUNDS") : 10;
	program__start(&program);
	empty = program__kernel(&program, "empty");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	for (uint64_t i = 0; i < rounds; i++) {
		program__check(counted__launch(empty, &good, stream, NULL), "cuLaunchKernel");
		fail_launches(empty, stream);
		fail_others(&program);
	}
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	program__expect();
	return 0;
}
