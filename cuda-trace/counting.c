// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/counting.h"

#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/commands.h"
#include "cuda-trace/counter_report.h"
#include "cuda-trace/text.h"

#define SLOW_SECONDS 5

static void put_count(const char *name, uint64_t count)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)count);
	setenv(name, text, 1);
}

void counting__ask(const struct profile_options *options, const char *request)
{
	setenv("CUPTI_USDT_COUNTERS", request, 1);
	if (options->shared.kernel)
		setenv("CUPTI_USDT_COUNTERS_KERNELS", options->shared.kernel, 1);
	else
		unsetenv("CUPTI_USDT_COUNTERS_KERNELS");
	put_count("CUPTI_USDT_COUNTERS_SKIP", options->skip);
	put_count("CUPTI_USDT_COUNTERS_LIMIT", options->kernels);
}

void counting__process_start(void *context, struct process *process)
{
}

void counting__process_end(void *context, struct process *process)
{
	process->data = NULL;
}

static void say_plan(const struct cuda_counters_state *state, const char *chip)
{
	char shown[140];

	fprintf(stderr,
		"cuda-trace profile: %u metrics in %u pass%s on %s: each counted kernel runs "
		"alone, %s\n",
		state->metrics, state->passes, state->passes == 1 ? "" : "es",
		text__show(shown, sizeof(shown), chip, 30),
		state->passes == 1 ? "once"
				   : "once for each pass, and its memory is put back "
				     "between them");
}

void counting__state(struct counting *counting, struct process *process,
		     const struct cuda_counters_state *record)
{
	struct counter_process *whose = counter_table__process(&counting->table, process);
	bool was_told;
	uint32_t before;

	if (!whose)
		return;
	was_told = whose->told;
	before = was_told ? whose->state.outcome : (uint32_t)CUDA_COUNTERS_WAITING;
	counter_table__state(&counting->table, process, record);
	if (before != record->outcome) {
		if (record->outcome == CUDA_COUNTERS_ON && !counting->passes_said)
			say_plan(record, whose->chip);
		if (record->outcome == CUDA_COUNTERS_FAILED) {
			counter_report__say_failure(whose);
			counting->failures++;
		}
		if (record->outcome == CUDA_COUNTERS_DONE && record->result &&
		    !counting->end_said) {
			counting->end_said = true;
			fprintf(stderr, "cuda-trace profile: this libcupti looks into one kernel "
					"of a process "
					"and no more (13.0 does): choose it with -k and --skip\n");
		}
	}
	if (record->running >= SLOW_SECONDS && !counting->slow_said) {
		counting->slow_said = true;
		fprintf(stderr,
			"cuda-trace profile: process %u has been in one counted kernel for %u s; "
			"if it never ends, neither does its launch: leave it out with -k\n",
			process->pid, record->running);
	}
}

bool counting__is_done(const struct counting *counting)
{
	bool any = false;

	for (const struct counter_process *process = counting->table.processes; process;
	     process = process->next) {
		if (!process->told)
			continue;
		if (process->state.outcome != CUDA_COUNTERS_DONE)
			return false;
		any = true;
	}
	return any;
}

/* An empty profile is no success. */
int counting__end(struct counting *counting, const struct profile_options *options, int status)
{
	if (!counting->table.counted && status == EXIT_OK) {
		if (!counting->failures)
			fprintf(stderr, "cuda-trace profile: no kernel was counted%s\n",
				options->shared.kernel
					? ": -k is compared with names without template arguments "
					  "and parameters"
					: "");
		status = EXIT_TROUBLE;
	}
	counter_table__free(&counting->table);
	return status;
}
