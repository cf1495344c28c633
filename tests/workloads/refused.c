// SPDX-License-Identifier: BSD-2-Clause
// Calls of both APIs that are refused for their arguments. Each prints these as a line of JSON,
// with the keys of `cuda-trace trace`; where they pass addresses there is nothing at most of them.
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include "tests/simcuda/cudart.h"
#include "tests/workloads/program.h"

static const char help[] = "usage: refused\n"
			   "Some calls that fail, each said on a line of its own.\n";

#define NOWHERE 0x4000ull

static bool some_were_not;

static bool is_refused(int result, const char *call)
{
	if (result)
		return true;
	fprintf(stderr, "refused: %s was not\n", call);
	some_were_not = true;
	return false;
}

static void refused(int result, const char *call, const char *arguments)
{
	if (is_refused((int)counted__result((CUresult)result), call))
		printf("{\"call\":\"%s\",%s}\n", call, arguments);
}

/* Of no graph: there is nothing to say of them. */
static void refuse_graph(const char *call)
{
	if (is_refused((int)counted__graph_launch(NULL, NULL, 0, 0, 0, 0), call))
		printf("{\"call\":\"%s\"}\n", call);
}

static void refuse_runtime(cudaKernel_t kernel)
{
	const dim3 grid = {3, 2, 1}, block = {4096, 1, 1};
	void *none = (void *)NOWHERE, *memory;
	char here[64];

	refused(cudaMalloc(&memory, 1ull << 46), "cudaMalloc", "\"bytes\":70368744177664");
	/* For its flags: none is requested. */
	refused(cudaMallocManaged(&memory, 59, 0), "cudaMallocManaged", "\"bytes\":59");
	refused(cudaFree(none), "cudaFree", "\"address\":\"0x4000\"");
	refused(cudaMemcpy(none, here, 63, cudaMemcpyHostToDevice), "cudaMemcpy",
		"\"bytes\":63,\"direction\":\"HtoD\"");
	refused(cudaMemcpy(here, none, 62, cudaMemcpyDeviceToHost), "cudaMemcpy",
		"\"bytes\":62,\"direction\":\"DtoH\"");
	refused(cudaMemcpyAsync(none, none, 61, cudaMemcpyDeviceToDevice, NULL), "cudaMemcpyAsync",
		"\"bytes\":61,\"direction\":\"DtoD\"");
	refused(cudaMemset(none, 7, 60), "cudaMemset", "\"bytes\":60,\"value\":7");
	refused(cudaSetDevice(99), "cudaSetDevice", "\"device\":99");
	refused(cudaLaunchKernel(kernel, grid, block, NULL, 1024, NULL), "cudaLaunchKernel",
		"\"grid\":[3,2,1],\"block\":[4096,1,1],\"dynamic_shared\":1024,"
		"\"kernel\":\"empty\"");
	atomic_fetch_add(&truth.launches, 1);
	atomic_fetch_add(&truth.launch_errors, 1);
}

static void refuse_driver(void)
{
	CUgraphExec graph;
	CUdeviceptr memory;
	CUdevice device;

	refused(cuMemAlloc_v2(&memory, 1ull << 47), "cuMemAlloc_v2", "\"bytes\":140737488355328");
	refused(cuMemFree_v2(NOWHERE + 1), "cuMemFree_v2", "\"address\":\"0x4001\"");
	refused(cuMemcpyHtoD_v2(NOWHERE, &device, 4), "cuMemcpyHtoD_v2",
		"\"bytes\":4,\"direction\":\"HtoD\"");
	refused(cuMemsetD32_v2(NOWHERE, 0x80000001, 5), "cuMemsetD32_v2",
		"\"bytes\":20,\"value\":2147483649");
	refused(cuDeviceGet(&device, -3), "cuDeviceGet", "\"device\":-3");
	if (is_refused((int)counted__result(cuGraphInstantiateWithFlags(&graph, NULL, 0)),
		       "cuGraphInstantiateWithFlags"))
		puts("{\"call\":\"cuGraphInstantiateWithFlags\"}");
}

int main(int argc, char **argv)
{
	cudaLibrary_t library;
	cudaKernel_t kernel;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	if (cudaLibraryLoadData(&library, program_kernels, NULL, NULL, 0, NULL, NULL, 0) ||
	    cudaLibraryGetKernel(&kernel, library, "empty"))
		program__fail("no kernel");
	refuse_runtime(kernel);
	refuse_driver();
	refuse_graph("cuGraphLaunch");
	program__launch_graphs_by_runtime();
	refuse_graph("cudaGraphLaunch");
	program__expect();
	return some_were_not;
}
