// SPDX-License-Identifier: BSD-2-Clause
// Kernels whose counters are known beforehand, each with exactly one bottleneck, and its twin
// without. Prints what they do, by name: counters NAME... runs those, in this order; without names
// all.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N      (64u << 20) // floats: 256 MiB, more than any cache
#define RING   (1u << 20)  // of the chases: 4 MiB, inside the L2 cache
#define STEPS  2000
#define LOOPS  10000
#define MATRIX 2048
#define TILES  2000
#define SPIN   2000000 // cycles
#define SHARED (200 << 10)
#define LIVE   120
#define EACH   4

extern "C" {
__global__ void copy(const float4 *in, float4 *out, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = in[i];
}

// The same with arithmetic in between: its twin that memory does not hold back.
__global__ void copy_and_work(const float4 *in, float4 *out, size_t n, int k)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	float4 v;

	if (i >= n)
		return;
	v = in[i];
	for (int j = 0; j < k; j++) {
		v.x = v.x * 0.5f + 1.25f;
		v.y = v.y * 0.5f + 1.25f;
		v.z = v.z * 0.5f + 1.25f;
		v.w = v.w * 0.5f + 1.25f;
	}
	out[i] = v;
}

// Reads more than any cache holds and writes nothing: what was written before is in DRAM then.
__global__ void sweep(const float4 *in, float4 *out, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < n && in[i].x == 4711)
		out[i] = in[i];
}

__global__ void fma_chain(float *out, int k)
{
	float a = threadIdx.x, b = 0.5f, c = 1.25f, d = a + 1;

	for (int i = 0; i < k; i++) {
		a = a * b + c;
		d = d * b + c;
	}
	out[blockIdx.x * (size_t)blockDim.x + threadIdx.x] = a + d;
}

// The same in the other precisions. An instruction of the second works on two numbers.
__global__ void double_chain(double *out, int k)
{
	double a = threadIdx.x, b = 0.5, c = 1.25, d = a + 1;

	for (int i = 0; i < k; i++) {
		a = a * b + c;
		d = d * b + c;
	}
	out[blockIdx.x * (size_t)blockDim.x + threadIdx.x] = a + d;
}

// Its factors are parameters: of constants the compiler makes further instructions of half
// precision.
__global__ void half_chain(half2 *out, int k, float rate)
{
	half2 a = __float2half2_rn(threadIdx.x), b = __float2half2_rn(rate);
	half2 c = __float2half2_rn(rate * 2.5f), d = c;

	for (int i = 0; i < k; i++) {
		a = __hfma2(a, b, c);
		d = __hfma2(d, b, c);
	}
	out[blockIdx.x * (size_t)blockDim.x + threadIdx.x] =
		__halves2half2(__low2half(a), __high2half(d));
}

__global__ void tail_chain(float *out, int k)
{
	extern __shared__ float shared_floats[];
	float a = threadIdx.x, b = 0.5f, c = 1.25f, d = a + 1;

	for (int i = 0; i < k; i++) {
		a = a * b + c;
		d = d * b + c;
	}
	shared_floats[threadIdx.x] = a + d;
	out[blockIdx.x * (size_t)blockDim.x + threadIdx.x] = shared_floats[threadIdx.x];
}

__global__ void matrix_product(const float *A, const float *B, float *C, int n)
{
	__shared__ float a[32][32], b[32][32];
	int r = blockIdx.y * 32 + threadIdx.y, c = blockIdx.x * 32 + threadIdx.x;
	float s = 0;

	for (int t = 0; t < n; t += 32) {
		a[threadIdx.y][threadIdx.x] = A[r * n + t + threadIdx.x];
		b[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + c];
		__syncthreads();
		for (int k = 0; k < 32; k++)
			s += a[threadIdx.y][k] * b[k][threadIdx.x];
		__syncthreads();
	}
	C[r * n + c] = s;
}

