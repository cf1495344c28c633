// SPDX-License-Identifier: BSD-2-Clause
/*
 * Launches empty kernels as fast as it can and says each interval how long one launch took, so that
 * somebody can attach and detach meanwhile. One line an interval on stdout:
 *
 *   SECONDS LAUNCHES NS_PER_LAUNCH     (CLOCK_MONOTONIC; launches and mean since the last line)
 *
 * The mean is of each thread's wall time, waiting for the GPU after every 512 launches included:
 * what a launch-bound program would see. With -u it is of each thread's CPU time: for a machine on
 * which others run, and programs that wait for nothing.
 *
 * SIGUSR1 ends it before its time. With -p each launching thread keeps to a CPU of its own, from
 * the last one down. With -c it takes commands on its standard input, a line each, and answers with
 * a line "= COMMAND" when that is done: "launch", "kernel" or "default" switches CUPTI on by
 * itself, with callbacks that do nothing (alone.h); "off" switches it off again;
 * "where" asks for the address of cuLaunchKernel; "gate STATE" passes that on to gate.c; "load"
 * does with the library that LAUNCH_RATE_AGENT names what cuInit() does with an injection.
 *
 * With -g every eighth launch is a graph of four kernels; with -m
 * every eighth is a copy of 4 KiB to the GPU, every eighth a memset, every 128th an allocation and
 * its end. With -o KINDS nothing is launched: c(opies), f(ills), a(llocations and their ends),
 * g(raphs that are made and thrown away) and w(aits) in turn, as these letters say. The last line
 * is the ground truth that all workloads print.
 */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/bench/alone.h"
#include "tests/simcuda/cuda.h"

#define SYNC_EVERY 512 /* below the depth of the GPU's queue, where a launch would block */

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
			  ".visible .entry empty()\n{\n\tret;\n}\n";

static CUcontext context;
static CUfunction function;
static clockid_t launch_clock = CLOCK_MONOTONIC;
static int with_graphs, mixed, pinned, commanded;
static const char *only; /* these kinds of calls, and no launch */
static atomic_bool stop;
static volatile sig_atomic_t must_end; /* to end */

struct worker {
	pthread_t thread;
	int cpu;
	_Alignas(64) _Atomic uint64_t launches, graph_launches, others;
	_Atomic uint64_t ns; /* these took by launch_clock */
};

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint64_t now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static void check(CUresult result, const char *what)
{
	if (result) {
		fprintf(stderr, "launch-rate: %s: error %d\n", what, result);
		exit(1);
	}
}

static CUgraphExec make_graph(CUgraph *plan)
{
	CUDA_KERNEL_NODE_PARAMS params = {.func = function,
					  .gridDimX = 1,
					  .gridDimY = 1,
					  .gridDimZ = 1,
					  .blockDimX = 1,
					  .blockDimY = 1,
					  .blockDimZ = 1};
	CUgraphNode node, last = NULL;
	CUgraphExec exec;
	CUgraph graph;

	check(cuGraphCreate(&graph, 0), "cuGraphCreate");
	for (int i = 0; i < 4; i++, last = node)
		check(cuGraphAddKernelNode_v2(&node, graph, last ? &last : NULL, last != NULL,
					      &params),
		      "cuGraphAddKernelNode");
	check(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
	*plan = graph;
	return exec;
}

static void make_and_end_graph(void)
{
	CUgraph plan;
	CUgraphExec exec = make_graph(&plan);

	check(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
	check(cuGraphDestroy(plan), "cuGraphDestroy");
}

struct memory {
	CUdeviceptr device;
	void *host;
};

static struct memory get_memory(void)
{
	struct memory memory;

	check(cuMemAlloc_v2(&memory.device, 4096), "cuMemAlloc");
	check(cuMemAllocHost_v2(&memory.host, 4096), "cuMemAllocHost");
	return memory;
}

static void do_one(int kind, const struct memory *memory, CUstream stream)
{
	CUdeviceptr other;

	switch (kind) {
	case 'c':
		check(cuMemcpyHtoDAsync_v2(memory->device, memory->host, 4096, stream),
		      "cuMemcpyHtoDAsync");
		break;
	case 'f':
		check(cuMemsetD8Async(memory->device, 0, 4096, stream), "cuMemsetD8Async");
		break;
	case 'a':
		check(cuMemAlloc_v2(&other, 4096), "cuMemAlloc");
		check(cuMemFree_v2(other), "cuMemFree");
		break;
	case 'g':
		make_and_end_graph();
		break;
	case 'w':
		check(cuStreamSynchronize(stream), "cuStreamSynchronize");
		break;
	}
}

/* What this turn is instead of a launch, or 0. */
static int kind_of(int turn)
{
	if (only)
		return only[turn % strlen(only)];
	if (!mixed)
		return 0;
	return turn % 8 == 3 ? 'c' : turn % 8 == 5 ? 'f' : turn % 128 == 64 ? 'a' : 0;
}

/* The n-th from the end of those that the process may use. */
static int nth_last_cpu(int n)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return -1;
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (CPU_ISSET(cpu, &set) && !n--)
			return cpu;
	return -1;
}

static void keep_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("launch-rate: sched_setaffinity");
}

