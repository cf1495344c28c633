// SPDX-License-Identifier: BSD-2-Clause
// Graphs whose kernels come from functions of known names, replayed by another one. Each function
// adds kernels that run for a time of its own, so that GPU time says which function a kernel is of.
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: graph-origins [-n REPLAYS] [--early] [--nodes N] [--eager N] [--linger]\n"
	"Replays a graph captured in embed() and head(), and one that build() makes of single\n"
	"nodes (--nodes N, 2). With --early another one, captured in early() before the program\n"
	"says \"ready\" and waits for a line. --eager N launches N kernels without a graph, in "
	"plain().\n"
	"--linger waits until its input ends.\n";

#define EMBED_NS 30000
#define HEAD_NS	 10000
#define BUILD_NS 5000
#define EARLY_NS 7000
#define PLAIN_NS 2000

/* The optimiser may not fold a function into its caller, nor two of them into one. */
#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noclone))
#endif

static struct program program;
static CUfunction spin;
static CUstream stream;

FUNCTION void embed(void);
FUNCTION void head(void);
FUNCTION void early(void);
FUNCTION void plain(void);
FUNCTION void build(CUgraph plan, uint64_t nodes);
FUNCTION void replay(CUgraphExec graph, uint64_t kernels);

static FUNCTION void captured(uint64_t ns)
{
	void *parameters[] = {&ns};

	program__check(counted__captured(
			       cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL)),
		       "cuLaunchKernel");
}

void embed(void)
{
	captured(EMBED_NS);
	captured(EMBED_NS);
}

void head(void)
{
	captured(HEAD_NS);
}

void early(void)
{
	captured(EARLY_NS);
}

void plain(void)
{
	static const struct shape shape = {{1, 1, 1}, {1, 1, 1}, 0};
	uint64_t ns = PLAIN_NS;
	void *parameters[] = {&ns};

	program__check(counted__launch(spin, &shape, stream, parameters), "cuLaunchKernel");
}

void build(CUgraph plan, uint64_t nodes)
{
	uint64_t ns = BUILD_NS;
	void *parameters[] = {&ns};
	CUDA_KERNEL_NODE_PARAMS node = {.func = spin,
					.gridDimX = 1,
					.gridDimY = 1,
					.gridDimZ = 1,
					.blockDimX = 1,
					.blockDimY = 1,
					.blockDimZ = 1,
					.kernelParams = parameters};
	CUgraphNode last = NULL, next;

	for (uint64_t i = 0; i < nodes; i++) {
		program__check(cuGraphAddKernelNode_v2(&next, plan, &last, i > 0, &node),
			       "cuGraphAddKernelNode");
		last = next;
	}
}

static CUgraphExec instantiate(CUgraph plan)
{
	CUgraphExec graph;

	program__check(cuGraphInstantiateWithFlags(&graph, plan, 0), "cuGraphInstantiate");
	program__check(cuGraphDestroy(plan), "cuGraphDestroy");
	return graph;
}

static void begin(void)
{
	program__check(cuStreamBeginCapture_v2(stream, CU_CAPTURE_THREAD_LOCAL), "begin capture");
}

static CUgraph end(void)
{
	CUgraph plan;

	program__check(cuStreamEndCapture(stream, &plan), "cuStreamEndCapture");
	return plan;
}

static FUNCTION CUgraphExec make_early(void)
{
	begin();
	early();
	return instantiate(end());
}

static FUNCTION CUgraphExec make_captured(void)
{
	begin();
	embed();
	head();
	return instantiate(end());
}

static FUNCTION CUgraphExec make_built(uint64_t nodes)
{
	CUgraph plan;

	program__check(cuGraphCreate(&plan, 0), "cuGraphCreate");
	build(plan, nodes);
	return instantiate(plan);
}

void replay(CUgraphExec graph, uint64_t kernels)
{
	program__check(counted__graph_launch(graph, stream, kernels, 0, 0, 0), "cuGraphLaunch");
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
}

static struct {
	uint64_t replays, nodes, eager;
	bool early, linger;
} settings = {.replays = 5, .nodes = 2};

static FUNCTION void run(void)
{
	CUgraphExec first = NULL, second, third;

	if (settings.early) {
		first = make_early();
		puts("ready");
		fflush(stdout);
		getchar();
	}
	second = make_captured();
	third = make_built(settings.nodes);
	for (uint64_t i = 0; i < settings.replays; i++) {
		if (first)
			replay(first, 1);
		replay(second, 3);
		replay(third, settings.nodes);
	}
	for (uint64_t i = 0; i < settings.eager; i++)
		plain();
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	if (first)
		program__check(cuGraphExecDestroy(first), "cuGraphExecDestroy");
	program__check(cuGraphExecDestroy(second), "cuGraphExecDestroy");
	program__check(cuGraphExecDestroy(third), "cuGraphExecDestroy");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"early", 0, NULL, 'e'}, {"nodes", 1, NULL, 'N'},
						{"eager", 1, NULL, 'E'}, {"linger", 0, NULL, 'l'},
						{"help", 0, NULL, 'h'},	 {0}};
	int option;

	while ((option = getopt_long(argc, argv, "n:h", options, NULL)) != -1) {
		if (option == 'n')
			settings.replays = program__number(optarg, "-n");
		else if (option == 'N')
			settings.nodes = program__number(optarg, "--nodes");
		else if (option == 'E')
			settings.eager = program__number(optarg, "--eager");
		else if (option == 'e')
			settings.early = true;
		else if (option == 'l')
			settings.linger = true;
		else
			return fputs(help, option == 'h' ? stdout : stderr), option == 'h' ? 0 : 2;
	}
	program__start(&program);
	spin = program__kernel(&program, "spin");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	run();
	program__check(cuStreamDestroy_v2(stream), "cuStreamDestroy");
	program__expect();
	fflush(stdout);
	while (settings.linger && getchar() != EOF)
		;
	return 0;
}
