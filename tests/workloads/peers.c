// SPDX-License-Identifier: BSD-2-Clause
// Every GPU of the machine: launches on each, and copies from each to the next one; with one GPU
// alone, to itself. Each result is checked.
#include <stdlib.h>
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: peers [ROUNDS [BYTES]]\n"
	"ROUNDS (10) times, on each GPU: a launch, and a copy of BYTES (1048576) to the next GPU.\n"
	"The last line also has devices, how many there are, and peer_copies, between two of "
	"them;\n"
	"where one does not reach another's memory, each of those is two: to the host, and back.\n";

#define MAX 16

static struct gpu {
	CUdevice device;
	CUcontext context;
	CUstream stream;
	CUfunction kernel;
	CUdeviceptr memory;
} gpus[MAX];
static int count;
static uint64_t peer_copies;
static size_t bytes;

static void start(struct gpu *gpu, int number)
{
	CUmodule module;

	program__check(cuDeviceGet(&gpu->device, number), "cuDeviceGet");
	program__check(cuDevicePrimaryCtxRetain(&gpu->context, gpu->device),
		       "cuDevicePrimaryCtxRetain");
	program__check(cuCtxSetCurrent(gpu->context), "cuCtxSetCurrent");
	program__check(cuModuleLoadData(&module, program_kernels), "cuModuleLoadData");
	program__check(cuModuleGetFunction(&gpu->kernel, module, "empty"), "cuModuleGetFunction");
	program__check(cuStreamCreate(&gpu->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	program__check(counted__alloc(cuMemAlloc_v2(&gpu->memory, bytes), bytes), "cuMemAlloc");
}

/* Both ways, or the driver takes the way through the host. */
static bool reaches(const struct gpu *from, const struct gpu *to)
{
	int there = 0, back = 0;

	program__check(cuDeviceCanAccessPeer(&there, from->device, to->device), "access");
	program__check(cuDeviceCanAccessPeer(&back, to->device, from->device), "access");
	return there && back;
}

static void let_in(const struct gpu *gpu)
{
	program__check(cuCtxSetCurrent(gpu->context), "cuCtxSetCurrent");
	for (int i = 0; i < count; i++)
		if (&gpus[i] != gpu && reaches(gpu, &gpus[i]))
			program__check(cuCtxEnablePeerAccess(gpus[i].context, 0),
				       "cuCtxEnablePeerAccess");
}

static void use(const struct gpu *gpu)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};

	program__check(cuCtxSetCurrent(gpu->context), "cuCtxSetCurrent");
	program__check(counted__launch(gpu->kernel, &shape, gpu->stream, NULL), "cuLaunchKernel");
	program__check(counted__stream_synchronize(gpu->stream), "cuStreamSynchronize");
}

static void pass_on(const struct gpu *from, const struct gpu *to)
{
	program__check(cuCtxSetCurrent(from->context), "cuCtxSetCurrent");
	program__check(counted__copy(cuMemcpyPeerAsync(to->memory, to->context, from->memory,
						       from->context, bytes, from->stream),
				     bytes),
		       "cuMemcpyPeerAsync");
	if (from != to && reaches(from, to))
		peer_copies++;
	else if (from != to)
		counted__copy(CUDA_SUCCESS, bytes);
	program__check(counted__stream_synchronize(from->stream), "cuStreamSynchronize");
}

/* What the first GPU has goes round. */
static void go_round(unsigned char *memory, int round)
{
	const struct gpu *last = &gpus[count - 1];

	memset(memory, round, bytes);
	program__check(cuCtxSetCurrent(gpus[0].context), "cuCtxSetCurrent");
	program__check(counted__copy(cuMemcpyHtoD_v2(gpus[0].memory, memory, bytes), bytes),
		       "cuMemcpyHtoD");
	for (int i = 0; i < count; i++)
		use(&gpus[i]);
	for (int i = 0; i < count; i++)
		pass_on(&gpus[i], &gpus[(i + 1) % count]);
	memset(memory, 0xff, bytes);
	program__check(cuCtxSetCurrent(last->context), "cuCtxSetCurrent");
	program__check(counted__copy(cuMemcpyDtoH_v2(memory, last->memory, bytes), bytes),
		       "cuMemcpyDtoH");
	for (size_t i = 0; i < bytes; i++)
		if (memory[i] != (unsigned char)round)
			program__fail("round %d: byte %zu is %d", round, i, memory[i]);
}

int main(int argc, char **argv)
{
	unsigned char *memory;
	uint64_t rounds;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	rounds = argc > 1 ? program__number(argv[1], "ROUNDS") : 10;
	bytes = argc > 2 ? program__number(argv[2], "BYTES") : 1 << 20;
	memory = malloc(bytes);
	program__check(cuInit(0), "cuInit");
	program__check(cuDeviceGetCount(&count), "cuDeviceGetCount");
	count = count < MAX ? count : MAX;
	if (!memory || !count)
		program__fail("no memory, or no GPU");
	for (int i = 0; i < count; i++)
		start(&gpus[i], i);
	for (int i = 0; i < count; i++)
		let_in(&gpus[i]);
	for (uint64_t i = 0; i < rounds; i++)
		go_round(memory, i % 100);
	for (int i = 0; i < count; i++) {
		program__check(cuCtxSetCurrent(gpus[i].context), "cuCtxSetCurrent");
		program__check(counted__free(cuMemFree_v2(gpus[i].memory), bytes), "cuMemFree");
	}
	free(memory);
	program__also("devices", count);
	program__also("peer_copies", peer_copies);
	program__expect();
	return 0;
}