static void *work(void *argument)
{
	struct worker *w = argument;
	CUgraphExec graph = NULL;
	CUgraph plan;
	struct memory memory = {0};
	CUstream stream;

	pthread_setname_np(pthread_self(), "launching"); /* steps looks for it */
	if (w->cpu >= 0)
		keep_to(w->cpu);
	check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	check(cuStreamCreate(&stream, 1), "cuStreamCreate");
	if (with_graphs)
		graph = make_graph(&plan);
	if (mixed || only)
		memory = get_memory();
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		uint64_t graphs = 0, others = 0, start = read_clock(launch_clock);

		for (int i = 0; i < SYNC_EVERY; i++) {
			int kind = kind_of(i);

			if (kind) {
				do_one(kind, &memory, stream);
				others++;
				continue;
			}
			if (graph && i % 8 == 7) {
				check(cuGraphLaunch(graph, stream), "cuGraphLaunch");
				graphs++;
				continue;
			}
			check(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
			      "cuLaunchKernel");
		}
		check(cuStreamSynchronize(stream), "cuStreamSynchronize");
		w->ns += read_clock(launch_clock) - start;
		w->launches += SYNC_EVERY - graphs - others;
		w->others += others;
		w->graph_launches += graphs;
	}
	return NULL;
}

static void report(struct worker *workers, int threads, uint64_t *last_count, uint64_t *last_ns)
{
	uint64_t count = 0, ns = 0;

	for (int i = 0; i < threads; i++) {
		count += workers[i].launches + workers[i].graph_launches + workers[i].others;
		ns += workers[i].ns;
	}
	if (count > *last_count)
		printf("%.3f %llu %.1f\n", now() / 1e9, (unsigned long long)(count - *last_count),
		       (double)(ns - *last_ns) / (count - *last_count));
	fflush(stdout);
	*last_count = count;
	*last_ns = ns;
}

static void start(struct worker *workers, int threads)
{
	CUmodule module;
	CUdevice device;

	check(cuInit(0), "cuInit");
	check(cuDeviceGet(&device, 0), "cuDeviceGet");
	check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
	check(cuModuleGetFunction(&function, module, "empty"), "cuModuleGetFunction");
	for (int i = 0; i < threads; i++) {
		workers[i].cpu = pinned ? nth_last_cpu(i) : -1;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		if (workers[i].cpu >= 0)
			fprintf(stderr, "launch-rate: thread %d on CPU %d\n", i, workers[i].cpu);
	}
}

/* The library that the agent took for libcupti. */
static int set_gate(const char *state)
{
	const char *path = getenv("CUDA_TRACE_LIBCUPTI");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
	int (*set)(const char *);

	*(void **)&set = library ? dlsym(library, "gate__set") : NULL;
	return set ? set(state) : -1;
}

/* 1: it is there, as it says. */
static int load_agent(void)
{
	const char *path = getenv("LAUNCH_RATE_AGENT");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*begin)(void);

	*(void **)&begin = library ? dlsym(library, "InitializeInjection") : NULL;
	return begin ? begin() : 0;
}

static void obey(const char *command)
{
	static char mode[16];

	if (!strcmp(command, "where")) {
		printf("= where %lx\n", (unsigned long)dlsym(RTLD_DEFAULT, "cuLaunchKernel"));
		fflush(stdout);
		return;
	}
	if (!strcmp(command, "load")) {
		printf("= load %d\n", load_agent());
		fflush(stdout);
		return;
	}
	if (!strncmp(command, "gate ", 5)) {
		printf("= gate %d\n", set_gate(command + 5));
		fflush(stdout);
		return;
	}
	if (*mode)
		alone__off();
	snprintf(mode, sizeof(mode), "%s", strcmp(command, "off") ? command : "");
	if (*mode)
		alone__on(mode, NULL);
	printf("= %s %lu\n", command, alone__buffers());
	fflush(stdout);
}

/* Until the interval has ended, or a command came. False: none can come any more. */
static int wait_for_command(int interval_ms)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};
	char line[16] = "";

	if (!commanded || poll(&in, 1, interval_ms) <= 0) {
		if (!commanded)
			usleep(interval_ms * 1000);
		return 1;
	}
	for (size_t i = 0; i < sizeof(line) - 1 && read(0, line + i, 1) == 1; i++)
		if (line[i] == '\n')
			break;
	line[strcspn(line, "\n")] = '\0';
	if (*line)
		obey(line);
	return *line;
}

static void on_signal(int number)
{
	must_end = 1;
}

int main(int argc, char **argv)
{
	static struct worker workers[256];
	int option, threads = 1, interval_ms = 250;
	uint64_t last_count = 0, last_ns = 0, launches = 0, graphs = 0;
	double seconds = 3;

	while ((option = getopt(argc, argv, "t:i:d:gmpcuo:")) != -1) {
		if (option == 't')
			threads = atoi(optarg) > 256 ? 256 : atoi(optarg);
		else if (option == 'i')
			interval_ms = atoi(optarg);
		else if (option == 'd')
			seconds = atof(optarg);
		else if (option == 'g')
			with_graphs = 1;
		else if (option == 'm')
			mixed = 1;
		else if (option == 'p')
			pinned = 1;
		else if (option == 'c')
			commanded = 1;
		else if (option == 'u')
			launch_clock = CLOCK_THREAD_CPUTIME_ID;
		else if (option == 'o' && *optarg && !optarg[strspn(optarg, "cfagw")])
			only = optarg;
		else
			return fputs("usage: launch-rate [-t THREADS] [-i MS] [-d SECONDS] [-g] "
				     "[-m] [-p] [-c] [-u] [-o cfagw]\n",
				     stderr),
			       2;
	}
	signal(SIGUSR1, on_signal);
	start(workers, threads);
	for (uint64_t end = now() + seconds * 1e9; now() < end && !must_end;) {
		if (!wait_for_command(interval_ms))
			break;
		report(workers, threads, &last_count, &last_ns);
	}
	stop = 1;
	for (int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		launches += workers[i].launches;
		graphs += workers[i].graph_launches;
	}
	printf("expect launches=%llu kernels=%llu launch_errors=0 graph_launches=%llu\n",
	       (unsigned long long)launches, (unsigned long long)(launches + 4 * graphs),
	       (unsigned long long)graphs);
	return 0;
}
