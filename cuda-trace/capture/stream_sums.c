// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/capture/stream_sums.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

static void add_counters(struct stream_counters *sum, const struct stream_counters *one)
{
	const uint64_t *from = (const uint64_t *)one;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

void stream_sums__read(int map, struct stream_counters *sum)
{
	struct stream_counters *per_cpu;
	int cpus = libbpf_num_possible_cpus();
	uint32_t zero = 0;

	memset(sum, 0, sizeof(*sum));
	/* The kernel writes as many as there are. */
	per_cpu = cpus > 0 ? calloc(cpus, sizeof(*per_cpu)) : NULL;
	if (per_cpu && !bpf_map_lookup_elem(map, &zero, per_cpu))
		for (int i = 0; i < cpus; i++)
			add_counters(sum, &per_cpu[i]);
	free(per_cpu);
}
