// SPDX-License-Identifier: BSD-2-Clause
// Contexts that are created, used and destroyed in a loop, and a primary context that is reset: the
// last launches of each must not be lost with it.
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] = "usage: resets [ROUNDS [turns | gpus]]\n"
			   "ROUNDS (10) of a context of its own and of a reset of the primary one; "
			   "with \"turns\" both\n"
			   "live all the time, and are used by turns, with \"gpus\" so on the "
			   "first GPU and the second.\n"
			   "The last line also has contexts, how many were created.\n";

static void use(CUcontext context, const char *what)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};
	CUfunction empty;
	CUmodule module;

	program__check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	program__check(cuModuleLoadData(&module, program_kernels), "cuModuleLoadData");
	program__check(cuModuleGetFunction(&empty, module, "empty"), "cuModuleGetFunction");
	for (int i = 0; i < 50; i++)
		program__check(counted__launch(empty, &shape, NULL, NULL), what);
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	program__check(cuModuleUnload(module), "cuModuleUnload");
}

static CUcontext primary_context(CUdevice device)
{
	CUcontext context;

	program__check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	return context;
}

static CUcontext new_context(CUdevice device)
{
	CUcontext context;

	program__check(cuCtxCreate_v2(&context, 0, device), "cuCtxCreate");
	return context;
}

static void come_and_go(CUdevice device, uint64_t rounds)
{
	CUcontext context;

	for (uint64_t i = 0; i < rounds; i++) {
		context = new_context(device);
		use(context, "launch in a context of its own");
		program__check(cuCtxDestroy_v2(context), "cuCtxDestroy");
		use(primary_context(device), "launch in the primary context");
		program__check(cuDevicePrimaryCtxReset_v2(device), "cuDevicePrimaryCtxReset");
	}
	program__also("contexts", 2 * rounds);
}

static void alternate(CUdevice device, CUdevice second, uint64_t rounds)
{
	CUcontext own = new_context(device), primary = primary_context(second);

	for (uint64_t i = 0; i < rounds; i++) {
		use(own, "launch in a context of its own");
		use(primary, "launch in the primary context");
	}
	program__check(cuCtxDestroy_v2(own), "cuCtxDestroy");
	program__check(cuDevicePrimaryCtxReset_v2(second), "cuDevicePrimaryCtxReset");
	program__also("contexts", 2);
}

int main(int argc, char **argv)
{
	CUdevice device, second;
	uint64_t rounds;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	rounds = argc > 1 ? program__number(argv[1], "ROUNDS") : 10;
	program__check(cuInit(0), "cuInit");
	program__check(cuDeviceGet(&device, 0), "cuDeviceGet");
	second = device;
	if (argc > 2 && !strcmp(argv[2], "gpus"))
		program__check(cuDeviceGet(&second, 1), "cuDeviceGet");
	if (argc > 2)
		alternate(device, second, rounds);
	else
		come_and_go(device, rounds);
	program__expect();
	return 0;
}
