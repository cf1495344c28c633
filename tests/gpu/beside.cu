// SPDX-License-Identifier: BSD-2-Clause
// Two threads with a stream each, while somebody profiles: one launches single kernels, the other
// graphs of five kernels, or five kernels, and captures a graph every second. Each second both
// stop, and every element must have been incremented as often as was launched: a kernel that is run
// several times to be counted must leave the other's work alone.
//
//   beside SECONDS graph|kernel        last line: expect seconds=... wrong_seconds=... launches=...
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

#define N     (1 << 20)
#define NODES 5

static void check(cudaError_t error, const char *what)
{
	if (!error)
		return;
	printf("beside: %s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}
#define CHECK(call) check(call, #call)

__global__ void increment(int *x)
{
	x[blockIdx.x * blockDim.x + threadIdx.x]++;
}

__global__ void increment_beside(int *x)
{
	x[blockIdx.x * blockDim.x + threadIdx.x]++;
}

struct work {
	int *elements;
	int launched;
};

static struct work single, beside;
static std::atomic<bool> going, resting, ended;

static double now()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

static void make(struct work *work)
{
	CHECK(cudaMalloc(&work->elements, N * sizeof(int)));
	CHECK(cudaMemset(work->elements, 0, N * sizeof(int)));
}

static void launch_nodes(cudaStream_t stream)
{
	for (int i = 0; i < NODES; i++)
		increment_beside<<<N / 256, 256, 0, stream>>>(beside.elements);
	CHECK(cudaGetLastError());
}

static cudaGraphExec_t capture(cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t made;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	launch_nodes(stream);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&made, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return made;
}

static void rest(cudaStream_t stream)
{
	CHECK(cudaStreamSynchronize(stream));
	resting = true;
	while (!going && !ended)
		std::this_thread::yield();
	resting = false;
}

static void work_beside(bool graphs)
{
	cudaGraphExec_t graph = NULL;
	cudaStream_t stream;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int turn = 1; !ended; turn++) {
		if (!going) {
			rest(stream);
			if (graph)
				CHECK(cudaGraphExecDestroy(graph));
			graph = graphs && !ended ? capture(stream) : NULL;
			continue;
		}
		if (graph)
			CHECK(cudaGraphLaunch(graph, stream));
		else
			launch_nodes(stream);
		beside.launched += NODES;
		if (turn % 10 == 0)
			CHECK(cudaStreamSynchronize(stream));
	}
}

/* How many elements are not what they should be; all begin at 0 again. */
static int verify(struct work *work, const char *name)
{
	std::vector<int> values(N);
	int wrong = 0;

	CHECK(cudaMemcpy(values.data(), work->elements, N * sizeof(int), cudaMemcpyDeviceToHost));
	for (int value : values)
		wrong += value != work->launched;
	if (wrong)
		printf("%s: %d elements of %d launches, the first has %+d\n", name, wrong,
		       work->launched, values[0] - work->launched);
	CHECK(cudaMemset(work->elements, 0, N * sizeof(int)));
	work->launched = 0;
	return wrong;
}

static int one_second(cudaStream_t stream)
{
	double end = now() + 1;
	int launches;

	going = true;
	while (now() < end) {
		increment<<<N / 256, 256, 0, stream>>>(single.elements);
		CHECK(cudaGetLastError());
		if (++single.launched % 20 == 0)
			CHECK(cudaStreamSynchronize(stream));
	}
	going = false;
	while (!resting)
		std::this_thread::yield();
	CHECK(cudaDeviceSynchronize());
	launches = single.launched + beside.launched;
	return launches;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 3, wrong_seconds = 0;
	long launches = 0;
	cudaStream_t stream;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	make(&single);
	make(&beside);
	std::thread thread(work_beside, argc > 2 && !strcmp(argv[2], "graph"));
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < seconds; i++) {
		launches += one_second(stream);
		int wrong = verify(&single, "single"),
		    wrong_beside = verify(&beside, "beside");

		wrong_seconds += wrong || wrong_beside;
		CHECK(cudaDeviceSynchronize());
	}
	ended = true;
	thread.join();
	printf("expect seconds=%d wrong_seconds=%d launches=%ld\n", seconds, wrong_seconds,
	       launches);
	return 0;
}