__global__ void tensor_product(const half *A, float *C, int k)
{
	using namespace nvcuda::wmma;
	fragment<matrix_a, 16, 16, 16, half, row_major> a;
	fragment<matrix_b, 16, 16, 16, half, col_major> b;
	fragment<accumulator, 16, 16, 16, float> c;

	fill_fragment(c, 0.0f);
	load_matrix_sync(a, A, 16);
	load_matrix_sync(b, A, 16);
	for (int i = 0; i < k; i++)
		mma_sync(c, a, b, c);
	store_matrix_sync(C + (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 256, c, 16,
			  mem_row_major);
}

__global__ void increment(int *x, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < n)
		x[i]++;
}

// A thread has four loads under way, as copy() has: with one, 8 KiB a multiprocessor are not enough
// to hide what DRAM takes, and with a remainder in between the arithmetic shows. n is a power of 2.
__global__ void strided(const float *in, float *out, size_t n, int stride)
{
	size_t first = blockIdx.x * (size_t)blockDim.x * EACH + threadIdx.x;
	float v[EACH];

#pragma unroll
	for (int j = 0; j < EACH; j++)
		v[j] = in[((first + j * blockDim.x) * stride) & (n - 1)];
#pragma unroll
	for (int j = 0; j < EACH; j++)
		out[first + j * blockDim.x] = v[j];
}

__global__ void one_lane(float *out, int k, int lanes)
{
	float v = threadIdx.x;

	if (threadIdx.x % lanes == 0)
		for (int i = 0; i < k; i++)
			v = v * 0.5f + 1.25f;
	out[blockIdx.x * (size_t)blockDim.x + threadIdx.x] = v;
}

// Follows pointers that keep a warp's threads side by side.
__global__ void chase(const int *next, int *out, int steps)
{
	int p = (blockIdx.x * blockDim.x + threadIdx.x) % RING;

	for (int i = 0; i < steps; i++)
		p = next[p];
	out[blockIdx.x * blockDim.x + threadIdx.x] = p;
}

