/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of `profile --sass`: what each instruction did, by function and place. Filled record by
 * record, read at the end. Bounded: what comes is the traced programs' to choose.
 */
#ifndef CUDA_TRACE_PROFILE_SASS_SASS_TABLE_H
#define CUDA_TRACE_PROFILE_SASS_SASS_TABLE_H

#include <stdbool.h>
#include "cuda-trace/profile/code/code_table.h"
#include "cuda-trace/capture/process.h"

struct sass_counts {
	uint64_t values[CUDA_SASS_COUNT];
	uint64_t requests; /* of the executed: of global memory */
	uint64_t accesses; /* likewise: of shared memory */
};

struct sass_function {
	struct code_function of;
	uint32_t known;	   /* bits (1 << enum cuda_sass_metric) */
	uint32_t number;   /* of the launch that was counted last */
	uint32_t pid;	   /* and its process */
	uint64_t launches; /* that reached it */
	struct sass_counts counts;
};

struct sass_instruction {
	struct code_place at;
	struct sass_counts counts;
};

struct sass_table {
	CODE_TABLE(struct sass_function, struct sass_instruction);
	uint64_t executed; /* of all functions */
	uint64_t unkept;   /* records of instructions beyond the table's limit */
};

int sass_table__init(struct sass_table *table);
void sass_table__free(struct sass_table *table);
void sass_table__record(struct sass_table *table, struct process *process,
			const struct cuda_sass *record);
/* Functions by what they executed, most first, instructions by function and offset; no record may
 * come afterwards. */
void sass_table__sort(struct sass_table *table);
/* Index of a function's first instruction, in a sorted table. */
uint32_t sass_table__first(const struct sass_table *table, uint32_t function);

void sass_counts__add(struct sass_counts *to, const struct sass_counts *counts);
/* A part of b, NAN if there is no b. */
double sass_ratio(uint64_t a, uint64_t b);

#endif
