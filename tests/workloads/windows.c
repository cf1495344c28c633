// SPDX-License-Identifier: BSD-2-Clause
// Work inside and outside of windows that a tracer may collect: NVTX ranges, or the time between
// cudaProfilerStart() and cudaProfilerStop(). The last line also has what was made inside:
// in_launches (kernels), in_graphs, in_kernels, in_memcpys, in_memsets, in_allocs, in_syncs; and
// windows, with the least and the most ns that they can have lasted together.
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "tests/simcuda/cudart.h"
#include "tests/workloads/nvtx_client.h"

static const char help[] =
	"usage: windows MODE [ROUNDS]\n"
	"ROUNDS (10) of work outside and inside of a window, by MODE:\n"
	"  range     a pushed range 'step' that holds others\n"
	"  started   a start/end range 'step', ended by another thread\n"
	"  domain    a pushed range 'step' of the domain 'loop', with one of the same\n"
	"            name around all in the default domain\n"
	"  torch     pushed ranges 'ProfilerStep#1' ..., with work between them\n"
	"  threads   'step' in two threads at a time, of which one ends later\n"
	"  open      'step' begins in the middle and never ends\n"
	"  profiler  cudaProfilerStart() and cudaProfilerStop()\n"
	"  driver    cuProfilerStart() and cuProfilerStop()\n"
	"  long      a pushed range 'step' of 300 ms, after 900 ms\n";

#define NODES	   3
#define SPIN_NS	   3000000ull /* of the kernel that outlasts its window */
#define OUTSIDE_NS 5000000ull
#define LONG_NS	   300000000ull

static struct counts {
	uint64_t launches, graphs, kernels, memcpys, memsets, allocs, syncs;
} inside;
static uint64_t windows, least_ns, most_ns;
static uint64_t opening, opened;
static CUfunction empty, spin;
static CUgraphExec graph;
static CUstream stream;
static CUdeviceptr memory;
static void *domain;
static struct program program;

static void make_graph(void)
{
	CUDA_KERNEL_NODE_PARAMS node = {.func = empty,
					.gridDimX = 1,
					.gridDimY = 1,
					.gridDimZ = 1,
					.blockDimX = 32,
					.blockDimY = 1,
					.blockDimZ = 1};
	CUgraphNode last = NULL, next;
	CUgraph plan;

	program__check(cuGraphCreate(&plan, 0), "cuGraphCreate");
	for (int i = 0; i < NODES; i++, last = next)
		program__check(cuGraphAddKernelNode_v2(&next, plan, &last, i > 0, &node), "node");
	program__check(cuGraphInstantiateWithFlags(&graph, plan, 0), "instantiate");
}

static void launch(CUfunction kernel, uint64_t ns)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};
	void *parameters[] = {&ns};

	program__check(counted__launch(kernel, &shape, stream, kernel == spin ? parameters : NULL),
		       "cuLaunchKernel");
}

/* Everything of each kind, and at last a kernel that runs longer than all of it. */
static void work(struct counts *counts)
{
	static char host[64];

	launch(empty, 0);
	program__check(counted__copy(cuMemcpyHtoDAsync_v2(memory, host, sizeof(host), stream),
				     sizeof(host)),
		       "copy");
	program__check(counted__set(cuMemsetD8Async(memory, 0, sizeof(host), stream)), "set");
	program__check(counted__graph_launch(graph, stream, NODES, 0, 0, 0), "graph");
	launch(spin, SPIN_NS);
	if (!counts)
		return;
	counts->launches += 2;
	counts->graphs++;
	counts->kernels += 2 + NODES;
	counts->memcpys++;
	counts->memsets++;
}

static void wait_for_all(struct counts *counts)
{
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	if (counts)
		counts->syncs++;
}

static void before_open(void)
{
	opening = program__now();
}

static void after_open(void)
{
	opened = program__now();
	windows++;
}

static uint64_t before_close(void)
{
	return program__now();
}

static void after_close(uint64_t closing)
{
	least_ns += closing - opened;
	most_ns += program__now() - opening;
}

static void outside(void)
{
	uint64_t until = program__now() + OUTSIDE_NS;

	work(NULL);
	wait_for_all(NULL);
	while (program__now() < until)
		usleep(100);
}

static void in_range(uint64_t round)
{
	uint64_t closing;

	push("around");
	before_open();
	push("step");
	after_open();
	push("step");
	work(&inside);
	pop();
	if (round % 2)
		wait_for_all(&inside);
	closing = before_close();
	pop();
	after_close(closing);
	work(NULL);
	pop();
}

static void *end_elsewhere(void *range)
{
	end(*(uint64_t *)range);
	return NULL;
}

