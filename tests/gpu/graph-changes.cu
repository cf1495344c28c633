// SPDX-License-Identifier: BSD-2-Clause
/*
 * Graphs that are changed after they were created, and conditional nodes. At its end, the program says which of its
 * lines put how many kernels there: "origin LINE KERNELS FUNCTION". Usage: graph-changes
 */
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#define FUNCTION extern "C" __attribute__((noinline))
#define REPLAYS	 20
#define ROUNDS	 4

__global__ void spin(float *out)
{
	float x = out[threadIdx.x];

#pragma unroll 1
	for (int i = 0; i < 1000; i++)
		x = fmaf(x, 1.0001f, 0.5f);
	out[threadIdx.x] = x;
}

__global__ void other(float *out)
{
	out[threadIdx.x] += 1;
}

/* Ends the loop after ROUNDS rounds. */
__global__ void count_down(cudaGraphConditionalHandle handle, int *left)
{
	*left = *left > 1 ? *left - 1 : ROUNDS;
	cudaGraphSetConditional(handle, *left < ROUNDS);
}

static float *out;
static int *left;
static cudaStream_t stream;
static std::map<std::string, int> expected, lines;

static void check(cudaError_t result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
	exit(1);
}

/* On one line, which is noted. */
#define CAPTURES(function)                       \
	FUNCTION void function()                 \
	{                                        \
		lines[#function] = __LINE__;     \
		spin<<<1, 32, 0, stream>>>(out); \
		asm volatile("");                \
	}
CAPTURES(first)
CAPTURES(second)
CAPTURES(third)
CAPTURES(kept)
CAPTURES(replaced)
CAPTURES(else_one)
CAPTURES(loop_body)
CAPTURES(nested)
CAPTURES(last)

FUNCTION void then_two()
{
	for (int i = 0; i < 2; i++) {
		lines["then_two"] = __LINE__ + 1;
		spin<<<1, 32, 0, stream>>>(out);
	}
}

static cudaGraphConditionalHandle loop;

FUNCTION void loop_end()
{
	lines["loop_end"] = __LINE__ + 1;
	count_down<<<1, 1, 0, stream>>>(loop, left);
	asm volatile("");
}

static cudaGraph_t capture(void (*function)())
{
	cudaGraph_t graph;

	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
	function();
	check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
	return graph;
}

/* Behind what the graph has. */
static void capture_to(cudaGraph_t graph, void (*function)())
{
	cudaGraphNode_t nodes[16];
	size_t count = 16;

	check(cudaGraphGetNodes(graph, nodes, &count), "cudaGraphGetNodes");
	check(cudaStreamBeginCaptureToGraph(stream, graph, count ? &nodes[count - 1] : NULL, NULL, count > 0,
					    cudaStreamCaptureModeThreadLocal),
	      "cudaStreamBeginCaptureToGraph");
	function();
	check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
	return exec;
}

/* The next change waits for none of these. */
static void replay(cudaGraphExec_t exec, const char *what)
{
	for (int i = 0; i < REPLAYS; i++)
		check(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
	if (what)
		expected[what] += REPLAYS;
}

static void update(cudaGraphExec_t exec, cudaGraph_t graph, const char *what)
{
	cudaGraphExecUpdateResultInfo info;

	check(cudaGraphExecUpdate(exec, graph, &info), "cudaGraphExecUpdate");
	check(cudaGraphDestroy(graph), "cudaGraphDestroy");
	replay(exec, what);
}

static cudaKernelNodeParams params_of(void (*kernel)(float *))
{
	static void *arguments[] = {&out};
	cudaKernelNodeParams params = {};

	params.func = (void *)kernel;
	params.gridDim = dim3(1);
	params.blockDim = dim3(32);
	params.kernelParams = arguments;
	return params;
}

static cudaGraphNode_t only_node(cudaGraph_t graph)
{
	cudaGraphNode_t node;
	size_t count = 1;

	check(cudaGraphGetNodes(graph, &node, &count), "cudaGraphGetNodes");
	return node;
}

FUNCTION void set_exec(cudaGraphExec_t exec, cudaGraphNode_t node, void (*kernel)(float *))
{
	cudaKernelNodeParams params = params_of(kernel);

	lines["set_exec"] = __LINE__ + 1;
	check(cudaGraphExecKernelNodeSetParams(exec, node, &params), "cudaGraphExecKernelNodeSetParams");
}

FUNCTION void rewrite(cudaGraphNode_t node)
{
	cudaKernelNodeParams params = params_of(other);

	lines["rewrite"] = __LINE__ + 1;
	check(cudaGraphKernelNodeSetParams(node, &params), "cudaGraphKernelNodeSetParams");
}

static cudaGraph_t conditional(cudaGraph_t graph, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
			       int size, cudaGraph_t *second)
{
	cudaGraphNodeParams params = {};
	cudaGraphNode_t nodes[16], node;
	size_t count = 16;

	check(cudaGraphGetNodes(graph, nodes, &count), "cudaGraphGetNodes");
	params.type = cudaGraphNodeTypeConditional;
	params.conditional.handle = handle;
	params.conditional.type = type;
	params.conditional.size = size;
#if CUDART_VERSION >= 13000
	check(cudaGraphAddNode(&node, graph, count ? &nodes[count - 1] : NULL, NULL, count > 0, &params), "cudaGraphAddNode");
#else
	check(cudaGraphAddNode(&node, graph, count ? &nodes[count - 1] : NULL, count > 0, &params), "cudaGraphAddNode");
#endif
	if (second)
		*second = params.conditional.phGraph_out[1];
	return params.conditional.phGraph_out[0];
}

static cudaGraphConditionalHandle handle_of(cudaGraph_t graph, int value)
{
	cudaGraphConditionalHandle handle;

	check(cudaGraphConditionalHandleCreate(&handle, graph, value, cudaGraphCondAssignDefault),
	      "cudaGraphConditionalHandleCreate");
	return handle;
}

static void run_changes()
{
	cudaGraphExec_t exec = instantiate(capture(first));
	cudaGraph_t graph = capture(kept);

	replay(exec, "first");
	update(exec, capture(second), "second");
	update(exec, capture(third), "third");
	exec = instantiate(graph);
	replay(exec, "kept");
	set_exec(exec, only_node(graph), other);
	replay(exec, "set_exec");
	set_exec(exec, only_node(graph), spin);
	replay(exec, "kept");
	graph = capture(replaced);
	replay(instantiate(graph), "replaced");
	rewrite(only_node(graph));
	replay(instantiate(graph), "rewrite");
}

static void run_conditional()
{
	cudaGraph_t graph, body, second;

	check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
	capture_to(graph, first);
	capture_to(conditional(graph, handle_of(graph, 1), cudaGraphCondTypeIf, 1, NULL), then_two);
	body = conditional(graph, handle_of(graph, 0), cudaGraphCondTypeIf, 2, &second);
	capture_to(body, then_two);
	capture_to(second, else_one);
	loop = handle_of(graph, 1);
	body = conditional(graph, loop, cudaGraphCondTypeWhile, 1, NULL);
	capture_to(body, loop_body);
	capture_to(conditional(body, handle_of(graph, 1), cudaGraphCondTypeIf, 1, NULL), nested);
	capture_to(body, loop_end);
	capture_to(graph, last);
	replay(instantiate(graph), "first");
	expected["then_two"] += 2 * REPLAYS;
	for (const char *once : {"else_one", "last"})
		expected[once] += REPLAYS;
	for (const char *round : {"loop_body", "nested", "loop_end"})
		expected[round] += ROUNDS * REPLAYS;
}

int main()
{
	int rounds = ROUNDS, all = 0;

	check(cudaMalloc(&out, 4096), "cudaMalloc");
	check(cudaMemset(out, 0, 4096), "cudaMemset");
	check(cudaMalloc(&left, sizeof(*left)), "cudaMalloc");
	check(cudaMemcpy(left, &rounds, sizeof(rounds), cudaMemcpyHostToDevice), "cudaMemcpy");
	check(cudaStreamCreate(&stream), "cudaStreamCreate");
	run_changes();
	run_conditional();
	check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
	for (auto &one : expected) {
		printf("origin %d %d %s\n", lines[one.first], one.second, one.first.c_str());
		all += one.second;
	}
	printf("expect kernels=%d\n", all);
	return 0;
}
