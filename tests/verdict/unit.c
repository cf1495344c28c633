// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each rule over counters that have exactly that bottleneck, and over their twin without it. The
 * figures are those of an H100 (9.0, 132 multiprocessors) in round numbers.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cuda-trace/verdict.h"

static int failures;

/* A kernel of 100 us without any bottleneck: half of everything, a grid of ten full waves. */
static struct verdict_facts healthy(void)
{
	struct verdict_facts facts;

	verdict_facts__clear(&facts);
	facts.time = 100000;
	facts.dram = facts.l2 = facts.l1 = 50;
	facts.issue = facts.fma = facts.alu = 50;
	facts.fp64 = facts.xu = facts.tensor = 0;
	facts.occupancy = 90;
	facts.lanes = 32;
	facts.load_bytes = facts.store_bytes = 32;
	facts.active_mean = 190000;
	facts.active_most = facts.elapsed = 200000;
	facts.stall_memory = 2;
	facts.stall_wait = 1;
	facts.warps_per_issue = 10;
	facts.blocks = 132 * 8 * 10;
	facts.threads = 256;
	facts.registers = 32;
	facts.capability = 90;
	facts.multiprocessors = 132;
	return facts;
}

static struct verdict expect(const char *what, const struct verdict_facts *facts,
			     enum verdict_kind kind, const char *said)
{
	struct verdict verdict;
	char text[256];

	verdict__find(facts, &verdict);
	verdict__because(facts, &verdict, text, sizeof(text));
	if ((verdict.kind == VERDICT_UNKNOWN) != !verdict__where(&verdict)) {
		printf("%s: where to look is not said\n", what);
		failures++;
	}
	if (verdict.kind != kind || !strstr(text, said)) {
		printf("%s: %s (%s)\n", what, verdict__key(verdict.kind), text);
		failures++;
	}
	return verdict;
}

static void check(bool holds, const char *what, double value)
{
	if (holds)
		return;
	printf("%s: %g\n", what, value);
	failures++;
}

static void test_busy(void)
{
	struct verdict_facts facts = healthy();
	struct verdict verdict;

	verdict = expect("nothing", &facts, VERDICT_LATENCY, "DRAM at 50%");
	check(!verdict.limit && verdict.waves == 10, "waves", verdict.waves);
	facts.dram = 91;
	verdict = expect("DRAM", &facts, VERDICT_MEMORY, "DRAM at 91%");
	check(fabs(verdict.best_ns - 91000) < 1, "best time", verdict.best_ns);
	facts = healthy();
	facts.l2 = 80;
	expect("L2", &facts, VERDICT_MEMORY, "L2 cache at 80%");
	facts = healthy();
	facts.fma = 85;
	expect("FMA", &facts, VERDICT_COMPUTE, "FMA units at 85%");
	facts.dram = 90;
	expect("DRAM before FMA", &facts, VERDICT_MEMORY, "DRAM");
	facts = healthy();
	facts.tensor = 75;
	expect("tensor cores", &facts, VERDICT_COMPUTE, "tensor cores at 75%");
	/* Issue slots of the few multiprocessors that work say nothing about the GPU. */
	facts = healthy();
	facts.issue = 90;
	facts.active_mean = facts.active_most / 2;
	facts.blocks = 66 * 8;
	expect("half of the GPU", &facts, VERDICT_LATENCY, "does not fill the GPU");
}

static void test_causes(void)
{
	struct verdict_facts facts = healthy();
	struct verdict verdict;

	facts.time = 2500;
	expect("short", &facts, VERDICT_LAUNCH, "2.5 us");
	facts.time = 8000;
	expect("not short", &facts, VERDICT_LATENCY, "");
	facts = healthy();
	facts.load_bytes = 4;
	facts.l2 = 70;
	verdict = expect("strided loads", &facts, VERDICT_UNCOALESCED, "loads use 4.0");
	check(verdict.also == 1u << VERDICT_MEMORY, "memory-bound, too", verdict.also);
	facts.load_bytes = 24;
	expect("mostly coalesced", &facts, VERDICT_MEMORY, "L2");
	facts.load_bytes = 32;
	facts.store_bytes = 0;
	expect("no stores", &facts, VERDICT_MEMORY, "L2");
	facts = healthy();
	facts.load_bytes = 4;
	expect("strided, but nobody waits", &facts, VERDICT_LATENCY, "");
	facts.stall_memory = 7;
	expect("strided, and all wait", &facts, VERDICT_UNCOALESCED, "70% of their time");
	facts.blocks = 1;
	expect("one block that follows pointers", &facts, VERDICT_LATENCY, "does not fill");
	facts = healthy();
	facts.lanes = 2;
	facts.issue = 80;
	verdict = expect("one lane in 16", &facts, VERDICT_DIVERGENT, "2.0 of 32 threads");
	check(verdict.also & 1u << VERDICT_COMPUTE, "compute-bound, too", verdict.also);
	facts.lanes = 30;
	expect("converged", &facts, VERDICT_COMPUTE, "issue slots");
}

