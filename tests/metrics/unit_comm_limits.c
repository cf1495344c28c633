// SPDX-License-Identifier: BSD-2-Clause
/*
 * collectives.h with limits: processes that call NCCL at random, mostly without launching anything,
 * make graphs at random, and come and go. What is kept stays within the limits. Prints what had to
 * be left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/collectives/collectives.h"

#define PROCESSES 20
#define STEPS	  100000
#define WAITING	  1000

static struct nccl_comms comms = {
	.partial = true,
	.limits = {.comms = 8, .ranks = 10, .compared = 4, .waiting = WAITING},
};

static struct collectives *new_process(int number)
{
	const struct collectives_options options = {.pid = 100 + number, .timed = true};

	return collectives__new(&comms, &options);
}

static struct event_collective random_call(uint64_t time)
{
	struct event_collective call = {
		.time = time,
		.comm = 1 + rand() % 5,
		.stream = rand() % 3,
		.tid = rand() % 3000,
		.known = 1,
		.sequence = time,
		.count = 10,
		.depth = rand() % 3 == 0,
		.function = 1 + rand() % (NCCL_OPERATIONS - 1),
	};

	switch (rand() % 20) {
	case 0:
		call.function = NCCL_INIT_RANK;
		call.id = 1 + rand() % 12;
		call.size = 2 + rand() % 3;
		call.rank = rand() % 3;
		break;
	case 1:
		call.function = NCCL_SPLIT;
		call.parent = 1 + rand() % 5;
		call.id = 100 + rand() % 12;
		call.rank = rand() % 3;
		break;
	case 2:
		call.function = NCCL_GROUP_END;
		break;
	}
	return call;
}

static void step(struct collectives *process, uint64_t time)
{
	struct event_collective call = random_call(time);
	struct cuda_launch launch = {
		.head.correlation = time, .tid = call.tid, .start = time, .end = time};
	struct cuda_kernel kernel = {.head.correlation = time, .start = time, .end = time + 1000};
	struct cuda_graph_node node = {
		.node = 1 + rand() % 100000,
		.original = rand() % 2 ? 1 + rand() % 100000 : 0,
		.graph = 1 + rand() % 3000,
		.tid = call.tid,
		.start = time,
	};

	if (rand() % 4 == 0) {
		kernel.graph = node.graph;
		kernel.graph_node = 1 + rand() % 100000;
	}
	collectives__call(process, &call);
	collectives__node(process, &node);
	if (rand() % 3)
		return;
	collectives__launch(process, &launch, "ncclDevKernel_AllReduce");
	if (rand() % 2)
		collectives__kernel(process, &kernel, "ncclDevKernel_AllReduce");
}

/* What waits is counted by capacities, which double. */
static void check(void)
{
	uint32_t ranks = 0;

	for (uint32_t i = 0; i < comms.count; i++)
		ranks += comms.list[i].rank_count;
	if (ranks > comms.limits.ranks || comms.count > comms.limits.comms ||
	    comms.waiting > 2 * WAITING)
		abort();
}

int main(void)
{
	struct collectives *processes[PROCESSES];

	for (int i = 0; i < PROCESSES; i++)
		processes[i] = new_process(i);
	for (uint64_t time = 1; time <= STEPS; time++) {
		int number = rand() % PROCESSES;

		step(processes[number], time);
		if (time % 1000 == 0) {
			collectives__free(processes[number]);
			nccl_comms__end(&comms, 100 + number, time);
			processes[number] = new_process(number);
		}
		if (time % 5000 == 0)
			nccl_comms__expire(&comms, time - 2000);
		check();
	}
	for (int i = 0; i < PROCESSES; i++)
		collectives__free(processes[i]);
	printf("waiting %u\n", comms.waiting);
	printf("left out:%s%s%s\n", comms.left_out ? " communicators" : "",
	       comms.ranks_left_out ? " ranks" : "", comms.unlaunched ? " calls" : "");
	nccl_comms__free(&comms);
	return 0;
}
