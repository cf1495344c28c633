// SPDX-License-Identifier: BSD-2-Clause
// The tests know these lines by number: a loop in deepest(), in middle(), in outer().
__device__ __forceinline__ float deepest(float value)
{
	for (int i = 0; i < 100; i++)
		value = value * 1.0001f +
			0.5f;
	return value;
}

__device__ __forceinline__ float middle(float value)
{
	return deepest(value) + 2.f;
}

__global__ void outer(float *values, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count) values[i] = middle(values[i]);
}
