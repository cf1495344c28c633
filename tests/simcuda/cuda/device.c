// SPDX-License-Identifier: BSD-2-Clause
// The simulated GPUs: as many as SIMCUDA_DEVICES says, all alike but for their ordinal.
#include <stdio.h>
#include <string.h>
#include "tests/simcuda/cuda/driver.h"

int device__count(void)
{
	return settings__get()->devices;
}

static CUresult device__check(CUdevice device)
{
	return device >= 0 && device < device__count() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDeviceGet(CUdevice *device, int ordinal)
{
	CUresult result = device__check(ordinal);

	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (!result)
		*device = ordinal;
	return result;
}

CUresult sim_cuDeviceGetCount(int *count)
{
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = device__count();
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetName(char *name, int length, CUdevice device)
{
	if (!name || length <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(name, length, "Simulated GPU");
	return device__check(device);
}

CUresult sim_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = settings__get()->memory_bytes;
	return device__check(device);
}

CUresult sim_cuDeviceGetPCIBusId(char *text, int length, CUdevice device)
{
	if (!text || length <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(text, length, "0000:%02X:00.0", device + 1);
	return device__check(device);
}

CUresult sim_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	memset(uuid, 0x51, sizeof(*uuid));
	uuid->bytes[15] = device;
	return device__check(device);
}

CUresult sim_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	return sim_cuDeviceGetUuid_v2(uuid, device);
}

CUresult sim_cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_DEVICE_MAX_THREADS:
		*value = 1024;
		break;
	case CU_DEVICE_MAX_SHARED:
		*value = 49152;
		break;
	case CU_DEVICE_SM_COUNT:
		*value = 132;
		break;
	case CU_DEVICE_CAPABILITY_MAJOR:
		*value = 9;
		break;
	case CU_DEVICE_CAPABILITY_MINOR:
		*value = 0;
		break;
	case CU_DEVICE_MANAGED_MEMORY:
	case CU_DEVICE_CONCURRENT_MANAGED:
	case CU_DEVICE_COOPERATIVE:
	case CU_DEVICE_MEMORY_POOLS:
		*value = 1;
		break;
	default:
		*value = 0;
	}
	return device__check(device);
}

CUresult sim_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
	if (!can)
		return CUDA_ERROR_INVALID_VALUE;
	*can = device != peer && settings__get()->peer_access;
	return device__check(device) ? CUDA_ERROR_INVALID_DEVICE : device__check(peer);
}

/* One record for each device, for those who ask CUPTI for kind DEVICE. */
void device__dump(void)
{
	for (int i = 0; i < device__count(); i++) {
		struct simcuda_record record = {.kind = KIND_DEVICE, .device = i};

		record__send(&record);
	}
}
