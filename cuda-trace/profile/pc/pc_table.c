// SPDX-License-Identifier: BSD-2-Clause
/*
 * The image's checksum and the name identify a function, function and offset an instruction.
 * The tool's one thread.
 */
#include "cuda-trace/profile/pc/pc_table.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/intern.h"
#include "cuda-trace/base/array_grow.h"

#define MAX_FUNCTIONS	 8192
#define MAX_INSTRUCTIONS 65536
#define MAX_FILES	 8192
#define MAX_PROCESSES	 8192
#define MAX_BYTES	 (8u << 20)
#define NAME_BYTES	 1024 /* that tell one function from another */

#define PREFIX		 "smsp__pcsamp_warps_issue_stalled_"
#define SUFFIX		 "_not_issued"
#define SUFFIX_BYTES	 (sizeof(SUFFIX) - 1)

struct tally {
	uint64_t windows, samples;
};

int pc_table__init(struct pc_table *table, struct pattern *pattern)
{
	memset(table, 0, sizeof(*table));
	table->pattern = pattern;
	table->function_names = intern__new(MAX_FUNCTIONS, MAX_BYTES);
	table->instruction_keys = intern__new(MAX_INSTRUCTIONS, MAX_BYTES);
	table->reason_names = intern__new(PC_MAX_REASONS, MAX_BYTES);
	table->files = intern__new(MAX_FILES, MAX_BYTES);
	if (table->function_names && table->instruction_keys && table->reason_names && table->files)
		return 0;
	pc_table__free(table);
	return -1;
}

void pc_table__free(struct pc_table *table)
{
	intern__free(table->function_names);
	intern__free(table->instruction_keys);
	intern__free(table->reason_names);
	intern__free(table->files);
	free(table->functions);
	free(table->instructions);
	free(table->processes);
}

/* Number of a function in the order of their coming, from 1; 0 = the table is full. */
static uint32_t function_of(struct pc_table *table, const char *name, uint64_t cubin)
{
	char key[sizeof(cubin) + NAME_BYTES];
	size_t length = strnlen(name, NAME_BYTES - 1), size;
	struct pc_function *functions;
	bool is_new;
	uint32_t number;

	functions = array_grow__for_one(table->functions, &table->function_capacity,
					table->function_count, sizeof(*functions));
	if (!functions)
		return 0;
	table->functions = functions;
	memcpy(key, &cubin, sizeof(cubin));
	memcpy(key + sizeof(cubin), name, length);
	key[sizeof(cubin) + length] = '\0';
	number = intern__number(table->function_names, key, sizeof(cubin) + length + 1, &is_new);
	if (number && is_new)
		functions[table->function_count++] = (struct pc_function){
			.of = {.name = (const char *)intern__at(table->function_names, number,
								&size) +
				       sizeof(cubin),
			       .cubin = cubin},
		};
	return number;
}

static const char *file_of(struct pc_table *table, const char *name)
{
	size_t size;
	uint32_t number;

	if (!name || !*name)
		return NULL;
	number = intern__number(table->files, name, strlen(name) + 1, NULL);
	return number ? intern__at(table->files, number, &size) : NULL;
}

static uint32_t instruction_of(struct pc_table *table, uint32_t function, uint64_t offset)
{
	const struct {
		uint64_t function, offset;
	} key = {function, offset};
	struct pc_instruction *instructions;
	bool is_new;
	uint32_t number;

	instructions = array_grow__for_one(table->instructions, &table->instruction_capacity,
					   table->instruction_count, sizeof(*instructions));
	if (!instructions)
		return 0;
	table->instructions = instructions;
	number = intern__number(table->instruction_keys, &key, sizeof(key), &is_new);
	if (number && is_new)
		instructions[table->instruction_count++] = (struct pc_instruction){
			.at = {.function = function - 1, .offset = offset},
		};
	return number;
}

/* CUPTI counts a sample a second time, under another name, if the scheduler had nothing to issue:
 * the same number with *idle set. PC_MAX_REASONS: the table is full. */
