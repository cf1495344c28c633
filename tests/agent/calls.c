// SPDX-License-Identifier: BSD-2-Clause
/* calls N: copies, memsets, allocations, waits and a failing call, N times; says what it did. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/simcuda/cuda.h"

#define BYTES (1 << 16)

static void once(CUstream stream, CUevent event, void *host)
{
	CUdeviceptr a, b;

	cuMemAlloc_v2(&a, BYTES);
	cuMemAlloc_v2(&b, BYTES);
	cuMemcpyHtoD_v2(a, host, BYTES);
	cuMemcpyDtoDAsync_v2(b, a, BYTES, stream);
	cuMemsetD8Async(b, 1, BYTES, stream);
	cuEventRecord(event, stream);
	cuEventSynchronize(event);
	cuStreamSynchronize(stream);
	cuMemcpyDtoH_v2(host, b, BYTES);
	cuCtxSynchronize();
	cuMemFree_v2(a);
	cuMemFree_v2(b);
	cuMemFree_v2(12345);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	void *host = malloc(BYTES);
	CUcontext context;
	CUstream stream;
	CUdevice device;
	CUevent event;

	if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
	    cuCtxSetCurrent(context) || cuStreamCreate(&stream, 0) || cuEventCreate(&event, 0))
		return 1;
	for (int i = 0; i < n; i++)
		once(stream, event, host);
	free(host);
	printf("expect memcpys=%d memsets=%d allocs=%d frees=%d syncs=%d api_errors=%d\n", 3 * n, n,
	       2 * n, 2 * n, 3 * n, n);
	return 0;
}
