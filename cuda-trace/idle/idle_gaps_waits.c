// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kernels of collectives that wait for other ranks keep a GPU busy with nothing. How long is known
 * when the kernels of all ranks are, which is later than the record of the first.
 */
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/idle/idle_gaps_parts.h"

#define WAITS_MAX   65536
#define SHORTEST_NS 20000 /* less is how exactly the ranks' times are known */

void idle_gaps__waited(struct idle_gaps *gaps, struct idle_host *host,
		       const struct collective_wait *wait)
{
	if (wait->ns < SHORTEST_NS)
		return;
	if (gaps->wait_count >= WAITS_MAX ||
	    !array_grow__for_one(gaps->waits, gaps->wait_size, gaps->wait_count)) {
		gaps->known.late++;
		return;
	}
	gaps->waits[gaps->wait_count++] = (struct gaps_wait){host, *wait};
}

/* The operation of a sorted GPU; NULL = it is not there. */
static struct operation *operation_of(struct gpu *gpu, const struct gaps_wait *wait)
{
	uint64_t start = wait->collective.start;
	uint32_t low = sorted__count_before(gpu->count, i, gpu->operations[i].start < start);

	for (; low < gpu->count && gpu->operations[low].start == start; low++)
		if (gpu->operations[low].host == wait->host)
			return &gpu->operations[low];
	return NULL;
}

static bool place(struct idle_gaps *gaps, const struct gaps_wait *wait)
{
	const struct collective_wait *collective = &wait->collective;
	struct operation *operation = NULL;

	for (uint32_t i = 0; i < gaps->set.count && !operation; i++)
		operation = operation_of(&gaps->gpus[i], wait);
	if (!operation)
		return false;
	if (collective->ns > operation->end - operation->start)
		return false;
	operation->wait_ns = collective->ns;
	operation->function = (uint8_t)collective->function;
	operation->last = collective->last;
	return true;
}

/* No search is possible any more then: they are not in order. */
static void apply(struct gpu *gpu)
{
	for (uint32_t i = 0; i < gpu->count; i++)
		gpu->operations[i].start = gpu->operations[i].came + gpu->operations[i].wait_ns;
}

void idle_gaps__place_waits(struct idle_gaps *gaps, uint64_t until)
{
	uint32_t kept = 0;

	if (!gaps->wait_count)
		return;
	for (uint32_t i = 0; i < gaps->set.count; i++)
		idle_gaps__sort(&gaps->gpus[i]);
	for (uint32_t i = 0; i < gaps->wait_count; i++) {
		struct gaps_wait wait = gaps->waits[i];

		if (place(gaps, &wait))
			continue;
		if (wait.collective.start < until)
			gaps->known.late++;
		else
			gaps->waits[kept++] = wait;
	}
	gaps->wait_count = kept;
	for (uint32_t i = 0; i < gaps->set.count; i++)
		apply(&gaps->gpus[i]);
}

uint64_t idle_gaps__pending(const struct gpu *gpu, uint64_t until)
{
	for (uint32_t i = 0; i < gpu->count; i++)
		if (gpu->operations[i].came < until)
			until = gpu->operations[i].came;
	return until;
}
