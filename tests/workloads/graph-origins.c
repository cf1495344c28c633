// SPDX-License-Identifier: BSD-2-Clause
// Graphs whose kernels come from functions of known names, replayed by another one. Each function
// adds kernels that run for a time of its own, so that GPU time says which function a kernel is of.
// embed() does so in the NVTX range "embedding"; replays are in "replaying".
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/workloads/nvtx_client.h"
#include "tests/workloads/program.h"

static const char help[] =
	"usage: graph-origins [-n REPLAYS] [--early] [--nodes N] [--copies] [--update]\n"
	"                     [--eager N] [--hold MS] [--linger]\n"
	"Replays a graph captured in embed() and head(), and one that build() makes of single\n"
	"nodes (--nodes N, 2). With --early another one, captured in early() before the program\n"
	"says \"ready\" and waits for a line. --copies: also a copy of a graph captured in "
	"copied(),\n"
	"of which another graph has a child. --update: a graph captured in before() is replayed, "
	"updated\n"
	"with one captured in after(), and replayed again. --eager N launches N kernels without a "
	"graph, in "
	"plain().\n"
	"--hold MS waits for so long before the replays, in the NVTX range \"replays\" around "
	"them. "
	"--linger\n"
	"waits until its input ends.\n";

#define EMBED_NS 30000
#define HEAD_NS	 10000
#define BUILD_NS 5000
#define EARLY_NS 7000
#define PLAIN_NS 2000
#define COPY_NS	 3000
#define OLD_NS	 8000
#define NEW_NS	 9000

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
FUNCTION void copied(void);
FUNCTION void before(void);
FUNCTION void after(void);
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
	push("embedding");
	captured(EMBED_NS);
	captured(EMBED_NS);
	pop();
}

void head(void)
{
	captured(HEAD_NS);
}

void early(void)
{
	captured(EARLY_NS);
}

void copied(void)
{
	captured(COPY_NS);
}

void before(void)
{
	captured(OLD_NS);
}

void after(void)
{
	captured(NEW_NS);
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

static void begin_capture(void)
{
	program__check(cuStreamBeginCapture_v2(stream, CU_CAPTURE_THREAD_LOCAL), "begin capture");
}

static CUgraph end_capture(void)
{
	CUgraph plan;

	program__check(cuStreamEndCapture(stream, &plan), "cuStreamEndCapture");
	return plan;
}

static FUNCTION CUgraphExec make_early(void)
{
	begin_capture();
	early();
	return instantiate(end_capture());
}

static FUNCTION CUgraphExec make_captured(void)
{
	begin_capture();
	embed();
	head();
	return instantiate(end_capture());
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
	push("replaying");
	program__check(counted__graph_launch(graph, stream, kernels, 0, 0, 0), "cuGraphLaunch");
	pop();
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
}

/* A copy in a graph, of a copy, of a copy that instantiating makes. */
static FUNCTION void run_copies(uint64_t replays)
{
	CUgraph plan, clone, outer;
	CUgraphNode child;
	CUgraphExec graph;

	begin_capture();
	copied();
	plan = end_capture();
	program__check(cuGraphClone(&clone, plan), "cuGraphClone");
	program__check(cuGraphCreate(&outer, 0), "cuGraphCreate");
	program__check(cuGraphAddChildGraphNode(&child, outer, NULL, 0, clone),
		       "cuGraphAddChildGraphNode");
	program__check(cuGraphDestroy(plan), "cuGraphDestroy");
	program__check(cuGraphDestroy(clone), "cuGraphDestroy");
	graph = instantiate(outer);
	for (uint64_t i = 0; i < replays; i++)
		replay(graph, 1);
	program__check(cuGraphExecDestroy(graph), "cuGraphExecDestroy");
}

static FUNCTION void run_update(uint64_t replays)
{
	CUgraphExec graph;
	CUgraph plan;

	begin_capture();
	before();
	graph = instantiate(end_capture());
	for (uint64_t i = 0; i < replays; i++)
		replay(graph, 1);
	begin_capture();
	after();
	plan = end_capture();
	program__check(cuGraphExecUpdate_v2(graph, plan, NULL), "cuGraphExecUpdate");
	program__check(cuGraphDestroy(plan), "cuGraphDestroy");
	for (uint64_t i = 0; i < replays; i++)
		replay(graph, 1);
	program__check(cuGraphExecDestroy(graph), "cuGraphExecDestroy");
}

static struct {
	uint64_t replays, nodes, eager, hold;
	bool early, copies, update, linger;
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
	push("replays");
	usleep(settings.hold * 1000);
	for (uint64_t i = 0; i < settings.replays; i++) {
		if (first)
			replay(first, 1);
		replay(second, 3);
		replay(third, settings.nodes);
	}
	pop();
	if (settings.copies)
		run_copies(settings.replays);
	if (settings.update)
		run_update(settings.replays);
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
	static const struct option options[] = {
		{"early", 0, NULL, 'e'},  {"nodes", 1, NULL, 'N'},  {"eager", 1, NULL, 'E'},
		{"copies", 0, NULL, 'c'}, {"update", 0, NULL, 'u'}, {"linger", 0, NULL, 'l'},
		{"hold", 1, NULL, 'o'},	  {"help", 0, NULL, 'h'},   {0}};
	int option;

	while ((option = getopt_long(argc, argv, "n:h", options, NULL)) != -1) {
		if (option == 'n')
			settings.replays = program__number(optarg, "-n");
		else if (option == 'N')
			settings.nodes = program__number(optarg, "--nodes");
		else if (option == 'E')
			settings.eager = program__number(optarg, "--eager");
		else if (option == 'o')
			settings.hold = program__number(optarg, "--hold");
		else if (option == 'e')
			settings.early = true;
		else if (option == 'c')
			settings.copies = true;
		else if (option == 'u')
			settings.update = true;
		else if (option == 'l')
			settings.linger = true;
		else
			return fputs(help, option == 'h' ? stdout : stderr), option == 'h' ? 0 : 2;
	}
	program__start(&program);
	initialize();
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
