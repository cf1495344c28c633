// SPDX-License-Identifier: BSD-2-Clause
// Graphs that are changed after they were created, and conditional nodes. Each kernel comes from a
// function of a known name and runs for a time of its own, so that GPU time says which function a
// kernel is of.
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: graph-changes [-n REPLAYS] [--linger]\n"
	"Replays graphs, REPLAYS times after each change (3):\n"
	"- one captured in first(), updated with one captured in second(), then with one of "
	"third();\n"
	"- one captured in kept(), whose node gets another kernel in replace(), the first one "
	"again in\n"
	"  restore(), and other parameters in retime();\n"
	"- one captured in replaced(), whose node gets another kernel in rewrite(), instantiated "
	"then;\n"
	"- one that is updated with that one;\n"
	"- one with conditional nodes: an if with two kernels of then_branch(); an if whose else "
	"has one\n"
	"  of else_branch(); and a loop of 4 rounds with one of loop_body() and an if with one of "
	"nested().\n"
	"--linger waits until its input ends.\n";

#define FIRST_NS  10000
#define SECOND_NS 11000
#define THIRD_NS  12000
#define KEPT_NS	  13000
#define RETIME_NS 14000
#define THEN_NS	  15000
#define ELSE_NS	  16000
#define LOOP_NS	  17000
#define NESTED_NS 18000
#define LAST_NS	  19000
#define ROUNDS	  4

/* The optimiser may not fold a function into its caller, nor two of them into one. */
#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noclone))
#endif

static struct program program;
static CUfunction spin, increment;
static CUstream stream;
static uint64_t replays = 3;

FUNCTION void first(void);
FUNCTION void second(void);
FUNCTION void third(void);
FUNCTION void kept(void);
FUNCTION void replaced(void);
FUNCTION void then_branch(void);
FUNCTION void else_branch(void);
FUNCTION void loop_body(void);
FUNCTION void nested(void);
FUNCTION void last(void);
FUNCTION void replace(CUgraphExec graph, CUgraphNode node);
FUNCTION void restore(CUgraphExec graph, CUgraphNode node);
FUNCTION void retime(CUgraphExec graph, CUgraphNode node);
FUNCTION void rewrite(CUgraphNode node);

static FUNCTION void captured(uint64_t ns)
{
	void *parameters[] = {&ns};

	program__check(counted__captured(
			       cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL)),
		       "cuLaunchKernel");
}

#define CAPTURES(function, ns) \
	void function(void)    \
	{                      \
		captured(ns);  \
	}
CAPTURES(first, FIRST_NS)
CAPTURES(second, SECOND_NS)
CAPTURES(third, THIRD_NS)
CAPTURES(kept, KEPT_NS)
CAPTURES(replaced, KEPT_NS)
CAPTURES(else_branch, ELSE_NS)
CAPTURES(loop_body, LOOP_NS)
CAPTURES(nested, NESTED_NS)
CAPTURES(last, LAST_NS)

void then_branch(void)
{
	captured(THEN_NS);
	captured(THEN_NS);
}

static CUgraph capture(void (*function)(void))
{
	CUgraph plan;

	program__check(cuStreamBeginCapture_v2(stream, CU_CAPTURE_THREAD_LOCAL), "begin capture");
	function();
	program__check(cuStreamEndCapture(stream, &plan), "cuStreamEndCapture");
	return plan;
}

static void capture_to(CUgraph plan, void (*function)(void))
{
	CUgraph same;

	program__check(
		cuStreamBeginCaptureToGraph(stream, plan, NULL, NULL, 0, CU_CAPTURE_THREAD_LOCAL),
		"cuStreamBeginCaptureToGraph");
	function();
	program__check(cuStreamEndCapture(stream, &same), "cuStreamEndCapture");
}

static CUgraphExec instantiate(CUgraph plan)
{
	CUgraphExec graph;

	program__check(cuGraphInstantiateWithFlags(&graph, plan, 0), "cuGraphInstantiate");
	return graph;
}

static void replay(CUgraphExec graph, uint64_t kernels)
{
	for (uint64_t i = 0; i < replays; i++)
		program__check(counted__graph_launch(graph, stream, kernels, 0, 0, 0),
			       "cuGraphLaunch");
}

static void update(CUgraphExec graph, CUgraph plan)
{
	program__check(cuGraphExecUpdate_v2(graph, plan, NULL), "cuGraphExecUpdate");
	program__check(cuGraphDestroy(plan), "cuGraphDestroy");
	replay(graph, 1);
}

static CUgraphNode only_node(CUgraph plan)
{
	CUgraphNode node;
	size_t count = 1;

	program__check(cuGraphGetNodes(plan, &node, &count), "cuGraphGetNodes");
	return node;
}

