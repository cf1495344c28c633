// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each rule over counters that have exactly that bottleneck, and over their twin without it. The
 * figures are those of an H100 (9.0, 132 multiprocessors) in round numbers.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cuda-trace/profile/counters/verdict.h"

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
	facts.l2_port = 84;
	expect("L2, what it answers", &facts, VERDICT_MEMORY, "L2 cache at 84%");
	facts = healthy();
	facts.fma = 85;
	expect("FMA", &facts, VERDICT_COMPUTE, "FMA units at 85%");
	/* Both halves of the FMA pipe take each instruction: it is full at half of its own peak. */
	facts = healthy();
	facts.half = 99;
	expect("FP16", &facts, VERDICT_COMPUTE, "FP16 units at 99%");
	facts = healthy();
	facts.half_pipe = 95;
	expect("FP16 of Turing", &facts, VERDICT_COMPUTE, "FP16 units at 95%");
	facts = healthy();
	facts.fma = 85;
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
	/* One block of 768 fits, two leave no space for a third: 48 of 64 warps. */
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

/* A memory of 3 TB/s, 100 MB moved; multiprocessors at 1.5 GHz. */
static struct verdict_facts moving(void)
{
	struct verdict_facts facts = healthy();

	facts.dram_bytes = 1e8;
	facts.dram_peak = 1000;
	facts.dram_clock = 3e9;
	facts.sm_clock = 1.5e9;
	return facts;
}

#define EXECUTED(op) "sm__sass_thread_inst_executed_op_" op "_pred_on.sum"

/* adds, multiplies, both at once of one precision, whose first letter comes last. */
static void execute(struct verdict_facts *facts, const char *letter, double add, double mul,
		    double fma, double peak)
{
	char metric[96];

	snprintf(metric, sizeof(metric), EXECUTED("%sadd"), letter);
	verdict_facts__take(facts, metric, add);
	snprintf(metric, sizeof(metric), EXECUTED("%smul"), letter);
	verdict_facts__take(facts, metric, mul);
	snprintf(metric, sizeof(metric), EXECUTED("%sfma"), letter);
	verdict_facts__take(facts, metric, fma);
	snprintf(metric, sizeof(metric), EXECUTED("%sfma") ".peak_sustained", letter);
	verdict_facts__take(facts, metric, peak);
}

static void test_roofline(void)
{
	struct verdict_facts facts = moving();
	struct verdict verdict;

	execute(&facts, "f", 0, 0, 1e9, 132 * 128); /* 50.7 TFLOP/s */
	verdict__find(&facts, &verdict);
	check(fabs(verdict.roofline.intensity - 20) < 1e-9, "intensity",
	      verdict.roofline.intensity);
	check(fabs(verdict.roofline.performance - 2e13) < 1e6, "performance",
	      verdict.roofline.performance);
	check(fabs(verdict.roofline.ridge - 16.896) < 1e-3, "ridge", verdict.roofline.ridge);
	check(fabs(verdict.roofline.roof - 50.688e12) < 1e9, "roof of the arithmetic",
	      verdict.roofline.roof);
	facts = moving();
	execute(&facts, "f", 1e7, 3e7, 8e7, 132 * 128);
	verdict__find(&facts, &verdict);
	check(fabs(verdict.roofline.intensity - 2) < 1e-9, "adds and multiplies",
	      verdict.roofline.intensity);
	check(fabs(verdict.roofline.roof - 6e12) < 1e6, "roof of the memory",
	      verdict.roofline.roof);
	check(!verdict.uncounted, "all that is busy was counted", 0);
}

/* The peaks of an H100: FP64 half of FP32, FP16 twice that, tensor cores sixteen times. */
static void test_precisions(void)
{
	struct verdict_facts facts = moving();
	struct roofline_point point;
	struct verdict verdict;

	execute(&facts, "f", 1e6, 0, 0, 132 * 128);
	execute(&facts, "d", 1e8, 2e8, 3e8, 132 * 64);
	execute(&facts, "h", 1e7, 2e7, 3e7, 132 * 128);
	verdict__find(&facts, &verdict);
	check(verdict.precision == ROOFLINE_FP64, "double decides", verdict.precision);
	check(fabs(verdict.roofline.intensity - 9) < 1e-9, "double", verdict.roofline.intensity);
	check(fabs(verdict.roofline.ridge - 8.448) < 1e-3, "its ridge", verdict.roofline.ridge);
	point = verdict_facts__roofline(&facts, ROOFLINE_FP16);
	check(fabs(point.intensity - 1.8) < 1e-9, "two numbers an instruction", point.intensity);
	check(fabs(point.ridge - 33.792) < 1e-3, "and at their peak", point.ridge);
	check(isnan(verdict_facts__roofline(&facts, ROOFLINE_TENSOR_BF16).performance),
	      "nobody counted those", 0);

	facts.tensor = 70;
	verdict__find(&facts, &verdict);
	check(verdict.uncounted && !strcmp(verdict.uncounted, "tensor cores"), "said so", 0);
	verdict_facts__take(&facts, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 6e10);
	verdict_facts__take(&facts, "sm__ops_path_tensor_src_bf16_dst_fp32.sum.peak_sustained",
			    132 * 4096);
	verdict__find(&facts, &verdict);
	check(verdict.precision == ROOFLINE_TENSOR_BF16 && !verdict.uncounted, "tensor cores",
	      verdict.precision);
	check(fabs(verdict.roofline.intensity - 600) < 1e-9, "of tensor cores",
	      verdict.roofline.intensity);
	check(fabs(verdict.roofline.roof - 811.008e12) < 1e9, "their roof", verdict.roofline.roof);
}

/* A sum of which a part was not counted would be too small; a peak of 0 would be infinitely near.
 */
static void test_roofline_of_parts(void)
{
	struct verdict_facts facts = moving();
	struct verdict verdict;

	execute(&facts, "f", 1e6, 0, 0, 132 * 128);
	verdict_facts__take(&facts, EXECUTED("dfma"), 1e9);
	verdict_facts__take(&facts, EXECUTED("dfma") ".peak_sustained", 132 * 64);
	verdict_facts__take(&facts, "sm__ops_path_tensor_src_fp8.sum", 1e12);
	facts.fp64 = 70;
	verdict__find(&facts, &verdict);
	check(verdict.precision == ROOFLINE_FP32, "parts do not decide", verdict.precision);
	check(verdict.uncounted && !strcmp(verdict.uncounted, "FP64 units"), "FP64 is missing", 0);
}

/* Older GPUs lack some metrics, and a user may ask for others: no rule may fire on nothing. */
static void test_unknown(void)
{
	struct verdict_facts facts;
	struct verdict verdict;

	verdict_facts__clear(&facts);
	verdict = expect("nothing known", &facts, VERDICT_UNKNOWN, "not collected");
	check(isnan(verdict.best_ns) && isnan(verdict.roofline.intensity), "from nothing",
	      verdict.best_ns);
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
	test_precisions();
	test_roofline_of_parts();
	test_unknown();
	if (!failures)
		puts("ok");
	return failures != 0;
}
