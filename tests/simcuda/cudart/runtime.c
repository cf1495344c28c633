// SPDX-License-Identifier: BSD-2-Clause
// What the runtime calls do: the driver's calls, and the primary context as soon as one is needed.
#include "tests/simcuda/cudart/runtime.h"

static __thread int device;
static __thread cudaError_t last_error;

/* Before it needs the GPU, the runtime does not touch it. */
static bool needs_context(uint32_t cbid)
{
	return cbid != 1 && cbid != 2 && cbid != 3 && cbid != 10 && cbid != 11 && cbid != 16 &&
	       cbid != 17 && cbid != 164;
}

cudaError_t runtime__start(uint32_t cbid)
{
	CUcontext context = simcuda_bridge.current();
	uint32_t id, where;
	CUresult result;

	if (simcuda_bridge.context_ids(context, &id, &where) && (int)where == device)
		return cudaSuccess;
	if (cbid == 1 || cbid == 2 || cbid == 10 || cbid == 11)
		return cudaSuccess;
	result = cuInit(0);
	if (result || !needs_context(cbid))
		return result;
	result = cuDevicePrimaryCtxRetain(&context, device);
	if (!result)
		result = cuCtxSetCurrent(context);
	return result;
}

cudaError_t runtime__result(uint32_t cbid, cudaError_t error)
{
	if (error && cbid != 10 && cbid != 11)
		last_error = error;
	return error;
}

cudaError_t sim_cudaGetLastError(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

cudaError_t sim_cudaPeekAtLastError(void)
{
	return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
	const char *name = NULL;

	if (error == cudaErrorInvalidConfiguration)
		return "cudaErrorInvalidConfiguration";
	if (error == cudaErrorInvalidDeviceFunction)
		return "cudaErrorInvalidDeviceFunction";
	cuGetErrorName(error, &name);
	return name ? name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
	const char *text = NULL;

	cuGetErrorString(error, &text);
	return text ? text : "unrecognized error code";
}

cudaError_t sim_cudaDriverGetVersion(int *version)
{
	return cuDriverGetVersion(version);
}

cudaError_t sim_cudaRuntimeGetVersion(int *version)
{
	if (!version)
		return cudaErrorInvalidValue;
	*version = 13000;
	return cudaSuccess;
}

cudaError_t sim_cudaGetDeviceCount(int *count)
{
	return cuDeviceGetCount(count);
}

cudaError_t sim_cudaSetDevice(int number)
{
	if (number < 0 || number >= simcuda_bridge.device_count())
		return cudaErrorInvalidDevice;
	device = number;
	return runtime__start(0);
}

cudaError_t sim_cudaGetDevice(int *number)
{
	if (!number)
		return cudaErrorInvalidValue;
	*number = device;
	return cudaSuccess;
}

cudaError_t sim_cudaDeviceReset(void)
{
	return cuDevicePrimaryCtxReset_v2(device);
}

cudaError_t sim_cudaDeviceSynchronize(void)
{
	return cuCtxSynchronize();
}

cudaError_t sim_cudaProfilerStart(void)
{
	return cuProfilerStart();
}

cudaError_t sim_cudaProfilerStop(void)
{
	return cuProfilerStop();
}

cudaError_t sim_cudaMalloc(void **memory, size_t bytes)
{
	return cuMemAlloc_v2((CUdeviceptr *)memory, bytes);
}

cudaError_t sim_cudaFree(void *memory)
{
	return memory ? (cudaError_t)cuMemFree_v2((uintptr_t)memory) : cudaSuccess;
}

cudaError_t sim_cudaMallocHost(void **memory, size_t bytes)
{
	return cuMemHostAlloc(memory, bytes, 0);
}

cudaError_t sim_cudaFreeHost(void *memory)
{
	return cuMemFreeHost(memory);
}

cudaError_t sim_cudaMallocManaged(void **memory, size_t bytes, unsigned int flags)
{
	/* 13.0 on an H200 refuses no 0 bytes. */
	if (!bytes && flags) {
		*memory = NULL;
		return cudaSuccess;
	}
	return cuMemAllocManaged((CUdeviceptr *)memory, bytes, flags);
}

cudaError_t sim_cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream)
{
	return cuMemAllocAsync((CUdeviceptr *)memory, bytes, stream);
}

