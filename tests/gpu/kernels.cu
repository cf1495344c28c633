// SPDX-License-Identifier: BSD-2-Clause
// Twenty kernels, from one that only moves memory to one that only computes, each with a name of its own. Compile with nvcc.
//
//   kernels KIND SECONDS [TURN_MS]   KIND (0 to 19), or all of them in random turns of TURN_MS (-1); keeps the GPU busy
//   kernels share MS PAUSE_MS FROM SECONDS
//                                    one kernel of MS (when it has the GPU for itself), a pause, from CLOCK_REALTIME
//                                    FROM on: "expect kernels=N alone_ns=T", T of one by CUDA's events, alone
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <utility>

constexpr int KINDS = 20;
constexpr size_t ELEMENTS = 1 << 26;

/* What the power is also depends on the numbers: these are the same each time. */
template <int KIND> __global__ void mixed(const float *data, float *out, size_t count)
{
	size_t stride = (size_t)gridDim.x * blockDim.x;

	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += stride) {
		float x = data[i];
#pragma unroll 8
		for (int n = 0; n < KIND * 24; n++)
			x = fmaf(x, 1.0001f, 0.5f);
		out[i] = x;
	}
}

__global__ void fill(float *data, size_t count)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
		data[i] = (float)(i * 2654435761u % 1000003) / 1000003;
}

__global__ void sharing(float *out, long rounds)
{
	float x = threadIdx.x;

	for (long i = 0; i < rounds; i++)
		x = fmaf(x, 1.0001f, 0.5f);
	out[threadIdx.x] = x;
}

template <int... KIND> static void launch(int kind, const float *data, float *out, std::integer_sequence<int, KIND...>)
{
	((kind == KIND ? mixed<KIND><<<1056, 512>>>(data, out, ELEMENTS) : void()), ...);
}

static double now()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* Always something queued. */
static void busy(int kind, const float *data, float *out, double seconds)
{
	double end = now() + seconds;
	cudaEvent_t events[4];

	for (cudaEvent_t &event : events)
		cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
	for (int n = 0; now() < end; n++) {
		if (n >= 4)
			cudaEventSynchronize(events[n % 4]);
		for (int i = 0; i < 4; i++)
			launch(kind, data, out, std::make_integer_sequence<int, KINDS>());
		cudaEventRecord(events[n % 4]);
	}
	for (cudaEvent_t event : events)
		cudaEventDestroy(event);
}

static float alone(float *data, long rounds)
{
	cudaEvent_t begin, end;
	float ms;

	cudaEventCreate(&begin);
	cudaEventCreate(&end);
	cudaEventRecord(begin);
	for (int i = 0; i < 20; i++)
		sharing<<<264, 256>>>(data, rounds);
	cudaEventRecord(end);
	cudaEventSynchronize(end);
	cudaEventElapsedTime(&ms, begin, end);
	return ms / 20;
}

static int share(float *data, double ms, double pause, double from, double seconds)
{
	long rounds = 1000000, kernels = 0;
	auto wall = [] { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); };

	alone(data, rounds);
	rounds = (long)(rounds * ms / alone(data, rounds));
	float each = alone(data, rounds);
	printf("ready %.4f\n", each);
	fflush(stdout);
	while (wall() < from)
		;
	for (double end = now() + seconds; now() < end; kernels++) {
		sharing<<<264, 256>>>(data, rounds);
		if (cudaDeviceSynchronize())
			return 1;
		if (pause > 0)
			std::this_thread::sleep_for(std::chrono::duration<double>(pause / 1e3));
	}
	printf("expect kernels=%ld alone_ns=%.0f\n", kernels, each * 1e6);
	return 0;
}

int main(int argc, char **argv)
{
	float *data, *out;

	if (argc < 3 || cudaMalloc(&data, ELEMENTS * sizeof(float)) || cudaMalloc(&out, ELEMENTS * sizeof(float)))
		return 1;
	fill<<<1056, 512>>>(data, ELEMENTS);
	if (strcmp(argv[1], "share") == 0)
		return argc < 6 ? 1 : share(data, atof(argv[2]), atof(argv[3]), atof(argv[4]), atof(argv[5]));
	int kind = atoi(argv[1]);
	double seconds = atof(argv[2]), turn = argc > 3 ? atof(argv[3]) / 1e3 : 0.3;
	if (kind >= 0) {
		busy(kind, data, out, seconds);
	} else {
		std::mt19937 random(1);
		for (double end = now() + seconds; now() < end;)
			busy((int)(random() % KINDS), data, out, turn);
	}
	return cudaDeviceSynchronize() != cudaSuccess;
}