static void test_shape(void)
{
	struct verdict_facts facts = healthy();
	struct verdict verdict;

	facts.blocks = 132 * 8 + 1;
	facts.dram = facts.l2 = facts.l1 = facts.fma = facts.alu = facts.issue = 40;
	verdict = expect("a block too many", &facts, VERDICT_TAIL, "1.00 waves");
	check(verdict.waves > 1, "waves", verdict.waves);
	facts.blocks = 132 * 8;
	expect("one full wave", &facts, VERDICT_LATENCY, "");
	facts.blocks = 132 * 8 * 10;
	facts.active_mean = facts.active_most / 2;
	expect("uneven blocks", &facts, VERDICT_TAIL, "work 50%");
	facts = healthy();
	facts.registers = 255;
	verdict = expect("registers", &facts, VERDICT_OCCUPANCY, "registers allow 12%");
	check(fabs(verdict.possible - 12.5) < 0.1, "possible occupancy", verdict.possible);
	facts.registers = 32;
	facts.shared = 100 << 10;
	expect("shared memory", &facts, VERDICT_OCCUPANCY, "shared memory allows 25%");
	facts.shared = 0;
	facts.threads = 32;
	facts.blocks = 132 * 32 * 10;
	facts.occupancy = 49;
	expect("small blocks", &facts, VERDICT_OCCUPANCY, "block size allows 50%");
	facts.threads = 24;
	expect("blocks of 24", &facts, VERDICT_OCCUPANCY, "block size");
	facts.blocks = 132;
	expect("a grid too small", &facts, VERDICT_LATENCY, "does not fill the GPU");
	/* One block of 768 fits, two do not leave room for a third: 48 of 64 warps. */
	facts.threads = 768;
	facts.blocks = 132 * 2 * 10;
	verdict = expect("large blocks", &facts, VERDICT_LATENCY, "");
	check(fabs(verdict.possible - 75) < 0.1, "possible occupancy", verdict.possible);
	/* 7.5 has 16 blocks and 32 warps: blocks of one warp are limited by their number. */
	facts.capability = 75;
	facts.threads = 32;
	facts.blocks = 132 * 16 * 10;
	verdict = expect("16 blocks of a warp", &facts, VERDICT_OCCUPANCY, "block size");
	check(fabs(verdict.possible - 50) < 0.1, "possible occupancy", verdict.possible);
}

static void test_roofline(void)
{
	struct verdict_facts facts = healthy();
	struct verdict verdict;

	facts.fadd = facts.fmul = 0;
	facts.ffma = 1e9;
	facts.dram_bytes = 1e8;
	facts.dram_peak = 1000;
	facts.dram_clock = 3e9; /* 3 TB/s */
	facts.ffma_peak = 132 * 128;
	facts.sm_clock = 1.5e9; /* 50.7 TFLOP/s */
	verdict__find(&facts, &verdict);
	check(fabs(verdict.intensity - 20) < 1e-9, "intensity", verdict.intensity);
	check(fabs(verdict.performance - 2e13) < 1e6, "performance", verdict.performance);
	check(fabs(verdict.ridge - 16.896) < 1e-3, "ridge", verdict.ridge);
	check(fabs(verdict.roof - 50.688e12) < 1e9, "roof of the arithmetic", verdict.roof);
	facts.ffma = 1e8;
	verdict__find(&facts, &verdict);
	check(fabs(verdict.roof - 6e12) < 1e6, "roof of the memory", verdict.roof);
}

/* Older GPUs lack some metrics, and a user may ask for others: no rule may fire on nothing. */
static void test_unknown(void)
{
	struct verdict_facts facts;
	struct verdict verdict;

	verdict_facts__clear(&facts);
	verdict = expect("nothing known", &facts, VERDICT_UNKNOWN, "not collected");
	check(isnan(verdict.best_ns) && isnan(verdict.intensity), "from nothing", verdict.best_ns);
	check(!verdict.also, "also", verdict.also);
	verdict_facts__take(&facts, "gpu__time_duration.sum", 1000);
	expect("a time", &facts, VERDICT_LAUNCH, "1.0 us");
	verdict_facts__take(&facts, "gpu__time_duration.sum", 100000);
	verdict_facts__take(&facts, "dram__bytes.sum.pct_of_peak_sustained_elapsed", 90);
	expect("time and DRAM", &facts, VERDICT_MEMORY, "DRAM at 90%");
	verdict_facts__take(&facts, "no such metric", 1);
	/* What a hostile process may send. */
	facts.threads = -5;
	facts.blocks = INT64_MAX;
	facts.multiprocessors = 132;
	facts.capability = 90;
	facts.time = INFINITY;
	expect("nonsense", &facts, VERDICT_MEMORY, "DRAM");
}

int main(void)
{
	test_busy();
	test_causes();
	test_shape();
	test_roofline();
	test_unknown();
	if (!failures)
		puts("ok");
	return failures != 0;
}