cudaError_t sim_cudaFreeAsync(void *memory, cudaStream_t stream)
{
	return cuMemFreeAsync((uintptr_t)memory, stream);
}

cudaError_t sim_cudaMemcpy(void *target, const void *source, size_t bytes, int kind)
{
	if (kind == cudaMemcpyHostToDevice)
		return cuMemcpyHtoD_v2((uintptr_t)target, source, bytes);
	if (kind == cudaMemcpyDeviceToHost)
		return cuMemcpyDtoH_v2(target, (uintptr_t)source, bytes);
	if (kind == cudaMemcpyDeviceToDevice)
		return cuMemcpyDtoD_v2((uintptr_t)target, (uintptr_t)source, bytes);
	return cuMemcpy((uintptr_t)target, (uintptr_t)source, bytes);
}

cudaError_t sim_cudaMemcpyAsync(void *target, const void *source, size_t bytes, int kind,
				cudaStream_t stream)
{
	if (kind == cudaMemcpyHostToDevice)
		return cuMemcpyHtoDAsync_v2((uintptr_t)target, source, bytes, stream);
	if (kind == cudaMemcpyDeviceToHost)
		return cuMemcpyDtoHAsync_v2(target, (uintptr_t)source, bytes, stream);
	if (kind == cudaMemcpyDeviceToDevice)
		return cuMemcpyDtoDAsync_v2((uintptr_t)target, (uintptr_t)source, bytes, stream);
	return cuMemcpyAsync((uintptr_t)target, (uintptr_t)source, bytes, stream);
}

cudaError_t sim_cudaMemset(void *memory, int value, size_t bytes)
{
	return cuMemsetD8_v2((uintptr_t)memory, value, bytes);
}

cudaError_t sim_cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
	return cuMemsetD8Async((uintptr_t)memory, value, bytes, stream);
}

cudaError_t sim_cudaStreamCreate(cudaStream_t *stream)
{
	return cuStreamCreate(stream, 0);
}

cudaError_t sim_cudaStreamDestroy(cudaStream_t stream)
{
	return cuStreamDestroy_v2(stream);
}

cudaError_t sim_cudaStreamSynchronize(cudaStream_t stream)
{
	return cuStreamSynchronize(stream);
}

cudaError_t sim_cudaEventCreate(cudaEvent_t *event)
{
	return cuEventCreate(event, 0);
}

cudaError_t sim_cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	return cuEventRecord(event, stream);
}

cudaError_t sim_cudaEventDestroy(cudaEvent_t event)
{
	return cuEventDestroy_v2(event);
}

cudaError_t sim_cudaEventSynchronize(cudaEvent_t event)
{
	return cuEventSynchronize(event);
}

/* The runtime has its own words for the two mistakes that a launch can contain. */
static cudaError_t launch_error(CUresult result)
{
	if (result == CUDA_ERROR_INVALID_VALUE)
		return cudaErrorInvalidConfiguration;
	if (result == CUDA_ERROR_INVALID_HANDLE)
		return cudaErrorInvalidDeviceFunction;
	return result;
}

cudaError_t sim_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **parameters,
				 size_t shared, cudaStream_t stream)
{
	return launch_error(cuLaunchKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x,
					   block.y, block.z, shared, stream, parameters, NULL));
}

cudaError_t sim_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
				    void **parameters)
{
	CUlaunchConfig own;

	if (!config)
		return cudaErrorInvalidValue;
	own = (CUlaunchConfig){
		config->gridDim.x,	  config->gridDim.y,  config->gridDim.z,
		config->blockDim.x,	  config->blockDim.y, config->blockDim.z,
		config->dynamicSmemBytes, config->stream,     config->attrs,
		config->numAttrs,
	};
	return launch_error(cuLaunchKernelEx(&own, (CUfunction)kernel, parameters, NULL));
}

cudaError_t sim_cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
	return cuGraphLaunch(graph, stream);
}

cudaError_t sim_cudaLibraryLoadData(cudaLibrary_t *library, const void *code, int *jit,
				    void **jit_values, unsigned int jit_count, int *options,
				    void **values, unsigned int count)
{
	return cuLibraryLoadData(library, code, jit, jit_values, jit_count, options, values, count);
}

cudaError_t sim_cudaLibraryUnload(cudaLibrary_t library)
{
	return cuLibraryUnload(library);
}

cudaError_t sim_cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
	return cuLibraryGetKernel(kernel, library, name);
}