// The same while so many registers hold what is needed at the end.
__global__ void chase_with_registers(const int *next, int *out, int steps)
{
	int p = (blockIdx.x * blockDim.x + threadIdx.x) % RING, kept[LIVE], sum = 0;

#pragma unroll
	for (int i = 0; i < LIVE; i++)
		asm volatile("ld.global.u32 %0, [%1];"
			     : "=r"(kept[i])
			     : "l"(next + threadIdx.x + 32 * i));
	for (int i = 0; i < steps; i++)
		asm volatile("ld.global.u32 %0, [%1];" : "=r"(p) : "l"(next + p));
#pragma unroll
	for (int i = 0; i < LIVE; i++)
		sum += kept[i] ^ p;
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void chase_with_shared(const int *next, int *out, int steps)
{
	extern __shared__ int shared_ints[];
	int p = (blockIdx.x * blockDim.x + threadIdx.x) % RING;

	for (int i = 0; i < steps; i++)
		p = next[p];
	shared_ints[threadIdx.x] = p;
	out[blockIdx.x * blockDim.x + threadIdx.x] = shared_ints[threadIdx.x];
}

// All warps take the same time, so that there are as many as the launch allows, from begin to end.
__global__ void spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

__global__ void nothing()
{
}

// Reads 16 MiB over and over, which lie in the L2 cache, past the L1 cache; with k between two
// reads its twin, which the arithmetic holds back. n is a power of 2.
__global__ void l2_reads(const float4 *in, float *out, unsigned int n, int rounds, int k)
{
	unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	for (int j = 0; j < rounds; j++) {
		float4 v = __ldcg(&in[i & (n - 1)]);

		sum += v.x + v.y + v.z + v.w;
		for (int l = 0; l < k; l++)
			sum = sum * 0.5f + 1.25f;
		i += gridDim.x * blockDim.x;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Four loads of shared memory under way, no two threads of a warp in one bank; and the same k. The
// compiler must not know step, or it reads what there is once and keeps it in registers.
__global__ void shared_reads(float *out, int rounds, int step, int k)
{
	__shared__ float4 all[256];
	float sum = 0;

	all[threadIdx.x] = make_float4(threadIdx.x, 1, 2, 3);
	__syncthreads();
	for (int j = 0; j < rounds; j += EACH) {
#pragma unroll
		for (int l = 0; l < EACH; l++) {
			float4 v = all[(threadIdx.x + step * (j + l)) % 256];

			sum += v.x + v.y + v.z + v.w;
		}
		for (int l = 0; l < k; l++)
			sum = sum * 0.5f + 1.25f;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// As strided(), but it is the stores that jump.
__global__ void strided_stores(const float *in, float *out, size_t n, int stride)
{
	size_t first = blockIdx.x * (size_t)blockDim.x * EACH + threadIdx.x;

#pragma unroll
	for (int j = 0; j < EACH; j++)
		out[((first + j * blockDim.x) * stride) & (n - 1)] = in[first + j * blockDim.x];
}

// Eight waves of blocks that take k, and at the end some, fewer than there are multiprocessors,
// that take `longer` times that.
__global__ void unequal_blocks(float *out, int k, int longer, int multiprocessors)
{
	float a = threadIdx.x, d = a + 1;
	int all = blockIdx.x >= gridDim.x - multiprocessors / 4 ? k * longer : k;

	for (int i = 0; i < all; i++) {
		a = a * 0.5f + 1.25f;
		d = d * 0.5f + 1.25f;
	}
	out[blockIdx.x % (multiprocessors * 8) * (size_t)blockDim.x + threadIdx.x] = a + d;
}

// Its blocks wait for each other, which they can only where all run at once.
__global__ void together(int *counts, int k)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();

	for (int i = 0; i < k; i++) {
		if (threadIdx.x == 0)
			atomicAdd(&counts[1], 1);
		grid.sync();
	}
}

// Ends when the host says so; by itself after so many seconds, or nobody's run would end.
__global__ void endless(volatile int *stop, long long seconds)
{
	unsigned long long start, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (!*stop && now - start < seconds * 1000000000ull);
}
}

static float *A, *B, *C;
static int *ring, *counts, multiprocessors;

static void check(cudaError_t error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "counters: %s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}

static void set_up()
{
	int *next = (int *)malloc(RING * sizeof(int));

	check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
	      "cudaDeviceGetAttribute");
	check(cudaMalloc(&A, N * sizeof(float)), "cudaMalloc");
	check(cudaMalloc(&B, N * sizeof(float)), "cudaMalloc");
	check(cudaMalloc(&C, 64 << 20), "cudaMalloc");
	check(cudaMalloc(&ring, RING * sizeof(int)), "cudaMalloc");
	check(cudaMalloc(&counts, 4 << 20), "cudaMalloc");
	check(cudaMemset(A, 0, N * sizeof(float)), "cudaMemset");
	check(cudaMemset(counts, 0, 4 << 20), "cudaMemset");
	for (unsigned int i = 0; i < RING; i++)
		next[i] = (i + 32 * 1021) % RING;
	check(cudaMemcpy(ring, next, RING * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
	check(cudaFuncSetAttribute(tail_chain, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED),
	      "cudaFuncSetAttribute");
	check(cudaFuncSetAttribute(chase_with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
				   SHARED / 2),
	      "cudaFuncSetAttribute");
	free(next);
}

static void graph_of_increments()
{
	cudaStream_t stream;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	check(cudaStreamCreate(&stream), "cudaStreamCreate");
	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
	for (int i = 0; i < 5; i++)
		increment<<<4096, 256, 0, stream>>>(counts, 1 << 20);
	check(cudaStreamEndCapture(stream, &graph), "capture");
	check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
	check(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
	check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

static void run_together()
{
	int k = 5, sum[2];
	void *parameters[] = {&counts, &k};

	check(cudaMemset(counts + 1, 0, sizeof(int)), "cudaMemset");
	check(cudaLaunchCooperativeKernel((const void *)together, dim3(multiprocessors), dim3(64),
					  parameters, 0, 0),
	      "cudaLaunchCooperativeKernel");
	check(cudaMemcpy(sum, counts, sizeof(sum), cudaMemcpyDeviceToHost), "cudaMemcpy");
	if (sum[1] != k * multiprocessors)
		fprintf(stderr, "counters: together() made %d\n", sum[1]);
	check(cudaMemset(counts + 1, 0, sizeof(int)), "cudaMemset");
}

static void run_endless()
{
	int *stop;

	check(cudaHostAlloc(&stop, sizeof(*stop), cudaHostAllocMapped), "cudaHostAlloc");
	*stop = 0;
	endless<<<1, 32>>>(stop, 75);
	*stop = 1;
}

static void run(const char *name)
{
	int m = multiprocessors;

#define IS(text) !strcmp(name, text)
	if (IS("copy"))
		copy<<<N / 4 / 256, 256>>>((float4 *)A, (float4 *)B, N / 4);
	else if (IS("copy_and_work"))
		copy_and_work<<<N / 4 / 256, 256>>>((float4 *)A, (float4 *)B, N / 4, 400);
	else if (IS("sweep"))
		sweep<<<N / 4 / 256, 256>>>((float4 *)A, (float4 *)B, N / 4);
	else if (IS("fma_few_warps"))
		fma_chain<<<m, 32>>>(C, LOOPS);
	else if (IS("fma_chain"))
		fma_chain<<<m * 8, 256>>>(C, LOOPS);
	else if (IS("double_chain"))
		double_chain<<<m * 8, 256>>>((double *)C, LOOPS);
	else if (IS("half_chain"))
		half_chain<<<m * 8, 256>>>((half2 *)C, LOOPS, 0.5f);
	else if (IS("half_few_warps"))
		half_chain<<<m, 32>>>((half2 *)C, LOOPS, 0.5f);
	else if (IS("matrix_product"))
		matrix_product<<<dim3(MATRIX / 32, MATRIX / 32), dim3(32, 32)>>>(A, B, C, MATRIX);
	else if (IS("tensor_product"))
		tensor_product<<<m * 4, 256>>>((half *)A, C, TILES);
	else if (IS("increment"))
		increment<<<4096, 256>>>(counts, 1 << 20);
	else if (IS("graph"))
		graph_of_increments();
	else if (IS("strided"))
		strided<<<N / EACH / 256, 256>>>(A, B, N, 32);
	else if (IS("unit_stride"))
		strided<<<N / EACH / 256, 256>>>(A, B, N, 1);
	else if (IS("one_lane"))
		one_lane<<<m * 8, 256>>>(C, LOOPS, 32);
	else if (IS("all_lanes"))
		one_lane<<<m * 8, 256>>>(C, LOOPS, 1);
	else if (IS("tail"))
		tail_chain<<<m + 1, 256, SHARED>>>(C, LOOPS);
	else if (IS("no_tail"))
		tail_chain<<<m, 256, SHARED>>>(C, LOOPS);
	else if (IS("chase_one"))
		chase<<<1, 32>>>(ring, (int *)C, STEPS);
	else if (IS("chase_small_blocks"))
		chase<<<m * 32, 32>>>(ring, (int *)C, STEPS);
	else if (IS("chase_registers"))
		chase_with_registers<<<m * 2, 256>>>(ring, (int *)C, STEPS);
	else if (IS("chase_shared"))
		chase_with_shared<<<m * 2, 128, SHARED / 2>>>(ring, (int *)C, STEPS);
	else if (IS("chase_full"))
		chase<<<m * 8, 256>>>(ring, (int *)C, STEPS);
	else if (IS("spin_full"))
		spin<<<m * 8, 256>>>(SPIN);
	else if (IS("spin_half"))
		spin<<<m * 4, 256>>>(SPIN);
	else if (IS("spin_eighth"))
		spin<<<m, 256>>>(SPIN);
	else if (IS("short_spin"))
		spin<<<1, 32>>>(SPIN / 40);
	else if (IS("long"))
		spin<<<m, 256>>>(300LL * SPIN);
	else if (IS("nothing"))
		nothing<<<1, 32>>>();
	else if (IS("l2_reads"))
		l2_reads<<<m * 8, 256>>>((float4 *)A, C, 1 << 20, 200, 0);
	else if (IS("l2_reads_and_work"))
		l2_reads<<<m * 8, 256>>>((float4 *)A, C, 1 << 20, 200, 300);
	else if (IS("shared_reads"))
		shared_reads<<<m * 8, 256>>>(C, LOOPS, 32, 0);
	else if (IS("shared_reads_and_work"))
		shared_reads<<<m * 8, 256>>>(C, LOOPS / 10, 32, 300);
	else if (IS("double_few_warps"))
		double_chain<<<m, 32>>>((double *)C, LOOPS);
	else if (IS("strided_stores"))
		strided_stores<<<N / EACH / 256, 256>>>(A, B, N, 32);
	else if (IS("unit_stride_stores"))
		strided_stores<<<N / EACH / 256, 256>>>(A, B, N, 1);
	else if (IS("unequal_blocks"))
		unequal_blocks<<<m * 64, 256>>>(C, LOOPS, 60, m);
	else if (IS("equal_blocks"))
		unequal_blocks<<<m * 64, 256>>>(C, LOOPS, 1, m);
	else if (IS("together"))
		run_together();
	else if (IS("endless"))
		run_endless();
	else
		fprintf(stderr, "counters: there is no kernel %s\n", name);
	check(cudaGetLastError(), name);
	check(cudaDeviceSynchronize(), name);
}

int main(int argc, char **argv)
{
	static const char *const all[] = {"copy",
					  "copy_and_work",
					  "fma_chain",
					  "fma_few_warps",
					  "double_chain",
					  "half_chain",
					  "matrix_product",
					  "tensor_product",
					  "increment",
					  "graph",
					  "strided",
					  "unit_stride",
					  "one_lane",
					  "all_lanes",
					  "tail",
					  "no_tail",
					  "chase_one",
					  "chase_many",
					  "chase_small_blocks",
					  "chase_registers",
					  "chase_shared",
					  "chase_full",
					  "spin_full",
					  "spin_half",
					  "spin_eighth",
					  "short_spin",
					  "nothing",
					  NULL};
	int increments = 0, first = -1;

	set_up();
	if (argc > 1)
		for (int i = 1; i < argc; i++)
			run(argv[i]);
	for (int i = 0; argc == 1 && all[i]; i++)
		run(all[i]);
	for (int i = 1; i < argc; i++)
		increments += !strcmp(argv[i], "increment") + 5 * !strcmp(argv[i], "graph");
	check(cudaMemcpy(&first, counts, sizeof(first), cudaMemcpyDeviceToHost), "cudaMemcpy");
	if (first != (argc > 1 ? increments : 6))
		fprintf(stderr, "counters: incremented to %d\n", first);
	printf("expect copy_bytes=%llu matrix_ffma=%llu chain_ffma=%llu tensor_ops=%llu "
	       "increments=%d "
	       "multiprocessors=%d\n",
	       (unsigned long long)N * sizeof(float), 1ULL * MATRIX * MATRIX * MATRIX,
	       2ULL * LOOPS * multiprocessors * 8 * 256,
	       1ULL * multiprocessors * 4 * 8 * TILES * 8192, first, multiprocessors);
	return first == (argc > 1 ? increments : 6) ? 0 : 1;
}
