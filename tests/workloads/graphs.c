// SPDX-License-Identifier: BSD-2-Clause
// Launches graphs between plain launches: one built node by node, one captured from a stream with a
// fill, kernels and a copy in it; and checks that every node ran.
#include <stdlib.h>
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] = "usage: graphs [LAUNCHES [NODES [runtime]]]\n"
			   "Launches two graphs LAUNCHES times each (20); the first has NODES "
			   "kernels (5). With runtime\n"
			   "by cudaGraphLaunch.\n";

#define N	 1024u
#define BYTES	 (N * sizeof(uint32_t))
#define CAPTURED 3 /* kernels in the captured graph */

static const struct shape shape = {{N / 256, 1, 1}, {256, 1, 1}, 0};

static uint64_t instantiations, created;

static CUgraphExec instantiate(CUgraph plan)
{
	CUgraphExec graph;

	program__check(cuGraphInstantiateWithFlags(&graph, plan, 0), "cuGraphInstantiate");
	instantiations++;
	program__check(cuGraphDestroy(plan), "cuGraphDestroy");
	return graph;
}

static CUgraphExec build(CUfunction kernel, unsigned int nodes, void **parameters)
{
	CUDA_KERNEL_NODE_PARAMS node = {.func = kernel,
					.gridDimX = N / 256,
					.gridDimY = 1,
					.gridDimZ = 1,
					.blockDimX = 256,
					.blockDimY = 1,
					.blockDimZ = 1,
					.kernelParams = parameters};
	CUgraphNode last = NULL, next;
	CUgraph plan;

	program__check(cuGraphCreate(&plan, 0), "cuGraphCreate");
	for (unsigned int i = 0; i < nodes; i++) {
		program__check(cuGraphAddKernelNode_v2(&next, plan, &last, i > 0, &node),
			       "cuGraphAddKernelNode");
		last = next;
		created++;
	}
	return instantiate(plan);
}

/* Fills and copies while capturing become nodes and do nothing yet, so they are not counted here.
 */
static CUgraphExec capture(CUfunction kernel, CUstream stream, CUdeviceptr data, CUdeviceptr copy,
			   void **parameters)
{
	CUgraph plan;

	program__check(cuStreamBeginCapture_v2(stream, CU_CAPTURE_THREAD_LOCAL), "begin capture");
	program__check(cuMemsetD8Async(data, 0, BYTES, stream), "cuMemsetD8Async");
	for (int i = 0; i < CAPTURED; i++)
		program__check(counted__captured(cuLaunchKernel(kernel, N / 256, 1, 1, 256, 1, 1, 0,
								stream, parameters, NULL)),
			       "cuLaunchKernel");
	program__check(cuMemcpyDtoDAsync_v2(copy, data, BYTES, stream), "cuMemcpyDtoDAsync");
	program__check(cuStreamEndCapture(stream, &plan), "cuStreamEndCapture");
	created += 1 + CAPTURED + 1;
	return instantiate(plan);
}

static CUdeviceptr allocate(void)
{
	CUdeviceptr data;

	program__check(counted__alloc(cuMemAlloc_v2(&data, BYTES), BYTES), "cuMemAlloc");
	return data;
}

static void expect_value(CUdeviceptr data, uint32_t value, const char *what)
{
	uint32_t host[N];

	program__check(counted__copy(cuMemcpyDtoH_v2(host, data, BYTES), BYTES), "cuMemcpyDtoH");
	if (host[0] != value || host[N - 1] != value)
		program__fail("%s: counted %u instead of %u", what, host[0], value);
}

int main(int argc, char **argv)
{
	uint32_t n = N, launches, nodes;
	struct program program;
	CUgraphExec built, captured;
	CUdeviceptr data, other, copy;
	CUfunction kernel;
	CUstream stream;
	void *parameters[] = {&n, &data}, *others[] = {&n, &other};

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	launches = argc > 1 ? program__number(argv[1], "LAUNCHES") : 20;
	nodes = argc > 2 ? program__number(argv[2], "NODES") : 5;
	if (argc > 3 && !strcmp(argv[3], "runtime"))
		program__launch_graphs_by_runtime();
	program__start(&program);
	kernel = program__kernel(&program, "increment");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	data = allocate();
	other = allocate();
	copy = allocate();
	program__check(counted__set(cuMemsetD8Async(data, 0, BYTES, stream)), "cuMemsetD8Async");
	built = build(kernel, nodes, parameters);
	captured = capture(kernel, stream, other, copy, others);
	for (uint32_t i = 0; i < launches; i++) {
		program__check(counted__graph_launch(built, stream, nodes, 0, 0, 0),
			       "cuGraphLaunch");
		program__check(counted__launch(kernel, &shape, stream, parameters),
			       "cuLaunchKernel");
		program__check(counted__graph_launch(captured, stream, CAPTURED, 1, BYTES, 1),
			       "cuGraphLaunch");
	}
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	expect_value(data, launches * (nodes + 1), "built graph");
	if (launches)
		expect_value(copy, CAPTURED, "captured graph");
	program__check(cuGraphExecDestroy(built), "cuGraphExecDestroy");
	program__check(cuGraphExecDestroy(captured), "cuGraphExecDestroy");
	program__check(counted__free(cuMemFree_v2(data), BYTES), "cuMemFree");
	program__check(counted__free(cuMemFree_v2(other), BYTES), "cuMemFree");
	program__check(counted__free(cuMemFree_v2(copy), BYTES), "cuMemFree");
	program__check(cuStreamDestroy_v2(stream), "cuStreamDestroy");
	program__also("instantiations", instantiations);
	program__also("created_nodes", created);
	program__expect();
	return 0;
}
