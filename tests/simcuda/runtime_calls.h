/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runtime API as far as it is simulated: X(CUPTI's number, name, version in CUPTI's name of it,
 * (type, name)...). As in driver_calls.h, a row makes prototype, parameter structure and wrapper.
 */
#ifndef TESTS_SIMCUDA_RUNTIME_CALLS_H
#define TESTS_SIMCUDA_RUNTIME_CALLS_H

/* clang-format off */
#define RUNTIME_CALLS(X)                                                                           \
	X(1, cudaDriverGetVersion, 3020, (int *, version))                                         \
	X(2, cudaRuntimeGetVersion, 3020, (int *, version))                                        \
	X(3, cudaGetDeviceCount, 3020, (int *, count))                                             \
	X(16, cudaSetDevice, 3020, (int, device))                                                  \
	X(17, cudaGetDevice, 3020, (int *, device))                                                \
	X(20, cudaMalloc, 3020, (void **, devPtr), (size_t, size))                                 \
	X(22, cudaFree, 3020, (void *, devPtr))                                                    \
	X(25, cudaMallocHost, 3020, (void **, ptr), (size_t, size))                                \
	X(26, cudaFreeHost, 3020, (void *, ptr))                                                   \
	X(31, cudaMemcpy, 3020, (void *, dst), (const void *, src), (size_t, count), (int, kind))  \
	X(41, cudaMemcpyAsync, 3020, (void *, dst), (const void *, src), (size_t, count),          \
	  (int, kind), (cudaStream_t, stream))                                                     \
	X(49, cudaMemset, 3020, (void *, devPtr), (int, value), (size_t, count))                   \
	X(51, cudaMemsetAsync, 3020, (void *, devPtr), (int, value), (size_t, count),              \
	  (cudaStream_t, stream))                                                                  \
	X(129, cudaStreamCreate, 3020, (cudaStream_t *, pStream))                                  \
	X(131, cudaStreamSynchronize, 3020, (cudaStream_t, stream))                                \
	X(133, cudaEventCreate, 3020, (cudaEvent_t *, event))                                      \
	X(135, cudaEventRecord, 3020, (cudaEvent_t, event), (cudaStream_t, stream))                \
	X(136, cudaEventDestroy, 3020, (cudaEvent_t, event))                                       \
	X(137, cudaEventSynchronize, 3020, (cudaEvent_t, event))                                   \
	X(201, cudaStreamDestroy, 5050, (cudaStream_t, stream))                                    \
	X(206, cudaMallocManaged, 6000, (void **, devPtr), (size_t, size), (unsigned int, flags))  \
	X(211, cudaLaunchKernel, 7000, (const void *, func), (dim3, gridDim), (dim3, blockDim),    \
	  (void **, args), (size_t, sharedMem), (cudaStream_t, stream))                            \
	X(311, cudaGraphLaunch, 10000, (cudaGraphExec_t, graphExec), (cudaStream_t, stream))       \
	X(373, cudaMallocAsync, 11020, (void **, devPtr), (size_t, size), (cudaStream_t, hStream)) \
	X(375, cudaFreeAsync, 11020, (void *, devPtr), (cudaStream_t, hStream))                    \
	X(430, cudaLaunchKernelExC, 11060, (const cudaLaunchConfig_t *, config),                   \
	  (const void *, func), (void **, args))                                                   \
	X(470, cudaLibraryLoadData, 12060, (cudaLibrary_t *, library), (const void *, code),       \
	  (int *, jitOptions), (void **, jitOptionsValues), (unsigned int, numJitOptions),         \
	  (int *, libraryOptions), (void **, libraryOptionValues),                                 \
	  (unsigned int, numLibraryOptions))                                                       \
	X(472, cudaLibraryUnload, 12060, (cudaLibrary_t, library))                                 \
	X(473, cudaLibraryGetKernel, 12060, (cudaKernel_t *, pKernel), (cudaLibrary_t, library),   \
	  (const char *, name))

#define RUNTIME_CALLS_BARE(X)                                                                      \
	X(10, cudaGetLastError, 3020)                                                              \
	X(11, cudaPeekAtLastError, 3020)                                                           \
	X(164, cudaDeviceReset, 3020)                                                              \
	X(165, cudaDeviceSynchronize, 3020)                                                        \
	X(171, cudaProfilerStart, 4000)                                                            \
	X(172, cudaProfilerStop, 4000)
/* clang-format on */

#endif
