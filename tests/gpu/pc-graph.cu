// SPDX-License-Identifier: BSD-2-Clause
/*
 * One kernel that functions of known names put into a graph, which is launched until the time is over: once by one(),
 * three times by three() (captured), twice by child() (captured, in a child graph) and twice by built() (added node by
 * node); and once beside the graph by eager(). All of them take the same time. With "replaced", once more by the call in
 * replace(), which gives this kernel to a node that another one was captured for. The launches lie between
 * cudaProfilerStart() and cudaProfilerStop(). Usage: pc-graph [SECONDS [replaced]]
 */
#include <cuda_profiler_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#define FUNCTION extern "C" __attribute__((noinline))

__global__ void spin(float *out, int n)
{
	float x = out[threadIdx.x];

#pragma unroll 1
	for (int i = 0; i < n; i++)
		x = fmaf(x, 1.0001f, 0.5f);
	out[threadIdx.x] = x;
}

__global__ void other(float *out)
{
	out[threadIdx.x] += 1;
}

static float *out;
static int iterations = 100000;
static cudaStream_t stream;

static void check(cudaError_t result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
	exit(1);
}

FUNCTION void one()
{
	spin<<<132, 128, 0, stream>>>(out, iterations);
	asm volatile("");
}

FUNCTION void three()
{
	for (int i = 0; i < 3; i++)
		spin<<<132, 128, 0, stream>>>(out, iterations);
}

FUNCTION void child()
{
	for (int i = 0; i < 2; i++)
		spin<<<132, 128, 0, stream>>>(out, iterations);
}

FUNCTION void eager()
{
	spin<<<132, 128, 0, stream>>>(out, iterations);
	asm volatile("");
}

FUNCTION void one_and_other()
{
	one();
	other<<<1, 32, 0, stream>>>(out);
}

FUNCTION void replace(cudaGraphExec_t exec, cudaGraphNode_t node)
{
	void *arguments[] = {&out, &iterations};
	cudaKernelNodeParams params = {};

	params.func = (void *)spin;
	params.gridDim = dim3(132);
	params.blockDim = dim3(128);
	params.kernelParams = arguments;
	check(cudaGraphExecKernelNodeSetParams(exec, node, &params), "cudaGraphExecKernelNodeSetParams");
}

FUNCTION void built(cudaGraph_t graph, cudaGraphNode_t *last)
{
	void *arguments[] = {&out, &iterations};
	cudaKernelNodeParams node = {};

	node.func = (void *)spin;
	node.gridDim = dim3(132);
	node.blockDim = dim3(128);
	node.kernelParams = arguments;
	for (int i = 0; i < 2; i++) {
		cudaGraphNode_t next;

		check(cudaGraphAddKernelNode(&next, graph, last, 1, &node), "cudaGraphAddKernelNode");
		*last = next;
	}
}

static cudaGraph_t capture(void (*first)(), void (*second)())
{
	cudaGraph_t graph;

	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
	first();
	if (second)
		second();
	check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
	return graph;
}

static double now()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 5);
	cudaGraph_t graph, inner;
	cudaGraphExec_t exec;
	cudaGraphNode_t nodes[16], last;
	size_t count = 16;
	long launches = 0;

	check(cudaMalloc(&out, 4096), "cudaMalloc");
	check(cudaMemset(out, 0, 4096), "cudaMemset");
	check(cudaStreamCreate(&stream), "cudaStreamCreate");
	graph = capture(argc > 2 ? one_and_other : one, three);
	inner = capture(child, NULL);
	check(cudaGraphGetNodes(graph, nodes, &count), "cudaGraphGetNodes");
	check(cudaGraphAddChildGraphNode(&last, graph, &nodes[count - 1], 1, inner), "cudaGraphAddChildGraphNode");
	built(graph, &last);
	check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
	if (argc > 2)
		replace(exec, nodes[1]);
	check(cudaProfilerStart(), "cudaProfilerStart");
	while (now() < end) {
		check(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
		eager();
		launches++;
		check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
	}
	check(cudaProfilerStop(), "cudaProfilerStop");
	printf("expect launches=%ld\n", launches);
	return 0;
}
