// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rules of docs/reference/verdict.md, in their order: a cause comes before what it brings
 * about. Each threshold has its source there; change both or neither.
 */
#include "cuda-trace/profile/counters/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cuda-trace/profile/counters/occupancy.h"

#define BUSY	     60.0   /* percent of a unit's peak */
#define LAUNCH_NS    5000.0 /* a kernel shorter than this waits for its next launch */
#define SECTOR	     32.0   /* bytes */
#define COALESCED    0.5    /* of a sector's bytes that are requested */
#define MEMORY_WAITS 0.5    /* of the cycles that warps are resident */
#define LANES	     32.0
#define CONVERGED    0.625 /* of the lanes of an instruction */
#define TAIL_LOSS    0.15  /* of the multiprocessors' time that is idle */
#define TAIL_WAVES   5.0
#define LOW_WARPS    50.0 /* percent of the warps that fit on a multiprocessor */

#define TURING	     75 /* the last one whose tensor cores know no sparse operands */

#define HOLDS(kind)  (1u << VERDICT_##kind)

static const struct {
	const char *metric;
	size_t offset;
} fields[] = {
#define FIELD(field, metric) {metric, offsetof(struct verdict_facts, field)},
	VERDICT_FACTS(FIELD)
#undef FIELD
};

void verdict_facts__clear(struct verdict_facts *facts)
{
	*facts = (struct verdict_facts){};
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		*(double *)((char *)facts + fields[i].offset) = NAN;
}

void verdict_facts__take(struct verdict_facts *facts, const char *metric, double value)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!strcmp(fields[i].metric, metric))
			*(double *)((char *)facts + fields[i].offset) = value;
	roofline__take(&facts->work, metric, value);
}

static struct roofline_memory memory_of(const struct verdict_facts *facts)
{
	return (struct roofline_memory){.bytes = facts->dram_bytes,
					.bandwidth = facts->dram_peak * facts->dram_clock,
					.clock = facts->sm_clock,
					.ns = facts->time,
					.sparse = facts->capability != TURING};
}

struct roofline_point verdict_facts__roofline(const struct verdict_facts *facts,
					      enum roofline_precision precision)
{
	const struct roofline_memory memory = memory_of(facts);

	return roofline__point(&facts->work, &memory, precision);
}

const char *verdict__key(enum verdict_kind kind)
{
	static const char *const keys[] = {
#define KEY(name, key) [VERDICT_##name] = key,
		VERDICTS(KEY)
#undef KEY
	};

	return kind < VERDICT_COUNT ? keys[kind] : keys[VERDICT_UNKNOWN];
}

/* Comparisons with NAN are false: what is unknown raises nothing. */
static void raise_busiest(struct verdict *verdict, const char *unit, double percent)
{
	if (percent > verdict->busiest_percent || (!verdict->busiest && percent >= 0)) {
		verdict->busiest = unit;
		verdict->busiest_percent = percent;
	}
}

static double memory_percent(const struct verdict_facts *facts)
{
	return fmax(fmax(facts->dram, facts->l1), fmax(facts->l2, facts->l2_port));
}

static double compute_percent(const struct verdict_facts *facts)
{
	double half = fmax(facts->half, facts->half_pipe); /* a GPU has one of them */
	double pipes = fmax(fmax(fmax(facts->fma, half), facts->fp64), fmax(facts->alu, facts->xu));
	double spread = facts->active_mean / facts->elapsed;

	/* Issue slots are counted while the multiprocessor is active, the rest all the time. */
	return fmax(fmax(pipes, facts->tensor), facts->issue * (isnan(spread) ? 1 : spread));
}

static void find_busiest(const struct verdict_facts *facts, struct verdict *verdict)
{
	double spread = facts->active_mean / facts->elapsed;

	raise_busiest(verdict, "DRAM", facts->dram);
	raise_busiest(verdict, "L2 cache", facts->l2);
	raise_busiest(verdict, "L2 cache", facts->l2_port);
	raise_busiest(verdict, "L1 cache and shared memory", facts->l1);
	raise_busiest(verdict, "FMA units", facts->fma);
	raise_busiest(verdict, "FP16 units", facts->half);
	raise_busiest(verdict, "FP16 units", facts->half_pipe);
	raise_busiest(verdict, "FP64 units", facts->fp64);
	raise_busiest(verdict, "ALU", facts->alu);
	raise_busiest(verdict, "special function units", facts->xu);
	raise_busiest(verdict, "tensor cores", facts->tensor);
	raise_busiest(verdict, "issue slots", facts->issue * (isnan(spread) ? 1 : spread));
	if (verdict->busiest && facts->time > 0)
		verdict->best_ns = facts->time * fmin(verdict->busiest_percent, 100) / 100;
}

