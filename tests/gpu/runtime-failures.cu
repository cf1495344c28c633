// SPDX-License-Identifier: BSD-2-Clause
// Launches through the runtime API (static cudart), some of which fail; prints how each failed.
#include <cstdio>

__global__ void empty()
{
}

int main()
{
	int good = 0, bad = 0;

	for (int i = 0; i < 10; i++) {
		empty<<<1, 32>>>();
		good += cudaGetLastError() == cudaSuccess;
		empty<<<1, 2000>>>();
		cudaError_t block = cudaGetLastError();
		empty<<<0, 32>>>();
		cudaError_t grid = cudaGetLastError();
		empty<<<1, 32, 64 << 20>>>();
		cudaError_t shared = cudaGetLastError();
		bad += (block != cudaSuccess) + (grid != cudaSuccess) + (shared != cudaSuccess);
		if (!i)
			printf("block %d, grid %d, shared %d\n", block, grid, shared);
	}
	cudaDeviceSynchronize();
	printf("expect launches=%d kernels=%d launch_errors=%d graph_launches=0\n", good + bad, good, bad);
}
