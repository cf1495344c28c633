/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counted kernels, summed by name and shape: what profile --counters shows at its end. Texts are
 * demangled and untrusted.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_COUNTER_TABLE_H
#define CUDA_TRACE_PROFILE_COUNTERS_COUNTER_TABLE_H

#include <stdint.h>
#include "cuda-trace/capture/process.h"
#include "cuda-trace/profile/counters/verdict.h"

/* What a metric is called, and in what its value is. */
struct counter_metric {
	char *name;
	char *unit; /* of the value: "byte", "%", "byte/s", "" = none */
};

struct counter_sum {
	const struct counter_metric *metric;
	double sum, least, most;
	uint64_t count; /* launches that had it */
};

/* Or a graph, which has neither shape nor registers. */
struct counter_kernel {
	char *name;
	bool is_graph;
	uint32_t graph; /* id of an executable graph, 0 = none, or not known */
	uint32_t grid[3], block[3];
	uint32_t registers, static_shared, dynamic_shared;
	int64_t capability, multiprocessors;
	uint64_t counted;
	uint32_t count; /* of sums */
	struct counter_sum *sums;
	struct counter_kernel *next;
};

/* One process: its last status record. */
struct counter_process {
	uint32_t pid;
	char comm[EVENT_COMM_LEN];
	struct cuda_counters_state state;
	char chip[32], function[64], metric[128];
	bool has_state;
	bool past;	/* of a run that is over */
	bool requested; /* while it ran, by this tool */
	bool refused;	/* it counts nothing for us, which was said */
	struct {
		int64_t capability, multiprocessors;
	} devices[32];
	struct counter_process *next;
};

struct counter_table {
	struct counter_kernel *kernels;
	struct counter_process *processes;
	struct counter_metric **metrics;
	uint32_t metric_count, kernel_count;
	uint64_t counted;
	uint64_t unkept; /* launches of kernels beyond the table's limit */
	bool by_turns;	 /* a launch has some of the metrics, others have the others */
	bool graphs;	 /* launches of graphs were requested, not kernels */
};

/* process->data is ours: NULL if there is no memory. */
struct counter_process *counter_table__process(struct counter_table *table,
					       struct process *process);
void counter_table__metric(struct counter_table *table, struct process *process,
			   const struct cuda_counters_metric *record);
void counter_table__state(struct counter_table *table, struct process *process,
			  const struct cuda_counters_state *record);
void counter_table__device(struct counter_table *table, struct process *process,
			   const struct cuda_device *record);
/* One launch: what is known of it, its values in `alone` as sums of one; its name until the next
 * call. False: it made no sense. */
bool counter_table__read(struct counter_table *table, struct process *process,
			 const struct cuda_counters *record, struct counter_kernel *alone);
/* And takes it into the sums. */
void counter_table__add(struct counter_table *table, const struct counter_kernel *alone);
/* Those that there are by now are only kept for being shown: PROGRAM runs once more. */
void counter_table__forget_processes(struct counter_table *table);
/* By GPU time, that of a launch times launches, the longest first; by name where there is none. */
void counter_table__sort(struct counter_table *table);
/* Metrics that none of its launches had so far: what the rules say without them may be wrong. */
uint32_t counter_table__lacks(const struct counter_table *table,
			      const struct counter_kernel *kernel);
double counter_sum__mean(const struct counter_sum *sum);
/* What the rules say of a kernel's means. */
void counter_kernel__verdict(const struct counter_kernel *kernel, struct verdict_facts *facts,
			     struct verdict *verdict);
void counter_table__free(struct counter_table *table);

#endif
