// SPDX-License-Identifier: BSD-2-Clause
// A program of the runtime API: no nvcc was needed for it, as its kernels come from
// cudaLibraryLoadData. It runs on libcudart.so.13, the simulated and the real one.
#include <stdlib.h>
#include <string.h>
#include "tests/simcuda/cudart.h"
#include "tests/workloads/program.h"

static const char help[] = "usage: runtime [LAUNCHES]\n"
			   "LAUNCHES (100) of saxpy through cudaLaunchKernel, and as many through\n"
			   "cudaLaunchKernelExC, one of each kind failing.\n";

#define N     (1u << 16)
#define BYTES (N * sizeof(float))

static void check(cudaError_t error, const char *what)
{
	if (error)
		program__fail("%s: %s (%d)", what, cudaGetErrorName(error), error);
}

static cudaError_t launched(cudaError_t error)
{
	atomic_fetch_add(&truth.launches, 1);
	atomic_fetch_add(error ? &truth.launch_errors : &truth.kernels, 1);
	return (cudaError_t)counted__result((CUresult)error);
}

static float *to_gpu(const float *values)
{
	void *there;

	check(counted__alloc((CUresult)cudaMalloc(&there, BYTES), BYTES), "cudaMalloc");
	check(counted__copy((CUresult)cudaMemcpy(there, values, BYTES, cudaMemcpyHostToDevice),
			    BYTES),
	      "cudaMemcpy");
	return there;
}

static cudaError_t launch_ex(cudaKernel_t kernel, unsigned int block, cudaStream_t stream,
			     void **parameters)
{
	cudaLaunchConfig_t config = {
		.gridDim = {N / 256, 1, 1}, .blockDim = {block, 1, 1}, .stream = stream};

	return launched(cudaLaunchKernelExC(&config, kernel, parameters));
}

static void launch_all(cudaKernel_t kernel, cudaStream_t stream, void **parameters,
		       uint64_t launches)
{
	const dim3 grid = {N / 256, 1, 1}, block = {256, 1, 1}, too_large = {4096, 1, 1};

	for (uint64_t i = 0; i < launches; i++) {
		check(launched(cudaLaunchKernel(kernel, grid, block, parameters, 0, stream)),
		      "cudaLaunchKernel");
		check(launch_ex(kernel, 256, stream, parameters), "cudaLaunchKernelExC");
	}
	if (!launched(cudaLaunchKernel(kernel, grid, too_large, parameters, 0, stream)) ||
	    !launch_ex(kernel, 4096, stream, parameters))
		program__fail("a block of 4096 threads was taken");
	if (!cudaGetLastError())
		program__fail("the error was not kept");
	/* It is an error code that this call hands out, but not the call that failed. */
	check(cudaGetLastError(), "cudaGetLastError");
}

int main(int argc, char **argv)
{
	static float x[N], y[N];
	float a = 1, *x_there, *y_there;
	cudaLibrary_t library;
	cudaKernel_t kernel;
	cudaStream_t stream;
	uint32_t n = N;
	uint64_t launches;
	void *parameters[] = {&n, &a, &x_there, &y_there};

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	launches = argc > 1 ? program__number(argv[1], "LAUNCHES") : 100;
	for (uint32_t i = 0; i < N; i++)
		x[i] = i % 10;
	check(cudaSetDevice(0), "cudaSetDevice");
	check(cudaLibraryLoadData(&library, program_kernels, NULL, NULL, 0, NULL, NULL, 0),
	      "cudaLibraryLoadData");
	check(cudaLibraryGetKernel(&kernel, library, "saxpy"), "cudaLibraryGetKernel");
	check(cudaStreamCreate(&stream), "cudaStreamCreate");
	x_there = to_gpu(x);
	y_there = to_gpu(y);
	launch_all(kernel, stream, parameters, launches);
	check(counted__wait((CUresult)cudaStreamSynchronize(stream)), "cudaStreamSynchronize");
	check(counted__copy((CUresult)cudaMemcpy(y, y_there, BYTES, cudaMemcpyDeviceToHost), BYTES),
	      "cudaMemcpy");
	for (uint32_t i = 0; i < N; i++)
		if (y[i] != 2 * launches * x[i])
			program__fail("y[%u] is %f", i, y[i]);
	check(counted__set((CUresult)cudaMemset(y_there, 0, BYTES)), "cudaMemset");
	check(counted__free((CUresult)cudaFree(x_there), BYTES), "cudaFree");
	check(counted__free((CUresult)cudaFree(y_there), BYTES), "cudaFree");
	check(counted__wait((CUresult)cudaDeviceSynchronize()), "cudaDeviceSynchronize");
	check(cudaStreamDestroy(stream), "cudaStreamDestroy");
	program__expect();
	return 0;
}
