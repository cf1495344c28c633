// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel measures the time of eBPF programs on request, which costs each program two
 * readings of the clock: so for a tenth of each second only. Without CAP_SYS_ADMIN it refuses; then
 * waits are counted, at what one costs at most.
 */
#include "cuda-trace/idle/idle_cost.h"

#include <bpf/bpf.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"

#define MEASURE_NS 100000000ull
#define PERIOD_NS  1000000000ull
#define WAIT_NS	   1000 /* of a wait with its wake-up, its file and its stack */

static uint64_t read_counted(const struct idle_evidence *evidence)
{
	struct idle_counters counters;

	idle_evidence__counters(evidence, &counters);
	return counters.waits * WAIT_NS;
}

static void begin(struct idle_cost *cost, const struct idle_evidence *evidence, uint64_t now)
{
	cost->stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	cost->runs = true;
	cost->since = now;
	cost->before = cost->stats < 0 ? read_counted(evidence) : idle_evidence__run_ns(evidence);
}

bool idle_cost__tick(struct idle_cost *cost, const struct idle_evidence *evidence)
{
	uint64_t now = monotonic__ns(), after;

	if (!cost->runs && now >= cost->next)
		begin(cost, evidence, now);
	if (!cost->runs || now - cost->since < MEASURE_NS)
		return false;
	after = cost->stats < 0 ? read_counted(evidence) : idle_evidence__run_ns(evidence);
	cost->part = (double)(after - cost->before) / (now - cost->since);
	cost->measured++;
	cost->next = cost->since + PERIOD_NS;
	idle_cost__close(cost);
	return true;
}

void idle_cost__close(struct idle_cost *cost)
{
	if (cost->runs && cost->stats >= 0)
		close(cost->stats);
	cost->runs = false;
}
