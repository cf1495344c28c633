/* SPDX-License-Identifier: BSD-2-Clause */
/* The CUDA runtime API as far as it is simulated: own declarations, true to libcudart.so.13. */
#ifndef TESTS_SIMCUDA_CUDART_H
#define TESTS_SIMCUDA_CUDART_H

#include "tests/simcuda/cuda.h"
#include "tests/simcuda/runtime_calls.h"

typedef int cudaError_t;
typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
typedef CUlibrary cudaLibrary_t;
typedef CUkernel cudaKernel_t;
typedef CUgraphExec cudaGraphExec_t;

enum {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInitializationError = 3,
	cudaErrorInvalidConfiguration = 9,
	cudaErrorInvalidDeviceFunction = 98,
	cudaErrorInvalidDevice = 101,
	cudaErrorInvalidResourceHandle = 400,
	cudaErrorSymbolNotFound = 500,
};
enum {
	cudaMemcpyHostToHost,
	cudaMemcpyHostToDevice,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice,
	cudaMemcpyDefault
};

typedef struct {
	unsigned int x, y, z;
} dim3;

typedef struct {
	dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
	CUlaunchAttribute *attrs;
	unsigned int numAttrs;
} cudaLaunchConfig_t;

_Static_assert(sizeof(cudaLaunchConfig_t) == 56, "ABI");

#pragma GCC visibility push(default)
#define SIM_RUNTIME_PROTOTYPE(cbid, name, version, ...) \
	cudaError_t name(SIM_PARAMETERS(__VA_ARGS__));
#define SIM_RUNTIME_PROTOTYPE_BARE(cbid, name, version) cudaError_t name(void);
RUNTIME_CALLS(SIM_RUNTIME_PROTOTYPE)
RUNTIME_CALLS_BARE(SIM_RUNTIME_PROTOTYPE_BARE)
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
#pragma GCC visibility pop

#endif