static void find_stall(const struct verdict_facts *facts, struct verdict *verdict)
{
	const struct {
		const char *name;
		double warps;
	} stalls[] = {
		{"memory (global, local, texture)", facts->stall_memory},
		{"shared memory and special functions", facts->stall_shared},
		{"barriers", facts->stall_barrier},
		{"the instruction before", facts->stall_wait},
		{"a busy execution unit", facts->stall_pipe},
		{"space in the queue of memory instructions", facts->stall_queue},
	};
	double most = 0;

	for (size_t i = 0; i < sizeof(stalls) / sizeof(stalls[0]); i++)
		if (stalls[i].warps > most) {
			most = stalls[i].warps;
			verdict->stall = stalls[i].name;
		}
	if (facts->warps_per_issue > 0)
		verdict->stall_share = most / facts->warps_per_issue;
}

static void find_shape(const struct verdict_facts *facts, struct verdict *verdict)
{
	const struct occupancy_launch launch = {.blocks = facts->blocks,
						.threads = facts->threads,
						.registers = facts->registers,
						.shared = facts->shared};
	struct occupancy_limit limit;

	if (facts->multiprocessors <= 0 || occupancy__limit(&launch, facts->capability, &limit) ||
	    limit.blocks <= 0)
		return;
	verdict->possible = limit.percent;
	verdict->limit = limit.by;
	verdict->waves = (double)facts->blocks / ((double)limit.blocks * facts->multiprocessors);
}

/* A roof of units that idle says nothing of a kernel that keeps others busy. */
static const char *uncounted(const struct verdict_facts *facts, enum roofline_precision precision)
{
	double others = fmax(facts->fma, facts->fp64), tensor = facts->tensor;

	if (tensor > others && precision < ROOFLINE_TENSOR_FP64)
		return "tensor cores";
	if (facts->fp64 > fmax(facts->fma, tensor) &&
	    isnan(verdict_facts__roofline(facts, ROOFLINE_FP64).performance))
		return "FP64 units";
	return NULL;
}

static void find_roofline(const struct verdict_facts *facts, struct verdict *verdict)
{
	const struct roofline_memory memory = memory_of(facts);

	verdict->precision = roofline__busiest(&facts->work, &memory);
	verdict->roofline = verdict_facts__roofline(facts, verdict->precision);
	verdict->uncounted = uncounted(facts, verdict->precision);
}

static bool is_uncoalesced(const struct verdict_facts *facts, const struct verdict *verdict)
{
	double worst = fmin(facts->load_bytes, facts->store_bytes);
	bool waits = facts->stall_memory / facts->warps_per_issue >= MEMORY_WAITS ||
		     facts->stall_queue / facts->warps_per_issue >= MEMORY_WAITS;

	/* 0 is what a kernel without such accesses has. */
	if (facts->load_bytes == 0 || facts->store_bytes == 0)
		worst = fmax(facts->load_bytes, facts->store_bytes);
	/* An empty GPU waits, whatever a sector carries. */
	return worst > 0 && worst < COALESCED * SECTOR &&
	       (memory_percent(facts) >= BUSY || (waits && !(verdict->waves < 1)));
}

static bool is_tail(const struct verdict_facts *facts, const struct verdict *verdict)
{
	double idle = 1 - facts->active_mean / facts->active_most;
	double waves = verdict->waves, last = 1 - waves / ceil(waves);

	/* Less than one wave is a grid too small, not a tail. */
	if (waves > 1 && waves < TAIL_WAVES && last >= TAIL_LOSS)
		return true;
	return idle >= TAIL_LOSS && !(waves <= 1);
}

static uint32_t rules(const struct verdict_facts *facts, const struct verdict *verdict)
{
	double memory = memory_percent(facts), compute = compute_percent(facts);
	uint32_t holds = 0;

	if (facts->time < LAUNCH_NS)
		holds |= HOLDS(LAUNCH);
	if (is_uncoalesced(facts, verdict))
		holds |= HOLDS(UNCOALESCED);
	if (facts->lanes > 0 && facts->lanes < CONVERGED * LANES && memory < BUSY)
		holds |= HOLDS(DIVERGENT);
	if (memory >= BUSY && !(compute > memory))
		holds |= HOLDS(MEMORY);
	if (compute >= BUSY && !(memory >= compute))
		holds |= HOLDS(COMPUTE);
	if (memory >= BUSY || compute >= BUSY || isnan(fmax(memory, compute)))
		return holds;
	if (is_tail(facts, verdict))
		holds |= HOLDS(TAIL);
	if (verdict->possible <= LOW_WARPS && verdict->limit && verdict->waves >= 1)
		holds |= HOLDS(OCCUPANCY);
	return holds | HOLDS(LATENCY);
}

void verdict__find(const struct verdict_facts *facts, struct verdict *verdict)
{
	uint32_t holds;

	*verdict = (struct verdict){
		.waves = NAN,
		.possible = NAN,
		.stall_share = NAN,
		.best_ns = NAN,
	};
	find_busiest(facts, verdict);
	find_stall(facts, verdict);
	find_shape(facts, verdict);
	find_roofline(facts, verdict);
	holds = rules(facts, verdict);
	/* The lowest bit: VERDICTS is in the order of precedence. */
	verdict->kind = holds ? (enum verdict_kind)__builtin_ctz(holds) : VERDICT_UNKNOWN;
	verdict->also = holds & ~(1u << verdict->kind);
	if (verdict->kind != VERDICT_OCCUPANCY)
		verdict->limit = NULL;
}

