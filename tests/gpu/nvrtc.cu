// SPDX-License-Identifier: BSD-2-Clause
// A kernel that is compiled here and now, without line information, and is in no file. Usage: nvrtc
// [SECONDS [CUBIN]]: with CUBIN it is only written there, for sm_90, and needs no GPU.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>
#include <cuda.h>
#include <nvrtc.h>

static const char source[] = R"(
extern "C" __global__ void made_now(float *out, int n)
{
	float x = out[threadIdx.x];
#pragma unroll 1
	for (int i = 0; i < n; i++)
		x = fmaf(x, 1.0001f, sqrtf(x));
	out[threadIdx.x] = x;
}
)";

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %d\n", what, error);
	exit(1);
}

static std::vector<char> compile(int capability)
{
	std::string architecture = "-arch=sm_" + std::to_string(capability);
	const char *option = architecture.c_str();
	nvrtcProgram program;
	size_t size;

	check(nvrtcCreateProgram(&program, source, "made_now.cu", 0, nullptr, nullptr), "create");
	check(nvrtcCompileProgram(program, 1, &option), "compile");
	check(nvrtcGetCUBINSize(program, &size), "size");
	std::vector<char> cubin(size);
	check(nvrtcGetCUBIN(program, cubin.data()), "cubin");
	return cubin;
}

static void run(int seconds)
{
	int major, minor, n = 100000;
	long launches = 0;
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction kernel;
	CUdeviceptr out;
	void *parameters[] = {&out, &n};

	check(cuInit(0), "cuInit");
	check(cuDeviceGet(&device, 0), "cuDeviceGet");
	check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	check(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), "major");
	check(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device), "minor");
	check(cuModuleLoadData(&module, compile(10 * major + minor).data()), "cuModuleLoadData");
	check(cuModuleGetFunction(&kernel, module, "made_now"), "cuModuleGetFunction");
	check(cuMemAlloc(&out, 4096), "cuMemAlloc");
	check(cuMemsetD8(out, 0, 4096), "cuMemsetD8");
	for (time_t end = time(nullptr) + seconds; time(nullptr) < end; launches++) {
		check(cuLaunchKernel(kernel, 264, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr), "launch");
		check(cuCtxSynchronize(), "cuCtxSynchronize");
	}
	printf("expect launches=%ld kernels=%ld\n", launches, launches);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		run(argc > 1 ? atoi(argv[1]) : 3);
		return 0;
	}
	std::vector<char> cubin = compile(90);
	FILE *file = fopen(argv[2], "w");
	return !file || fwrite(cubin.data(), 1, cubin.size(), file) != cubin.size() || fclose(file);
}