static CUDA_KERNEL_NODE_PARAMS of(CUfunction function, void **parameters)
{
	return (CUDA_KERNEL_NODE_PARAMS){.func = function,
					 .gridDimX = 1,
					 .gridDimY = 1,
					 .gridDimZ = 1,
					 .blockDimX = 1,
					 .blockDimY = 1,
					 .blockDimZ = 1,
					 .kernelParams = parameters};
}

static void set_spin(CUgraphExec graph, CUgraphNode node, uint64_t ns)
{
	void *parameters[] = {&ns};
	CUDA_KERNEL_NODE_PARAMS params = of(spin, parameters);

	program__check(cuGraphExecKernelNodeSetParams_v2(graph, node, &params), "set parameters");
}

void replace(CUgraphExec graph, CUgraphNode node)
{
	uint32_t n = 0;
	uint32_t *none = NULL;
	void *parameters[] = {&n, &none};
	CUDA_KERNEL_NODE_PARAMS params = of(increment, parameters);

	program__check(cuGraphExecKernelNodeSetParams_v2(graph, node, &params), "set parameters");
}

void restore(CUgraphExec graph, CUgraphNode node)
{
	set_spin(graph, node, KEPT_NS);
}

void retime(CUgraphExec graph, CUgraphNode node)
{
	set_spin(graph, node, RETIME_NS);
}

void rewrite(CUgraphNode node)
{
	uint32_t n = 0;
	uint32_t *none = NULL;
	void *parameters[] = {&n, &none};
	CUDA_KERNEL_NODE_PARAMS params = of(increment, parameters);

	program__check(cuGraphKernelNodeSetParams_v2(node, &params), "cuGraphKernelNodeSetParams");
}

static FUNCTION void run_updates(void)
{
	CUgraphExec graph = instantiate(capture(first));

	replay(graph, 1);
	update(graph, capture(second));
	update(graph, capture(third));
}

static FUNCTION void run_parameters(void)
{
	CUgraph plan = capture(kept);
	CUgraphExec graph = instantiate(plan);
	CUgraphNode node = only_node(plan);

	replay(graph, 1);
	replace(graph, node);
	replay(graph, 1);
	restore(graph, node);
	replay(graph, 1);
	retime(graph, node);
	replay(graph, 1);
}

static FUNCTION void run_rewritten(void)
{
	CUgraph plan = capture(replaced);
	CUgraphExec graph = instantiate(plan), updated;

	replay(graph, 1);
	rewrite(only_node(plan));
	graph = instantiate(plan);
	replay(graph, 1);
	updated = instantiate(capture(first));
	update(updated, plan);
}

static CUgraph add_conditional(CUgraph plan, CUgraph handles_of, int type, unsigned int size,
			       unsigned int value, CUgraph *second)
{
	CUgraphNodeParams params = {.type = 13};
	CUgraphNode node;

	program__check(cuGraphConditionalHandleCreate(&params.conditional.handle, handles_of, NULL,
						      value, 1),
		       "cuGraphConditionalHandleCreate");
	params.conditional.type = type;
	params.conditional.size = size;
	program__check(cuGraphAddNode_v2(&node, plan, NULL, NULL, 0, &params), "cuGraphAddNode");
	if (second)
		*second = params.conditional.phGraph_out[1];
	return params.conditional.phGraph_out[0];
}

static FUNCTION void run_conditional(void)
{
	CUgraph plan, body, other;

	program__check(cuGraphCreate(&plan, 0), "cuGraphCreate");
	body = add_conditional(plan, plan, 0, 1, 1, NULL);
	capture_to(body, then_branch);
	body = add_conditional(plan, plan, 0, 2, 0, &other);
	capture_to(body, then_branch);
	capture_to(other, else_branch);
	body = add_conditional(plan, plan, 1, 1, ROUNDS, NULL);
	capture_to(body, loop_body);
	capture_to(add_conditional(body, plan, 0, 1, 1, NULL), nested);
	capture_to(plan, last);
	replay(instantiate(plan), 2 + 1 + 2 * ROUNDS + 1);
}

static FUNCTION void run(void)
{
	run_updates();
	run_parameters();
	run_rewritten();
	run_conditional();
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"linger", 0, NULL, 'l'}, {"help", 0, NULL, 'h'}, {0}};
	bool linger = false;
	int option;

	while ((option = getopt_long(argc, argv, "n:h", options, NULL)) != -1) {
		if (option == 'n')
			replays = program__number(optarg, "-n");
		else if (option == 'l')
			linger = true;
		else
			return fputs(help, option == 'h' ? stdout : stderr), option == 'h' ? 0 : 2;
	}
	program__start(&program);
	spin = program__kernel(&program, "spin");
	increment = program__kernel(&program, "increment");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	run();
	program__check(cuStreamDestroy_v2(stream), "cuStreamDestroy");
	program__expect();
	fflush(stdout);
	while (linger && getchar() != EOF)
		;
	return 0;
}