static uint32_t reason_of(struct pc_table *table, const char *name, bool *idle)
{
	char word[NAME_BYTES];
	size_t length;
	uint32_t number;
	bool is_new;

	if (!strncmp(name, PREFIX, sizeof(PREFIX) - 1))
		name += sizeof(PREFIX) - 1;
	length = strnlen(name, sizeof(word) - 1);
	memcpy(word, name, length);
	word[length] = '\0';
	*idle = length > SUFFIX_BYTES && !strcmp(word + length - SUFFIX_BYTES, SUFFIX);
	if (*idle)
		word[length -= SUFFIX_BYTES] = '\0';
	number = intern__number(table->reason_names, word, length + 1, &is_new);
	if (number && is_new)
		table->reason_count++;
	return number ? number - 1 : PC_MAX_REASONS;
}

static void count(struct pc_counts *counts, uint32_t reason, bool idle, uint64_t samples)
{
	if (idle) {
		counts->idle += samples;
		return;
	}
	counts->samples += samples;
	counts->reasons[reason] += samples;
}

static void handle_sample(struct pc_table *table, struct process *process,
			  const struct cuda_pc_sample *sample)
{
	const char *name = process__pretty_name(process, sample->function);
	const char *word = process__name(process, sample->reason);
	struct tally *tally = process->data;
	struct pc_instruction *instruction;
	uint32_t function, place, reason;
	bool idle = false;

	reason = reason_of(table, word ? word : "unknown", &idle);
	if (tally && !idle)
		tally->samples += sample->samples;
	if (!pattern__matches(table->pattern, name)) {
		table->filtered += idle ? 0 : sample->samples;
		return;
	}
	if (reason == PC_MAX_REASONS) {
		table->unkept += sample->samples;
		return;
	}
	count(&table->all, reason, idle, sample->samples);
	function = function_of(table, name, sample->cubin);
	if (function)
		count(&table->functions[function - 1].counts, reason, idle, sample->samples);
	if (function && !table->functions[function - 1].of.symbol)
		table->functions[function - 1].of.symbol =
			file_of(table, process__name(process, sample->function));
	place = function ? instruction_of(table, function, sample->offset) : 0;
	if (!place) {
		table->unkept += idle ? 0 : sample->samples;
		return;
	}
	instruction = &table->instructions[place - 1];
	count(&instruction->counts, reason, idle, sample->samples);
	table->latest = (struct pc_place){place - 1, reason, idle ? 0 : sample->samples};
	if (!instruction->at.file && sample->file) {
		instruction->at.file = file_of(table, process__name(process, sample->file));
		instruction->at.line = sample->line;
	}
}

static void handle_window(struct pc_table *table, const struct process *process,
			  const struct cuda_pc_window *window)
{
	struct tally *tally = process->data;

	if (tally)
		tally->windows++;
	table->windows++;
	table->held_ns += window->held;
	table->window_ns += window->end > window->start ? window->end - window->start : 0;
	table->overflows += !!window->overflows;
	table->total += window->total;
	table->dropped += window->dropped;
	table->other += window->other;
	if (!window->period)
		return;
	if (!table->period_least || window->period < table->period_least)
		table->period_least = window->period;
	if (window->period > table->period_most)
		table->period_most = window->period;
}

void pc_table__start(struct pc_table *table, struct process *process)
{
	process->data = calloc(1, sizeof(struct tally));
}

void pc_table__record(struct pc_table *table, struct process *process,
		      const struct cuda_record *record)
{
	table->latest = (struct pc_place){.samples = 0};
	if (record->kind == CUDA_RECORD_PC_SAMPLE)
		handle_sample(table, process, (const void *)record);
	else if (record->kind == CUDA_RECORD_PC_WINDOW)
		handle_window(table, process, (const void *)record);
}

uint64_t pc_table__windows(const struct process *process)
{
	const struct tally *tally = process->data;

	return tally ? tally->windows : 0;
}

