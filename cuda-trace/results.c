// SPDX-License-Identifier: BSD-2-Clause
/*
 * The results that a program can get, from the public documentation of the driver and runtime API
 * (https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html). Since CUDA 10.1 both
 * number alike, so one table serves both.
 */
#include "cuda-trace/results.h"

#include <stddef.h>
#include "libcupti-usdt/probes.h"

static const struct {
	int32_t result;
	const char *driver;
	const char *runtime;
} results[] = {
	{0, "CUDA_SUCCESS", "cudaSuccess"},
	{1, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation"},
	{3, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError"},
	{4, "CUDA_ERROR_DEINITIALIZED", "cudaErrorCudartUnloading"},
	{9, NULL, "cudaErrorInvalidConfiguration"},
	{35, NULL, "cudaErrorInsufficientDriver"},
	{36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "cudaErrorCallRequiresNewerDriver"},
	{46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "cudaErrorDevicesUnavailable"},
	{98, NULL, "cudaErrorInvalidDeviceFunction"},
	{100, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice"},
	{101, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice"},
	{200, "CUDA_ERROR_INVALID_IMAGE", "cudaErrorInvalidKernelImage"},
	{201, "CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized"},
	{209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "cudaErrorNoKernelImageForDevice"},
	{214, "CUDA_ERROR_ECC_UNCORRECTABLE", "cudaErrorECCUncorrectable"},
	{215, "CUDA_ERROR_UNSUPPORTED_LIMIT", "cudaErrorUnsupportedLimit"},
	{218, "CUDA_ERROR_INVALID_PTX", "cudaErrorInvalidPtx"},
	{220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "cudaErrorNvlinkUncorrectable"},
	{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "cudaErrorUnsupportedPtxVersion"},
	{301, "CUDA_ERROR_FILE_NOT_FOUND", "cudaErrorFileNotFound"},
	{302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "cudaErrorSharedObjectSymbolNotFound"},
	{304, "CUDA_ERROR_OPERATING_SYSTEM", "cudaErrorOperatingSystem"},
	{400, "CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle"},
	{401, "CUDA_ERROR_ILLEGAL_STATE", "cudaErrorIllegalState"},
	{500, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound"},
	{600, "CUDA_ERROR_NOT_READY", "cudaErrorNotReady"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress"},
	{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "cudaErrorLaunchOutOfResources"},
	{702, "CUDA_ERROR_LAUNCH_TIMEOUT", "cudaErrorLaunchTimeout"},
	{704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "cudaErrorPeerAccessAlreadyEnabled"},
	{705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "cudaErrorPeerAccessNotEnabled"},
	{708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "cudaErrorSetOnActiveProcess"},
	{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "cudaErrorContextIsDestroyed"},
	{710, "CUDA_ERROR_ASSERT", "cudaErrorAssert"},
	{714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "cudaErrorHardwareStackError"},
	{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "cudaErrorIllegalInstruction"},
	{716, "CUDA_ERROR_MISALIGNED_ADDRESS", "cudaErrorMisalignedAddress"},
	{717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "cudaErrorInvalidAddressSpace"},
	{718, "CUDA_ERROR_INVALID_PC", "cudaErrorInvalidPc"},
	{719, "CUDA_ERROR_LAUNCH_FAILED", "cudaErrorLaunchFailure"},
	{720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "cudaErrorCooperativeLaunchTooLarge"},
	{800, "CUDA_ERROR_NOT_PERMITTED", "cudaErrorNotPermitted"},
	{801, "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported"},
	{802, "CUDA_ERROR_SYSTEM_NOT_READY", "cudaErrorSystemNotReady"},
	{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "cudaErrorSystemDriverMismatch"},
	{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "cudaErrorStreamCaptureUnsupported"},
	{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "cudaErrorStreamCaptureInvalidated"},
	{906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "cudaErrorStreamCaptureImplicit"},
	{908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "cudaErrorStreamCaptureWrongThread"},
	{909, "CUDA_ERROR_TIMEOUT", "cudaErrorTimeout"},
	{910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "cudaErrorGraphExecUpdateFailure"},
	{999, "CUDA_ERROR_UNKNOWN", "cudaErrorUnknown"},
};

const char *results__name(int domain, int32_t result)
{
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (results[i].result == result)
			return domain == CUDA_DOMAIN_RUNTIME ? results[i].runtime
							     : results[i].driver;
	return NULL;
}
