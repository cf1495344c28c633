/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of `profile --pc`: samples by function, instruction and what was waited for. Filled
 * record by record, read at the end. Bounded: what comes is the traced programs' to choose.
 */
#ifndef CUDA_TRACE_PROFILE_PC_PC_TABLE_H
#define CUDA_TRACE_PROFILE_PC_PC_TABLE_H

#include "cuda-trace/profile/code/code_table.h"
#include "cuda-trace/profile/pc/pc_reason.h"
#include "cuda-trace/base/pattern.h"
#include "cuda-trace/capture/process.h"

struct interned;
struct disassembled;

struct pc_counts {
	uint64_t samples;
	uint64_t idle; /* of these: the scheduler had no other warp to issue from */
	uint64_t reasons[PC_MAX_REASONS]; /* samples, by number of the reason */
};

struct pc_function {
	struct code_function of;
	const struct disassembled *code; /* NULL = unknown */
	struct pc_counts counts;
};

struct pc_instruction {
	struct code_place at;
	const char *text; /* disassembled, untrusted; NULL = unknown */
	struct pc_counts counts;
};

struct pc_process {
	uint32_t pid;
	uint32_t uid;
	char comm[EVENT_COMM_LEN]; /* untrusted */
	uint64_t windows;	   /* parts of windows, of all its contexts */
	uint64_t samples;
	struct cuda_status status;
	int exit_status; /* -1 = lives, or not known */
};

/* Where a record of samples was counted: indexes until the table is sorted. */
struct pc_place {
	uint32_t instruction, reason;
	uint64_t samples; /* 0 = it was not, or for the second time */
};

struct pc_table {
	struct pattern *pattern; /* which functions count */
	CODE_TABLE(struct pc_function, struct pc_instruction);
	uint32_t reason_count;
	struct pc_counts all; /* of what the pattern lets through */
	uint64_t filtered;    /* samples of functions that it does not */
	uint64_t unkept;      /* samples in `all`, of instructions beyond the table's limit */
	uint64_t windows, window_ns, overflows;
	uint64_t held_ns;		/* that launches were held for windows, of all processes */
	uint64_t total, dropped, other; /* as the agents reported them */
	uint32_t period_least, period_most; /* 2^N cycles; 0 = unknown */
	struct pc_process *processes;
	uint32_t process_count;
	uint32_t processes_left_out;
	struct pc_place latest; /* of the record that came last */
	/* The rest is pc_table.c's own. */
	struct interned *reason_names;
	uint32_t process_capacity;
};

int pc_table__init(struct pc_table *table, struct pattern *pattern);
void pc_table__free(struct pc_table *table);
void pc_table__start(struct pc_table *table, struct process *process);
void pc_table__record(struct pc_table *table, struct process *process,
		      const struct cuda_record *record);
/* Of a process, in its lifetime. */
uint64_t pc_table__windows(const struct process *process);
void pc_table__end(struct pc_table *table, struct process *process);
/* Functions and instructions by samples, most first; no record may come afterwards. */
void pc_table__sort(struct pc_table *table);
/* "long_scoreboard": CUPTI's word without what all of them have in common; untrusted. */
const char *pc_table__reason(const struct pc_table *table, uint32_t number);
/* What it means, in words; NULL = nobody here knows. */
const char *pc_table__meaning(const char *reason);
/* Samples of the program that came without a record of their own, and not said to be dropped. */
uint64_t pc_table__unplaced(const struct pc_table *table);
/* Why there is next to nothing in the table though the GPU was sampled, and what helps; NULL =
 * there is. */
const char *pc_table__note(const struct pc_table *table);

#endif
