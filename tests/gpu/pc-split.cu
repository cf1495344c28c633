// SPDX-License-Identifier: BSD-2-Clause
// Two loops of the same instructions, the second three times as long: where the time goes is stamped
// by the kernel itself. Compile with -lineinfo. Usage: pc-split [SECONDS [KERNEL_MS [INTERVAL_MS]]];
// each interval a line "SECONDS LAUNCHES MS_PER_LAUNCH" (CLOCK_MONOTONIC), as tests/bench/torch-turns.py reads them.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#define STEP x = fmaf(x, 1.0001f, 0.5f); x = fmaf(x, 0.9999f, 0.5f);
// The compiler gives a loop's last instruction the line of what follows it.
enum { A_FROM = __LINE__ + 5, A_TO = A_FROM + 6, B_FROM = A_FROM + 8, B_TO = A_FROM + 12 };

__global__ void split(float *out, unsigned long long *ticks, int n)
{
	float x = out[threadIdx.x];
	unsigned long long a = clock64();
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		STEP STEP STEP
	}
	asm volatile("" : "+f"(x));
	unsigned long long b = clock64();
#pragma unroll 1
	for (int i = 0; i < 3 * n; i++) {
		STEP STEP STEP
	}
	asm volatile("" : "+f"(x));
	unsigned long long c = clock64();
	out[threadIdx.x] = x;
	if (threadIdx.x == 0) {
		atomicAdd(&ticks[0], b - a);
		atomicAdd(&ticks[1], c - b);
	}
}

static double now()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* Of those since the last line. */
static void tell(double interval, long launches)
{
	static double since = now();
	static long reported;
	double at = now();

	if (interval <= 0 || at - since < interval)
		return;
	printf("%.4f %ld %.5f\n", at, launches - reported, (at - since) * 1e3 / (launches - reported));
	fflush(stdout);
	since = at;
	reported = launches;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5, kernel_ms = argc > 2 ? atof(argv[2]) : 10, end;
	double interval = argc > 3 ? atof(argv[3]) / 1e3 : 0;
	unsigned long long *ticks, total[2] = {};
	long launches = 0;
	float *out;

	if (cudaMalloc(&out, 4096) || cudaMalloc(&ticks, 16) || cudaMemset(out, 0, 4096) || cudaMemset(ticks, 0, 16))
		return 1;
	// An iteration takes some 35 cycles.
	int n = (int)(kernel_ms * 1e-3 * 1.7e9 / 4 / 35);
	end = now() + seconds;
	double before = now();
	while (now() < end) {
		split<<<264, 128>>>(out, ticks, n > 0 ? n : 1);
		launches++;
		if (cudaDeviceSynchronize())
			return 1;
		tell(interval, launches);
	}
	double each = (now() - before) / launches;
	if (cudaMemcpy(total, ticks, sizeof(total), cudaMemcpyDeviceToHost))
		return 1;
	printf("expect launches=%ld kernels=%ld share_a=%.4f a_from=%d a_to=%d b_from=%d b_to=%d ms_each=%.4f\n",
	       launches, launches, (double)total[0] / (double)(total[0] + total[1]), A_FROM, A_TO, B_FROM, B_TO,
	       each * 1e3);
	return 0;
}
