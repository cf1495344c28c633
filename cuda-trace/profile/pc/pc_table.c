// SPDX-License-Identifier: BSD-2-Clause
/* The tool's one thread. */
#include "cuda-trace/profile/pc/pc_table.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/intern.h"
#include "cuda-trace/base/array_grow.h"

#define MAX_INSTRUCTIONS 65536
#define MAX_PROCESSES	 8192
#define MAX_BYTES	 (8u << 20)

struct tally {
	uint64_t windows, samples;
};

int pc_table__init(struct pc_table *table, struct pattern *pattern)
{
	memset(table, 0, sizeof(*table));
	table->pattern = pattern;
	table->reason_names = intern__new(PC_MAX_REASONS, MAX_BYTES);
	if (table->reason_names &&
	    !code_table__init(&table->code, sizeof(*table->functions), sizeof(*table->instructions),
			      MAX_INSTRUCTIONS, MAX_BYTES))
		return 0;
	intern__free(table->reason_names);
	return -1;
}

void pc_table__free(struct pc_table *table)
{
	code_table__free(&table->code);
	intern__free(table->reason_names);
	free(table->processes);
}

/* *idle as pc_reason__split() has it. PC_MAX_REASONS: the table is full. */
static uint32_t reason_of(struct pc_table *table, const char *name, bool *idle)
{
	char word[PC_REASON_BYTES];
	uint32_t number;
	bool is_new;

	*idle = pc_reason__split(name, word);
	number = intern__number(table->reason_names, word, strlen(word) + 1, &is_new);
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
	uint32_t function, place = CODE_NONE, reason;
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
	function = code_table__add_function(&table->code, process, name, sample->function,
					    sample->cubin);
	if (function != CODE_NONE) {
		count(&table->functions[function].counts, reason, idle, sample->samples);
		place = code_table__add_place(&table->code, process, function, sample->offset,
					      sample->file, sample->line);
	}
	if (place == CODE_NONE) {
		table->unkept += idle ? 0 : sample->samples;
		return;
	}
	count(&table->instructions[place].counts, reason, idle, sample->samples);
	table->latest = (struct pc_place){place, reason, idle ? 0 : sample->samples};
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
	struct pc_process *kept;

	if (table->process_count >= MAX_PROCESSES ||
	    !array_grow__for_one(table->processes, table->process_capacity, table->process_count)) {
		table->processes_left_out++;
		free(tally);
		return;
	}
	kept = &table->processes[table->process_count++];
	*kept = (struct pc_process){
		.pid = process->pid,
		.uid = process->uid,
		.windows = tally ? tally->windows : 0,
		.samples = tally ? tally->samples : 0,
		.status = process->status,
		.exit_status = process->exit_status,
	};
	memcpy(kept->comm, process->comm, sizeof(process->comm));
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
	code_table__sort_functions(&table->code, compare_functions);
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
		{"not_selected", "nothing: it was ready, but another warp was chosen"},
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
	return "nearly all samples are of kernels that CUPTI does not attribute to the program: "
	       "either other processes use the GPU (nvidia-smi shows them), or, before its first "
	       "window, the program launched a graph or its kernels were traced. In that case, "
	       "start it with cuda-trace profile --pc, before metrics, top and the like; for this "
	       "process, use profile --counters -p and profile --sass -p";
}
