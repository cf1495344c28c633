/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What holds a kernel back, from its counters: docs/reference/verdict.md has each rule and where it
 * is from. Pure functions; a figure that nobody knows is NAN and decides nothing.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_VERDICT_H
#define CUDA_TRACE_PROFILE_COUNTERS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/profile/counters/roofline.h"

/* X(enumerator, stable key) */
#define VERDICTS(X)                       \
	X(UNKNOWN, "unknown")             \
	X(LAUNCH, "launch-bound")         \
	X(UNCOALESCED, "uncoalesced")     \
	X(DIVERGENT, "divergent")         \
	X(MEMORY, "memory-bound")         \
	X(COMPUTE, "compute-bound")       \
	X(TAIL, "tail effect")            \
	X(OCCUPANCY, "occupancy-limited") \
	X(LATENCY, "latency-bound")

enum verdict_kind {
#define VERDICT_ENUMERATOR(name, key) VERDICT_##name,
	VERDICTS(VERDICT_ENUMERATOR)
#undef VERDICT_ENUMERATOR
		VERDICT_COUNT
};

/* X(field, metric): what the rules read. The metrics are those of the preset `overview`. */
#define VERDICT_FACTS(X)                                                                       \
	X(time, "gpu__time_duration.sum")                                                      \
	X(dram, "dram__bytes.sum.pct_of_peak_sustained_elapsed")                               \
	X(l2, "lts__t_sectors.sum.pct_of_peak_sustained_elapsed")                              \
	X(l2_port, "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed")            \
	X(l1, "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed")             \
	X(issue, "smsp__issue_active.avg.pct_of_peak_sustained_active")                        \
	X(fma, "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed")                 \
	X(half, "sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_elapsed")      \
	X(half_pipe, "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_elapsed")          \
	X(fp64, "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed")               \
	X(alu, "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed")                 \
	X(xu, "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed")                   \
	X(tensor, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed")           \
	X(occupancy, "sm__warps_active.avg.pct_of_peak_sustained_active")                      \
	X(lanes, "smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio")         \
	X(load_bytes, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio")       \
	X(store_bytes, "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio")      \
	X(active_mean, "sm__cycles_active.avg")                                                \
	X(active_most, "sm__cycles_active.max")                                                \
	X(elapsed, "sm__cycles_elapsed.max")                                                   \
	X(dram_bytes, "dram__bytes.sum")                                                       \
	X(dram_peak, "dram__bytes.sum.peak_sustained")                                         \
	X(dram_clock, "dram__cycles_elapsed.avg.per_second")                                   \
	X(sm_clock, "sm__cycles_elapsed.avg.per_second")                                       \
	X(stall_memory,                                                                        \
	  "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio")          \
	X(stall_shared,                                                                        \
	  "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio")         \
	X(stall_barrier, "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio")   \
	X(stall_wait, "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio")         \
	X(stall_pipe,                                                                          \
	  "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio")       \
	X(stall_queue, "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio") \
	X(warps_per_issue, "smsp__average_warps_active_per_issue_active.ratio")

struct verdict_facts {
#define VERDICT_FIELD(field, metric) double field;
	VERDICT_FACTS(VERDICT_FIELD)
#undef VERDICT_FIELD
	struct roofline_work work;
	/* The launch, as it was requested; 0 = not known. */
	int64_t blocks, threads;	     /* of the grid, of a block */
	int64_t registers, shared;	     /* of a thread, bytes of a block */
	int64_t capability, multiprocessors; /* 90 for 9.0 */
};

struct verdict {
	enum verdict_kind kind;
	const char *limit; /* of OCCUPANCY: "registers", "shared memory", "block size"; else NULL */
	const char *busiest; /* the unit that is nearest to its peak, NULL = unknown */
	double busiest_percent;
	double waves;			   /* of blocks over all multiprocessors; NAN = unknown */
	double possible;		   /* occupancy that the launch allows, percent; NAN */
	const char *stall;		   /* what warps mostly wait for, NULL = unknown */
	double stall_share;		   /* of the cycles that warps are resident */
	double best_ns;			   /* if the busiest unit were at its peak; NAN */
	enum roofline_precision precision; /* of those counted, nearest to its peak */
	struct roofline_point roofline;	   /* in it, against DRAM */
	const char *uncounted; /* units busier than those whose operations were counted, or NULL */
	uint32_t also;	       /* bits (1 << enum verdict_kind): rules that hold beside it */
};

/* All fields NAN or 0. */
void verdict_facts__clear(struct verdict_facts *facts);
/* Takes the value if a rule reads that metric. */
void verdict_facts__take(struct verdict_facts *facts, const char *metric, double value);
struct roofline_point verdict_facts__roofline(const struct verdict_facts *facts,
					      enum roofline_precision precision);
void verdict__find(const struct verdict_facts *facts, struct verdict *verdict);
const char *verdict__key(enum verdict_kind kind);
/* The numbers that say so, and where to look: two sentences for people. */
void verdict__because(const struct verdict_facts *facts, const struct verdict *verdict, char *text,
		      size_t size);
const char *verdict__advice(const struct verdict *verdict);
/* Where to look for the place in the program; NULL = nobody knows. */
const char *verdict__where(const struct verdict *verdict);

#endif
