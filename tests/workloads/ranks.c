// SPDX-License-Identifier: BSD-2-Clause
// Ranks of one communicator, a process each, as a launcher starts them: steps of computation and
// collectives, in which one rank may be late. Each prints what it called, a line for each
// operation.
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/simcuda/nccl.h"
#include "tests/workloads/program.h"

static const char help[] =
	"usage: ranks [OPTION...]\n"
	"  -n, --ranks N     processes (2)\n"
	"  -s, --steps N     (100)\n"
	"  -c, --compute US  how long a step computes (500)\n"
	"  -l, --late RANK   this one sleeps in each step, before the collective, for\n"
	"  -u, --us US       that long (5000)\n"
	"  -w, --while FILE  only while there is this file\n"
	"  -g, --gate FILE   do not make communicators before there is this file\n"
	"  -e, --elements N  of an all-reduce, of 4 bytes (262144)\n"
	"  -m, --mixed       each operation of NCCL, groups, and a split communicator, too\n"
	"  -G, --gpus        a GPU for each rank\n"
	"  -r, --replayed    each step's collectives are a graph, captured once\n"
	"  -a, --anew N      after each N steps, the split communicator ends, and another one\n"
	"                    is made by ncclCommShrink(), maybe at its address\n";

static struct settings {
	uint32_t ranks, steps, compute_us, late_us, elements, anew;
	int late;
	bool mixed, replayed, gpus;
	const char *late_while, *gate;
} settings = {.ranks = 2,
	      .steps = 100,
	      .compute_us = 500,
	      .late_us = 5000,
	      .elements = 262144,
	      .late = -1};

enum { ALL_REDUCE, BROADCAST, REDUCE, ALL_GATHER, REDUCE_SCATTER, SEND, RECV, OPERATIONS };
static const char *const keys[] = {"all_reduce",     "broadcast", "reduce", "all_gather",
				   "reduce_scatter", "send",	  "recv"};

struct called {
	uint64_t calls, bytes;
};

static struct called world[OPERATIONS], child[OPERATIONS];

static void count(struct called *called, uint64_t bytes)
{
	called->calls++;
	called->bytes += bytes;
}

static void check(int result, const char *what)
{
	if (result)
		program__fail("%s: %d", what, result);
}

static void all_reduce(struct called *called, ncclComm_t comm, ncclStream stream)
{
	check(ncclAllReduce(NULL, NULL, settings.elements, ncclFloat32, ncclSum, comm, stream),
	      "ncclAllReduce");
	count(&called[ALL_REDUCE], settings.elements * 4ull);
}

