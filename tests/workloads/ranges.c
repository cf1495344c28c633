// SPDX-License-Identifier: BSD-2-Clause
// NVTX ranges in each other in every way, with launches of kernels and graphs in them. Before the
// last line each range says what was made in it: "owner DOMAIN|NAME|ENTERED|LAUNCHES|KERNELS", and
// the last two again without those of ranges within; the line without a name is of what was in
// none.
#include <pthread.h>
#include <string.h>
#include "tests/workloads/nvtx_client.h"

static const char help[] = "usage: ranges [ROUNDS]\n"
			   "Launches kernels and graphs in NVTX ranges, ROUNDS times (10).\n";

static void launch(CUfunction kernel)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};

	program__check(counted__launch(kernel, &shape, NULL, NULL), "cuLaunchKernel");
}

#define NODES 3 /* kernels of the graph */

/* What a range came to, by what this program did; the first one is no range. */
static struct owner {
	const char *domain, *name;
	uint64_t entered, launches, kernels, own_launches, own_kernels;
} owners[32] = {{.domain = "", .name = ""}};
static int owner_count = 1;
static struct owner *inside[16]; /* of the main thread: ranges that are open, outermost first */
static int inside_count;
static void *owner_domain;
static CUfunction owner_kernel;
static CUgraphExec owner_graph;

static void go_in(const char *domain, const char *name)
{
	int i = 1;

	while (i < owner_count && (owners[i].domain != domain || strcmp(owners[i].name, name)))
		i++;
	owners[i].domain = domain;
	owners[i].name = name;
	owners[i].entered++;
	owner_count += i == owner_count;
	inside[inside_count++] = &owners[i];
	if (*domain)
		domain_event(DOMAIN_PUSH_EX, owner_domain, NULL, name);
	else
		push(name);
}

/* The innermost one of that domain, which others may be in. */
static void go_out(const char *domain)
{
	int i = inside_count - 1;

	while (inside[i]->domain != domain)
		i--;
	memmove(&inside[i], &inside[i + 1], (inside_count - i - 1) * sizeof(inside[0]));
	inside_count--;
	if (*domain)
		domain_pop(owner_domain);
	else
		pop();
}

static void own(struct owner *owner, uint64_t kernels)
{
	owner->launches++;
	owner->kernels += kernels;
}

static void work(bool graph)
{
	struct owner *innermost = inside_count ? inside[inside_count - 1] : &owners[0];
	uint64_t kernels = graph ? NODES : 1;

	for (int i = 0; i < inside_count; i++) {
		int first = 0;

		while (inside[first] != inside[i])
			first++;
		if (first == i)
			own(inside[i], kernels);
	}
	if (!inside_count)
		own(innermost, kernels);
	innermost->own_launches++;
	innermost->own_kernels += kernels;
	if (graph)
		program__check(counted__graph_launch(owner_graph, NULL, NODES, 0, 0, 0), "graph");
	else
		launch(owner_kernel);
}

static void *work_elsewhere(void *program)
{
	program__check(cuCtxSetCurrent(((struct program *)program)->context), "cuCtxSetCurrent");
	launch(owner_kernel);
	owners[0].launches++;
	owners[0].kernels++;
	owners[0].own_launches++;
	owners[0].own_kernels++;
	return NULL;
}

static void make_graph(void)
{
	CUDA_KERNEL_NODE_PARAMS node = {.func = owner_kernel,
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
	program__check(cuGraphInstantiateWithFlags(&owner_graph, plan, 0), "instantiate");
}

static void own_round(struct program *program)
{
	static const char domain[] = "workload", none[] = "";
	uint64_t across = start("across");
	pthread_t thread;

	work(false);
	go_in(none, "outer");
	work(false);
	go_in(none, "inner");
	work(false);
	work(false);
	go_in(none, "outer");
	work(false);
	go_out(none);
	go_out(none);
	work(false);
	if (pthread_create(&thread, NULL, work_elsewhere, program))
		program__fail("no thread");
	pthread_join(thread, NULL);
	go_out(none);
	go_in(domain, "outer");
	work(false);
	go_out(domain);
	go_in(none, "left first");
	go_in(domain, "left last");
	work(false);
	go_out(none);
	work(false);
	go_out(domain);
	go_in(none, "graph");
	work(true);
	go_out(none);
	go_in(none, "nothing in it");
	go_out(none);
	go_in(none, "\033[31mred\t|\"\\");
	work(false);
	go_out(none);
	end(across);
}

static void tell_owners(struct program *program, CUfunction kernel, void *domain, uint64_t rounds)
{
	owner_kernel = kernel;
	owner_domain = domain;
	make_graph();
	go_in("", "all of it");
	for (uint64_t i = 0; i < rounds; i++)
		own_round(program);
	go_out("");
	work(false);
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	for (int i = 0; i < owner_count; i++)
		printf("owner %s|%s|%llu|%llu|%llu|%llu|%llu\n", owners[i].domain, owners[i].name,
		       (unsigned long long)owners[i].entered,
		       (unsigned long long)owners[i].launches,
		       (unsigned long long)owners[i].kernels,
		       (unsigned long long)owners[i].own_launches,
		       (unsigned long long)owners[i].own_kernels);
}

int main(int argc, char **argv)
{
	struct program program;
	uint64_t rounds;
	void *domain;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	rounds = argc > 1 ? program__number(argv[1], "ROUNDS") : 10;
	program__start(&program);
	initialize();
	domain = domain_create("workload");
	tell_owners(&program, program__kernel(&program, "empty"), domain, rounds);
	domain_destroy(domain);
	program__expect();
	return 0;
}
