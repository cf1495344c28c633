// SPDX-License-Identifier: BSD-2-Clause
// Launches empty kernels from one or more threads as fast as the driver takes them, and says how
// long a launch took the host.
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: launch-storm [OPTION...]\n"
	"Says \"ready\", then launches empty kernels as fast as possible; prints the ns of one.\n"
	"  -n, --launches N   launches of each thread (100000)\n"
	"  -t, --threads N    threads, each on a stream of its own (1)\n"
	"  -s, --seconds S    go on for S seconds, or until SIGUSR1, instead of counting launches\n"
	"  -p, --pause US     rest that long after each launch\n"
	"  -g, --graphs N     every N-th launch is that of a graph of 4 kernels\n"
	"  -b, --batch N      synchronise after every N launches (0: only at the end)\n"
	"  -v, --vary N       grids of 1 to N blocks of 1000 threads, as if at random (1 thread)\n"
	"  -r, --report MS    print a line every MS milliseconds: time, launches, ns of a launch\n"
	"  -w, --wait         wait for a line on stdin between start-up and the first launch\n"
	"  -k, --keep-going   go on after a launch that fails, instead of ending\n";

static struct {
	uint64_t launches, threads, seconds, pause, graphs, batch, report, vary;
	bool wait, keep_going;
} settings = {.launches = 100000, .threads = 1};

static struct program program;
static CUfunction empty;
static CUgraphExec graph;
static uint64_t deadline;
static volatile sig_atomic_t enough;

struct worker {
	pthread_t thread;
	_Atomic uint64_t done;
	uint64_t ns, failed;
} __attribute__((aligned(128)));

#define GRAPH_KERNELS 4

static void make_graph(void)
{
	CUDA_KERNEL_NODE_PARAMS node = {
		.func = empty,
		.gridDimX = 1,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = 1,
		.blockDimY = 1,
		.blockDimZ = 1,
	};
	CUgraphNode last = NULL, next;
	CUgraph plan;

	program__check(cuGraphCreate(&plan, 0), "cuGraphCreate");
	for (int i = 0; i < GRAPH_KERNELS; i++) {
		program__check(cuGraphAddKernelNode_v2(&next, plan, &last, i > 0, &node),
			       "cuGraphAddKernelNode");
		last = next;
	}
	program__check(cuGraphInstantiateWithFlags(&graph, plan, 0), "cuGraphInstantiate");
	program__check(cuGraphDestroy(plan), "cuGraphDestroy");
}

static CUresult launch_varied(uint64_t number, CUstream stream)
{
	unsigned int grid = 1 + (number * 2654435761U >> 8) % settings.vary;

	return cuLaunchKernel(empty, grid, 1, 1, 1000, 1, 1, 0, stream, NULL, NULL);
}

/* Ending on the first one would end the driver under the launches of other threads. */
static void launched(struct worker *worker, CUresult result)
{
	if (result && settings.keep_going)
		worker->failed++;
	else
		program__check(result, "cuLaunchKernel");
}

static void graph_launched(CUresult result)
{
	if (!settings.keep_going)
		program__check(result, "cuGraphLaunch");
}

static void launch_once(struct worker *worker, uint64_t number, CUstream stream)
{
	if (settings.graphs && number % settings.graphs == settings.graphs - 1)
		graph_launched(counted__graph_launch(graph, stream, GRAPH_KERNELS, 0, 0, 0));
	else if (settings.vary)
		launched(worker, launch_varied(number, stream));
	else
		launched(worker, cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	if (settings.batch && number % settings.batch == settings.batch - 1)
		program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	if (settings.pause) {
		struct timespec rest = {settings.pause / 1000000, settings.pause % 1000000 * 1000};

		nanosleep(&rest, NULL);
	}
}

/* The clock is read every 256 launches only: reading it must not be what is measured. */
static bool finished(uint64_t number)
{
	if (!settings.seconds)
		return number == settings.launches;
	return (number % 256 == 0 || settings.pause) && (enough || program__now() >= deadline);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	uint64_t number = 0, start, graphs;
	CUstream stream;

	program__check(cuCtxSetCurrent(program.context), "cuCtxSetCurrent");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	start = program__now();
	while (!finished(number)) {
		launch_once(worker, number++, stream);
		atomic_store_explicit(&worker->done, number, memory_order_relaxed);
	}
	worker->ns = program__now() - start;
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	program__check(cuStreamDestroy_v2(stream), "cuStreamDestroy");
	/* One shared counter for every launch would be what is measured. */
	graphs = settings.graphs ? number / settings.graphs : 0;
	atomic_fetch_add(&truth.launches, number - graphs);
	atomic_fetch_add(&truth.kernels, number - graphs - worker->failed);
	atomic_fetch_add(&truth.launch_errors, worker->failed);
	atomic_fetch_add(&truth.api_errors, worker->failed);
	return NULL;
}

static uint64_t done(const struct worker *workers)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < settings.threads; i++)
		sum += atomic_load_explicit(&workers[i].done, memory_order_relaxed);
	return sum;
}