void pc_table__end(struct pc_table *table, struct process *process)
{
	struct tally *tally = process->data;
	struct pc_process *processes = NULL;

	if (table->process_count < MAX_PROCESSES)
		processes = array_grow__for_one(table->processes, &table->process_capacity,
						table->process_count, sizeof(*processes));
	if (!processes) {
		table->processes_left_out++;
		free(tally);
		return;
	}
	table->processes = processes;
	processes[table->process_count] = (struct pc_process){
		.pid = process->pid,
		.uid = process->uid,
		.windows = tally ? tally->windows : 0,
		.samples = tally ? tally->samples : 0,
		.status = process->status,
		.exit_status = process->exit_status,
	};
	memcpy(processes[table->process_count++].comm, process->comm, sizeof(process->comm));
	free(tally);
}

static int by_samples(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int compare_instructions(const void *a, const void *b)
{
	const struct pc_instruction *first = a, *second = b;
	int order = by_samples(first->counts.samples, second->counts.samples);

	if (order)
		return order;
	return first->at.offset < second->at.offset ? -1 : first->at.offset > second->at.offset;
}

static int compare_functions(const void *a, const void *b)
{
	const struct pc_function *const *first = a, *const *second = b;
	int order = by_samples((*first)->counts.samples, (*second)->counts.samples);

	return order ? order : *first < *second ? -1 : *first > *second;
}

void pc_table__sort(struct pc_table *table)
{
	const struct code_table code = code_table_of(table);

	code_table__sort_functions(&code, compare_functions);
	if (table->instruction_count)
		qsort(table->instructions, table->instruction_count, sizeof(*table->instructions),
		      compare_instructions);
}

const char *pc_table__reason(const struct pc_table *table, uint32_t number)
{
	size_t size;

	return intern__at(table->reason_names, number + 1, &size);
}

const char *pc_table__meaning(const char *reason)
{
	static const struct {
		const char *reason, *meaning;
	} meanings[] = {
		{"barrier", "the other warps of its block, at a barrier"},
		{"branch_resolving", "a branch's target"},
		{"dispatch_stall", "the dispatcher, which was held up"},
		{"drain", "its writes to memory, before it exits"},
		{"gmma", "the tensor cores, asynchronous products"},
		{"imc_miss", "a constant that was not in the cache"},
		{"lg_throttle", "space in the queue to local and global memory"},
		{"long_scoreboard", "data from local, global or texture memory"},
		{"math_pipe_throttle", "an arithmetic unit that is busy"},
		{"membar", "a memory barrier"},
		{"mio_throttle", "space in the queue to shared memory and special functions"},
		{"misc", "something else"},
		{"no_instructions", "its next instruction, not in the cache"},
		{"not_selected", "nothing: it could go on, another warp was chosen"},
		{"selected", "nothing: its instruction was issued"},
		{"short_scoreboard", "data from shared memory or a special function"},
		{"sleeping", "the end of its sleep"},
		{"tex_throttle", "space in the queue to texture memory"},
		{"wait", "the fixed latency of its last instruction"},
		{"warpgroup_arrive", "its warp group, to arrive"},
	};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (!strcmp(meanings[i].reason, reason))
			return meanings[i].meaning;
	return NULL;
}

uint64_t pc_table__unplaced(const struct pc_table *table)
{
	uint64_t known = table->dropped + table->other + table->all.samples + table->filtered;

	return table->total > known ? table->total - known : 0;
}

/*
 * Two reasons look alike from here: other processes on the GPU, and CUPTI that takes the program's
 * own kernels for theirs (the manual page, SAMPLES). So the note names both, and how to tell which.
 */
const char *pc_table__note(const struct pc_table *table)
{
	if (!table->other || table->other * 10 < (table->total - table->dropped) * 9)
		return NULL;
	return "nearly all samples are of kernels that CUPTI does not take for the program's: "
	       "either "
	       "others use the GPU (nvidia-smi shows them), or the program launched a graph, or "
	       "its "
	       "kernels were traced, before its first window. Then start it with cuda-trace "
	       "profile "
	       "--pc, before metrics, top and the like; of this process profile --counters -p and "
	       "profile --sass -p tell more";
}