static void sleep_us(uint32_t us)
{
	struct timespec time = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

/* Two collectives in one group, an exchange with the neighbours, and the other operations. */
static void mix(ncclComm_t comm, ncclComm_t half, int rank, ncclStream stream)
{
	int next = (rank + 1) % settings.ranks,
	    before = (rank + settings.ranks - 1) % settings.ranks;

	check(ncclBroadcast(NULL, NULL, 1000, ncclInt8, 0, comm, stream), "ncclBroadcast");
	count(&world[BROADCAST], 1000);
	check(ncclReduce(NULL, NULL, 2000, ncclInt32, ncclMax, 1, comm, stream), "ncclReduce");
	count(&world[REDUCE], 8000);
	ncclGroupStart();
	check(ncclAllGather(NULL, NULL, 3000, ncclFloat16, comm, stream), "ncclAllGather");
	count(&world[ALL_GATHER], 6000);
	ncclGroupStart();
	check(ncclReduceScatter(NULL, NULL, 4000, ncclInt64, ncclSum, comm, stream),
	      "ncclReduceScatter");
	count(&world[REDUCE_SCATTER], 32000);
	ncclGroupEnd();
	ncclGroupEnd();
	ncclGroupStart();
	check(ncclSend(NULL, 500, ncclFloat32, next, comm, stream), "ncclSend");
	count(&world[SEND], 2000);
	check(ncclRecv(NULL, 500, ncclFloat32, before, comm, stream), "ncclRecv");
	count(&world[RECV], 2000);
	ncclGroupEnd();
	all_reduce(child, half, stream);
}

static void print(const char *comm, int rank, const struct called *called)
{
	for (int i = 0; i < OPERATIONS; i++)
		if (called[i].calls)
			printf("called rank=%d comm=%s op=%s calls=%llu bytes=%llu\n", rank, comm,
			       keys[i], (unsigned long long)called[i].calls,
			       (unsigned long long)called[i].bytes);
	fflush(stdout);
}

static void collectives(ncclComm_t comm, ncclComm_t half, int rank, ncclStream stream)
{
	all_reduce(world, comm, stream);
	if (settings.mixed)
		mix(comm, half, rank, stream);
}

/* Nothing runs yet: what is counted here is what one replay does. */
static CUgraphExec capture(ncclComm_t comm, ncclComm_t half, int rank, CUstream stream)
{
	CUgraphExec exec;
	CUgraph graph;

	program__check(cuStreamBeginCapture_v2(stream, CU_CAPTURE_THREAD_LOCAL), "begin capture");
	collectives(comm, half, rank, stream);
	program__check(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
	program__check(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
	program__check(cuGraphDestroy(graph), "cuGraphDestroy");
	for (int i = 0; i < OPERATIONS; i++) {
		world[i].calls *= settings.steps;
		world[i].bytes *= settings.steps;
		child[i].calls *= settings.steps;
		child[i].bytes *= settings.steps;
	}
	return exec;
}

/* Without the ranks of the other half. */
static ncclComm_t make_anew(ncclComm_t comm, ncclComm_t half, int rank)
{
	int others[16], count = 0;

	for (uint32_t i = (rank + 1) % 2; i < settings.ranks && count < 16; i += 2)
		others[count++] = i;
	ncclCommDestroy(half);
	check(ncclCommShrink(comm, others, count, &half, NULL, 0), "ncclCommShrink");
	return half;
}

static int run_rank(int rank, const char *name)
{
	struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};
	uint64_t ns = settings.compute_us * 1000ull;
	void *parameters[] = {&ns};
	ncclComm_t comm, half = NULL;
	struct program program;
	ncclUniqueId id = {{0}};
	CUgraphExec exec = NULL;
	CUfunction spin;
	CUstream stream;

	snprintf(id.internal, sizeof(id.internal), "%s", name);
	program__start(&program);
	spin = program__kernel(&program, "spin");
	program__check(cuStreamCreate(&stream, 1), "cuStreamCreate");
	while (settings.gate && access(settings.gate, F_OK))
		sleep_us(1000);
	check(ncclCommInitRank(&comm, settings.ranks, id, rank), "ncclCommInitRank");
	if (settings.mixed)
		check(ncclCommSplit(comm, rank % 2, rank, &half, NULL), "ncclCommSplit");
	if (settings.replayed)
		exec = capture(comm, half, rank, stream);
	for (uint32_t i = 0; i < settings.steps; i++) {
		if (settings.anew && half && i % settings.anew == 0 && i)
			half = make_anew(comm, half, rank);
		if (i == 100 && rank == 0)
			puts("under way"), fflush(stdout);
		program__check(counted__launch(spin, &shape, stream, parameters), "cuLaunchKernel");
		program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
		if (rank == settings.late &&
		    (!settings.late_while || !access(settings.late_while, F_OK)))
			sleep_us(settings.late_us);
		if (exec)
			program__check(counted__graph_launch(exec, stream, 0, 0, 0, 0),
				       "cuGraphLaunch");
		else
			collectives(comm, half, rank, stream);
		program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
	}
	print("world", rank, world);
	print("half", rank, child);
	ncclCommDestroy(comm);
	return 0;
}

static void start_rank(uint32_t rank, const ncclUniqueId *id, char **argv)
{
	char text[16];

	if (fork())
		return;
	snprintf(text, sizeof(text), "%u", rank);
	setenv("RANK", text, 1);
	setenv("LOCAL_RANK", text, 1);
	if (settings.gpus)
		setenv("PROGRAM_DEVICE", text, 1);
	snprintf(text, sizeof(text), "%u", settings.ranks);
	setenv("WORLD_SIZE", text, 1);
	setenv("SIMNCCL_ID", id->internal, 1);
	execv("/proc/self/exe", argv);
	_exit(127);
}

static bool parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"ranks", 1, NULL, 'n'},   {"steps", 1, NULL, 's'},
		{"compute", 1, NULL, 'c'}, {"late", 1, NULL, 'l'},
		{"us", 1, NULL, 'u'},	   {"elements", 1, NULL, 'e'},
		{"while", 1, NULL, 'w'},   {"gate", 1, NULL, 'g'},
		{"mixed", 0, NULL, 'm'},   {"replayed", 0, NULL, 'r'},
		{"gpus", 0, NULL, 'G'},	   {"anew", 1, NULL, 'a'},
		{"help", 0, NULL, 'h'},	   {0}};
	int option;

	while ((option = getopt_long(argc, argv, "n:s:c:l:u:w:g:e:a:mrGh", options, NULL)) != -1) {
		if (option == 'n')
			settings.ranks = program__number(optarg, "--ranks");
		else if (option == 's')
			settings.steps = program__number(optarg, "--steps");
		else if (option == 'c')
			settings.compute_us = program__number(optarg, "--compute");
		else if (option == 'l')
			settings.late = program__number(optarg, "--late");
		else if (option == 'u')
			settings.late_us = program__number(optarg, "--us");
		else if (option == 'w')
			settings.late_while = optarg;
		else if (option == 'g')
			settings.gate = optarg;
		else if (option == 'e')
			settings.elements = program__number(optarg, "--elements");
		else if (option == 'a')
			settings.anew = program__number(optarg, "--anew");
		else if (option == 'm')
			settings.mixed = true;
		else if (option == 'r')
			settings.replayed = true;
		else if (option == 'G')
			settings.gpus = true;
		else
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	const char *name = getenv("SIMNCCL_ID");
	int status, failed = 0;
	ncclUniqueId id;

	if (!parse(argc, argv))
		return fputs(help, stderr), 2;
	if (name && getenv("RANK"))
		return run_rank(atoi(getenv("RANK")), name);
	check(ncclGetUniqueId(&id), "ncclGetUniqueId");
	for (uint32_t i = 0; i < settings.ranks; i++)
		start_rank(i, &id, argv);
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
