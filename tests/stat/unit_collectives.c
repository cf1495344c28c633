// SPDX-License-Identifier: BSD-2-Clause
/*
 * collectives.h: calls and launches of one thread, where the clocks of probes and of the agent
 * differ a little. Prints the collectives that have a kernel, and those that have none.
 */
#include <stdio.h>
#include "cuda-trace/collectives/collectives.h"

#define CALLS 100

/* Each call launches 500 ns after its entry, for 600 ns, and the next one follows at once. skew_ns:
 * by which the probes' clock is ahead of the agent's. */
static void run(int64_t skew_ns)
{
	const struct collectives_options options = {.pid = 1, .timed = true};
	struct nccl_comms comms = {};
	struct collectives *collectives = collectives__new(&comms, &options);
	uint64_t time = 1000000;

	for (uint32_t i = 1; i <= CALLS; i++, time += 1100) {
		const struct event_collective call = {.time = time + skew_ns,
						      .comm = 1,
						      .tid = 7,
						      .count = 1,
						      .function = i % 2 ? NCCL_ALL_REDUCE
									: NCCL_BROADCAST};

		collectives__call(collectives, &call);
	}
	for (uint32_t i = 1; i <= CALLS; i++) {
		const uint64_t start = 1000000 + (i - 1) * 1100 + 500;
		const struct cuda_launch launch = {
			.head.correlation = i, .start = start, .end = start + 600, .tid = 7};
		const struct cuda_kernel kernel = {
			.head.correlation = i, .start = start + 5000, .end = start + 6000};

		collectives__launch(collectives, &launch, "ncclDevKernel_AllReduce");
		collectives__kernel(collectives, &kernel, "ncclDevKernel_AllReduce");
	}
	collectives__free(collectives);
	printf("%+d ns: %d, %d, without %d\n", (int)skew_ns,
	       (int)comms.list[0].sums[NCCL_ALL_REDUCE].kernels,
	       (int)comms.list[0].sums[NCCL_BROADCAST].kernels, (int)comms.unlaunched);
	nccl_comms__free(&comms);
}

int main(void)
{
	run(0);
	run(-200);
	run(200);
	return 0;
}