static void in_started(void)
{
	uint64_t range, closing;
	pthread_t thread;

	before_open();
	range = start("step");
	after_open();
	work(&inside);
	closing = before_close();
	if (pthread_create(&thread, NULL, end_elsewhere, &range))
		program__fail("no thread");
	pthread_join(thread, NULL);
	after_close(closing);
}

static void in_domain(void)
{
	uint64_t closing;

	before_open();
	domain_event(DOMAIN_PUSH_EX, domain, NULL, "step");
	after_open();
	work(&inside);
	closing = before_close();
	domain_pop(domain);
	after_close(closing);
}

/* Only what is in the steps counts as inside: what a tracer skips is up to it. */
static void in_torch(uint64_t round)
{
	char name[64];
	uint64_t closing;

	snprintf(name, sizeof(name), "ProfilerStep#%llu", (unsigned long long)round);
	before_open();
	push(name);
	after_open();
	work(&inside);
	closing = before_close();
	pop();
	after_close(closing);
}

static pthread_barrier_t barrier;

static void *in_thread(void *unused)
{
	program__check(cuCtxSetCurrent(program.context), "cuCtxSetCurrent");
	pthread_barrier_wait(&barrier);
	push("step");
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	work(&inside);
	pop();
	return NULL;
}

static void in_threads(void)
{
	uint64_t closing;
	pthread_t thread;

	if (pthread_barrier_init(&barrier, NULL, 2) ||
	    pthread_create(&thread, NULL, in_thread, NULL))
		program__fail("no thread");
	before_open();
	push("step");
	after_open();
	work(&inside);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	closing = before_close();
	pop();
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	after_close(closing);
}

static void by_profiler(bool by_runtime)
{
	uint64_t closing;

	before_open();
	program__check(by_runtime ? (CUresult)cudaProfilerStart() : cuProfilerStart(), "start");
	after_open();
	work(&inside);
	closing = before_close();
	program__check(by_runtime ? (CUresult)cudaProfilerStop() : cuProfilerStop(), "stop");
	after_close(closing);
}

static void work_for(uint64_t ns, struct counts *counts)
{
	uint64_t until = program__now() + ns;

	while (program__now() < until) {
		launch(empty, 0);
		if (counts) {
			counts->launches++;
			counts->kernels++;
		}
		wait_for_all(counts);
		usleep(1000);
	}
}

static void in_long(void)
{
	uint64_t closing;

	work_for(3 * LONG_NS, NULL);
	before_open();
	push("step");
	after_open();
	work_for(LONG_NS, &inside);
	closing = before_close();
	pop();
	after_close(closing);
}

static void open_for_ever(uint64_t round, uint64_t rounds)
{
	static bool is_open;

	if (round == rounds / 2) {
		before_open();
		push("step");
		after_open();
		is_open = true;
	}
	if (is_open)
		work(&inside);
}

static void one_round(const char *mode, uint64_t round, uint64_t rounds)
{
	if (strcmp(mode, "open") && strcmp(mode, "long"))
		outside();
	if (!strcmp(mode, "range"))
		in_range(round);
	else if (!strcmp(mode, "started"))
		in_started();
	else if (!strcmp(mode, "domain"))
		in_domain();
	else if (!strcmp(mode, "long"))
		in_long();
	else if (!strcmp(mode, "torch"))
		in_torch(round);
	else if (!strcmp(mode, "threads"))
		in_threads();
	else if (!strcmp(mode, "open"))
		open_for_ever(round, rounds);
	else if (!strcmp(mode, "profiler") || !strcmp(mode, "driver"))
		by_profiler(!strcmp(mode, "profiler"));
	else
		program__fail("no mode %s", mode);
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 2 ? program__number(argv[2], "ROUNDS") : 10;

	if (argc < 2 || !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	program__start(&program);
	initialize();
	domain = domain_create("loop");
	empty = program__kernel(&program, "empty");
	spin = program__kernel(&program, "spin");
	program__check(cuStreamCreate(&stream, 0), "cuStreamCreate");
	program__check(counted__alloc(cuMemAlloc_v2(&memory, 4096), 4096), "cuMemAlloc");
	make_graph();
	if (!strcmp(argv[1], "domain"))
		push("step");
	for (uint64_t i = 0; i < rounds; i++)
		one_round(argv[1], i, rounds);
	if (!strcmp(argv[1], "domain"))
		pop();
	wait_for_all(strcmp(argv[1], "open") ? NULL : &inside);
	if (!strcmp(argv[1], "open"))
		after_close(program__now());
	program__also("in_launches", inside.launches);
	program__also("in_graphs", inside.graphs);
	program__also("in_kernels", inside.kernels);
	program__also("in_memcpys", inside.memcpys);
	program__also("in_memsets", inside.memsets);
	program__also("in_syncs", inside.syncs);
	program__also("windows", windows);
	program__also("least_ns", least_ns);
	program__also("most_ns", most_ns);
	program__expect();
	return 0;
}
