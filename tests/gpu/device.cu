// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads whose figures are known, for profile --device: device KIND SECONDS. The last line says what
 * it did.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>

static double now()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

__global__ void spin(long long ns)
{
	long long begin, at;

	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(at));
	while (at - begin < ns);
}

__global__ void copy(const float4 *from, float4 *to, size_t count)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
	     i += gridDim.x * (size_t)blockDim.x)
		to[i] = from[i];
}

int main(int argc, char **argv)
{
	const size_t bytes = 1ul << 30;
	const char *kind = argv[1];
	double until, began, busy = 0, moved = 0;
	cudaDeviceProp device;
	char *a, *b, *host;

	if (argc < 3 || cudaGetDeviceProperties(&device, 0) || cudaMalloc(&a, bytes) ||
	    cudaMalloc(&b, bytes) || cudaMallocHost(&host, bytes))
		return 1;
	cudaMemset(a, 0, bytes);
	cudaDeviceSynchronize();
	for (began = now(), until = began + atof(argv[2]); now() < until;) {
		if (!strcmp(kind, "duty")) {
			spin<<<device.multiProcessorCount, 128>>>(20000000);
			cudaDeviceSynchronize();
			busy += 0.02;
			usleep(30000);
		} else if (!strcmp(kind, "half")) {
			spin<<<device.multiProcessorCount / 2, 128>>>(20000000);
			cudaDeviceSynchronize();
		} else if (!strcmp(kind, "copy")) {
			copy<<<device.multiProcessorCount * 8, 512>>>((float4 *)a, (float4 *)b,
								      bytes / 16);
			cudaDeviceSynchronize();
			moved += bytes;
		} else if (!strcmp(kind, "down")) {
			cudaMemcpy(host, a, bytes, cudaMemcpyDeviceToHost);
			moved += bytes;
		} else {
			cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
			moved += bytes;
		}
	}
	began = now() - began;
	printf("expect busy=%.4f bytes_per_second=%.0f error=%d\n", busy / began, moved / began,
	       cudaGetLastError());
	return 0;
}