/* Prints the pace while the threads work. */
static void report(const struct worker *workers)
{
	struct timespec rest = {settings.report / 1000, settings.report % 1000 * 1000000};
	uint64_t start = program__now(), last = start, before = 0;

	while (!enough && program__now() < deadline) {
		uint64_t now, launches;

		nanosleep(&rest, NULL);
		now = program__now();
		launches = done(workers);
		printf("at_ms=%llu launches=%llu ns_per_launch=%.1f\n",
		       (unsigned long long)((now - start) / 1000000), (unsigned long long)launches,
		       launches > before
			       ? (double)(now - last) * settings.threads / (launches - before)
			       : 0.0);
		fflush(stdout);
		last = now;
		before = launches;
	}
}

/* Whoever has seen what there was to see does not wait for the rest of the seconds. */
static void end_now(int number)
{
	enough = 1;
}

static int parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"launches", 1, NULL, 'n'},   {"threads", 1, NULL, 't'}, {"seconds", 1, NULL, 's'},
		{"pause", 1, NULL, 'p'},      {"graphs", 1, NULL, 'g'},	 {"batch", 1, NULL, 'b'},
		{"report", 1, NULL, 'r'},     {"wait", 0, NULL, 'w'},	 {"vary", 1, NULL, 'v'},
		{"keep-going", 0, NULL, 'k'}, {"help", 0, NULL, 'h'},	 {0},
	};
	uint64_t *const numbers[] = {
		['n'] = &settings.launches, ['t'] = &settings.threads, ['s'] = &settings.seconds,
		['p'] = &settings.pause,    ['g'] = &settings.graphs,  ['b'] = &settings.batch,
		['r'] = &settings.report,   ['v'] = &settings.vary};
	int option, row;

	while ((option = getopt_long(argc, argv, "n:t:s:p:g:b:r:v:wkh", options, &row)) != -1) {
		if (option == 'h' || option == '?') {
			fputs(help, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
		if (option == 'w')
			settings.wait = true;
		else if (option == 'k')
			settings.keep_going = true;
		else
			*numbers[option] = program__number(optarg, argv[optind - 1]);
	}
	if (!settings.threads || settings.threads > 1024 ||
	    (settings.report && !settings.seconds)) {
		fputs("launch-storm: 1 to 1024 threads; --report needs --seconds\n", stderr);
		return 2;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct worker *workers;
	uint64_t ns = 0, launches;
	int status = parse(argc, argv);

	if (status >= 0)
		return status;
	program__start(&program);
	empty = program__kernel(&program, "empty");
	if (settings.graphs)
		make_graph();
	if (settings.seconds)
		signal(SIGUSR1, end_now);
	puts("ready");
	fflush(stdout);
	while (settings.wait && getchar() != '\n' && !feof(stdin))
		;
	workers = aligned_alloc(128, settings.threads * sizeof(*workers));
	if (!workers)
		program__fail("no memory");
	deadline = program__now() + settings.seconds * 1000000000ULL;
	for (uint64_t i = 0; i < settings.threads; i++) {
		workers[i] = (struct worker){0};
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			program__fail("no thread");
	}
	if (settings.report)
		report(workers);
	for (uint64_t i = 0; i < settings.threads; i++) {
		pthread_join(workers[i].thread, NULL);
		ns += workers[i].ns;
	}
	launches = done(workers);
	printf("ns_per_launch=%.1f\n", launches ? (double)ns / launches : 0.0);
	if (graph)
		program__check(cuGraphExecDestroy(graph), "cuGraphExecDestroy");
	free(workers);
	program__expect();
	return 0;
}