static void say_stall(const struct verdict *verdict, char *text, size_t size)
{
	*text = 0;
	if (verdict->stall && !isnan(verdict->stall_share))
		snprintf(text, size, ", warps wait for %s %.0f%% of their time", verdict->stall,
			 100 * verdict->stall_share);
}

void verdict__because(const struct verdict_facts *facts, const struct verdict *verdict, char *text,
		      size_t size)
{
	const char *busiest = verdict->busiest ? verdict->busiest : "nothing known";
	char stall[128];

	say_stall(verdict, stall, sizeof(stall));
	switch (verdict->kind) {
	case VERDICT_LAUNCH:
		snprintf(text, size, "runs for %.1f us, which is no longer than launching the next",
			 facts->time / 1e3);
		break;
	case VERDICT_UNCOALESCED:
		snprintf(text, size,
			 "of the 32 bytes in each sector, loads use %.1f and stores %.1f%s",
			 facts->load_bytes, facts->store_bytes, stall);
		break;
	case VERDICT_DIVERGENT:
		snprintf(text, size, "%.1f of 32 threads work in an instruction on average",
			 facts->lanes);
		break;
	case VERDICT_MEMORY:
	case VERDICT_COMPUTE:
		snprintf(text, size, "%s at %.0f%% of the peak", busiest, verdict->busiest_percent);
		break;
	case VERDICT_TAIL:
		snprintf(text, size,
			 "%.2f waves of blocks; multiprocessors work %.0f%% of the time of the "
			 "busiest one",
			 verdict->waves, 100 * facts->active_mean / facts->active_most);
		break;
	case VERDICT_OCCUPANCY:
		snprintf(text, size, "%s allow%s %.0f%% of the warps, %.0f%% are there%s",
			 verdict->limit, !strcmp(verdict->limit, "registers") ? "" : "s",
			 verdict->possible, facts->occupancy, stall);
		break;
	case VERDICT_LATENCY:
		snprintf(text, size, "nothing is busy: %s at %.0f%% is the most%s%s", busiest,
			 verdict->busiest_percent, stall,
			 verdict->waves < 1 ? "; the grid does not fill the GPU" : "");
		break;
	default:
		snprintf(text, size, "the counters that the rules read were not collected");
	}
}

const char *verdict__advice(const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_LAUNCH:
		return "fuse kernels, or launch them as a CUDA graph";
	case VERDICT_UNCOALESCED:
		return "let neighbouring threads read and write neighbouring addresses";
	case VERDICT_DIVERGENT:
		return "let the threads of a warp take the same branch, and fill the last warp";
	case VERDICT_MEMORY:
		return "move fewer bytes: smaller types, reuse in caches, fused kernels";
	case VERDICT_COMPUTE:
		return "use cheaper instructions: lower precision, tensor cores, fewer operations";
	case VERDICT_TAIL:
		return "choose a grid that is a multiple of what the GPU holds, or smaller blocks";
	case VERDICT_OCCUPANCY:
		return "use less of what limits the warps: __launch_bounds__, smaller tiles, other "
		       "block size";
	case VERDICT_LATENCY:
		return verdict->waves < 1 ? "a larger grid: more work at once"
					  : "more independent work in each thread, fewer barriers";
	default:
		return "--counters overview collects what the rules read";
	}
}

/* The most informative of several places: counters know no lines. */
const char *verdict__where(const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_LAUNCH:
		return "the host's code that launches it: cuda-trace record -g, then report "
		       "--flamegraph";
	case VERDICT_UNCOALESCED:
	case VERDICT_DIVERGENT:
		return "cuda-trace profile --sass -k NAME names the line";
	case VERDICT_MEMORY:
	case VERDICT_COMPUTE:
		return "cuda-trace profile --pc -k NAME names the lines that take the time";
	case VERDICT_TAIL:
		return "the launch: its grid, and the size of its blocks";
	case VERDICT_OCCUPANCY:
		if (verdict->limit && !strcmp(verdict->limit, "registers"))
			return "the kernel's registers: nvcc -Xptxas -v prints them, "
			       "__launch_bounds__ limits them";
		if (verdict->limit && !strcmp(verdict->limit, "shared memory"))
			return "the kernel's __shared__ arrays, and the launch's dynamic shared "
			       "memory";
		return "the launch: the size of its blocks";
	case VERDICT_LATENCY:
		if (verdict->waves < 1)
			return "the launch: its grid; cuda-trace profile --pc -k NAME names the "
			       "lines that wait";
		return "cuda-trace profile --pc -k NAME names the lines that wait";
	default:
		return NULL;
	}
}
