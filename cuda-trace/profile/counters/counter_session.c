// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/counters/counter_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/profile/counters/counter_report.h"
#include "cuda-trace/capture/counter_requests.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/base/text.h"

#define SLOW_SECONDS 5

static void put_count(const char *name, uint64_t count)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)count);
	setenv(name, text, 1);
}

int counter_session__ask(struct counting *counting, const struct profile_options *options,
			 const char *request)
{
	counting->pid = options->shared.pid;
	if (!options->shared.program) {
		counting->requests =
			counter_requests__new(request, options->shared.kernel, options->skip,
					      options->kernels, options->graphs);
		if (counting->requests)
			return EXIT_OK;
		fprintf(stderr,
			"cuda-trace profile: more metrics than fit into a request, or no memory\n");
		return EXIT_TROUBLE;
	}
	setenv("CUPTI_USDT_COUNTERS", request, 1);
	if (options->shared.kernel)
		setenv("CUPTI_USDT_COUNTERS_KERNELS", options->shared.kernel, 1);
	else
		unsetenv("CUPTI_USDT_COUNTERS_KERNELS");
	if (options->graphs)
		setenv("CUPTI_USDT_COUNTERS_GRAPHS", "1", 1);
	else
		unsetenv("CUPTI_USDT_COUNTERS_GRAPHS");
	put_count("CUPTI_USDT_COUNTERS_SKIP", options->skip);
	put_count("CUPTI_USDT_COUNTERS_LIMIT", options->kernels);
	return EXIT_OK;
}

void counter_session__process_start(void *context, struct process *process)
{
}

/* Why a process cannot be requested to count. */
static const char *refusal(int err)
{
	switch (err) {
	case -ENOTSUP:
		return "its environment chose the metrics at its start, or its injection library "
		       "is older than this tool";
	case -EBUSY:
		return "another cuda-trace already counts it";
	case -EFAULT:
		return "the address that it reports is not in its injection library's memory";
	case -EPERM:
	case -EACCES:
		return "its memory may not be written, where the request would be: run "
		       "as root or with CAP_SYS_PTRACE (a container: --cap-add SYS_PTRACE; "
		       "kernel.yama.ptrace_scope=3 forbids it to all)";
	default:
		return strerror(-err);
	}
}

void counter_session__process_status(struct counting *counting, struct process *process)
{
	struct counter_process *whose = counter_table__process(&counting->table, process);
	const char *trouble = agent_state__trouble(&process->status);
	char comm[80];
	int err = 0;

	if (!whose || whose->refused || process->ended)
		return;
	if (!trouble && counting->requests)
		err = counter_requests__put(counting->requests, process);
	if (!trouble && !err)
		whose->requested = true;
	if (!trouble && (!err || err == -ESRCH))
		return;
	whose->refused = true;
	counting->failures++;
	fprintf(stderr, "cuda-trace profile: process %u (%s) counts nothing: %s\n", process->pid,
		text__show(comm, sizeof(comm), process->comm, 16),
		trouble ? trouble : refusal(err));
}

bool counter_session__means(struct counting *counting, struct process *process)
{
	const struct counter_process *whose = counter_table__process(&counting->table, process);

	return whose && (whose->requested || !counting->requests);
}

void counter_session__process_end(struct counting *counting, struct process *process)
{
	if (counting->requests)
		counter_requests__drop(counting->requests, process);
	process->data = NULL;
}

static void say_plan(const struct cuda_counters_state *state, const char *chip, bool graphs)
{
	char shown[140];

	fprintf(stderr,
		"cuda-trace profile: %u metrics in %u pass%s on %s: each counted %s runs alone, "
		"%s\n",
		state->metrics, state->passes, state->passes == 1 ? "" : "es",
		text__show(shown, sizeof(shown), chip, 30), graphs ? "graph" : "kernel",
		state->passes == 1 ? "once"
				   : "once for each pass, with its memory restored in between");
}

void counter_session__state(struct counting *counting, struct process *process,
			    const struct cuda_counters_state *record)
{
	struct counter_process *whose = counter_table__process(&counting->table, process);
	bool has_status;
	uint32_t before;

	if (!whose)
		return;
	has_status = whose->has_state;
	before = has_status ? whose->state.outcome : (uint32_t)CUDA_COUNTERS_WAITING;
	counter_table__state(&counting->table, process, record);
	if (before != record->outcome) {
		if (record->outcome == CUDA_COUNTERS_ON && !counting->passes_said)
			say_plan(record, whose->chip, counting->table.graphs);
		if (record->outcome == CUDA_COUNTERS_FAILED) {
			counter_report__say_failure(whose);
			counting->failures++;
		}
		if (record->outcome == CUDA_COUNTERS_DONE && record->result &&
		    !counting->end_said) {
			counting->end_said = true;
			fprintf(stderr, "cuda-trace profile: this libcupti measures only one "
					"kernel per process (as that of CUDA 13.0 does): select it "
					"with -k and --skip\n");
		}
	}
	if (record->running >= SLOW_SECONDS && !counting->slow_said) {
		counting->slow_said = true;
		fprintf(stderr,
			counting->table.graphs
				? "cuda-trace profile: process %u has been in one counted graph "
				  "for "
				  "%u s; after 60 s counting ends, and the program goes on\n"
				: "cuda-trace profile: process %u has been in one counted kernel "
				  "for "
				  "%u s; if the kernel never ends, its launch never returns: "
				  "exclude "
				  "it with -k\n",
			process->pid, record->running);
	}
}

bool counter_session__tick(struct counting *counting)
{
	bool any = false;

	if (counting->requests)
		counter_requests__keep_alive(counting->requests);
	for (const struct counter_process *process = counting->table.processes; process;
	     process = process->next) {
		/* Others that -p means may start later, but not often enough to wait for them. */
		if (process->refused && process->pid == counting->pid)
			return true;
		if (!process->has_state || process->refused || process->past)
			continue;
		if (process->state.outcome != CUDA_COUNTERS_DONE)
			return false;
		any = true;
	}
	return any;
}

/* Why no kernel came; "" = nobody knows. */
static const char *guess(const struct counting *counting, const struct profile_options *options)
{
	uint64_t launches = 0, graphs = 0, matched = 0, missed = 0;
	bool gathers = false;

	for (const struct counter_process *process = counting->table.processes; process;
	     process = process->next) {
		launches += process->state.launches;
		graphs += process->state.graphs;
		matched += process->state.matched;
		missed += process->state.missed;
		gathers |= process->state.outcome == CUDA_COUNTERS_ON;
	}
	if (graphs && !launches && !options->graphs)
		return options->sass ? ": all were launched by graphs, whose kernels cannot be "
				       "counted one by one"
				     : ": all were launched by graphs, whose kernels cannot be "
				       "counted one by one; --graphs counts whole graphs";
	if (!counting->table.processes)
		return ": no process with the injection library, or none that uses CUDA";
	if (!(options->graphs ? graphs : launches))
		return ": none was launched";
	if (matched && missed == matched)
		return options->graphs
			       ? ": CUPTI returned no values for those that ran, or graphs were "
				 "captured meanwhile"
			       : ": CUPTI returned no values for those that ran (CUPTI of CUDA "
				 "12.8 "
				 "and 12.9 never does with driver 580, see cuda-trace doctor)";
	if (matched > missed && gathers)
		return ": values come after half a second, and a signal ended the program, or this "
		       "tool, before that";
	return options->shared.kernel
		       ? ": -k is compared with names without template arguments and "
			 "parameters"
		       : "";
}

/* An empty profile is no success. */
int counter_session__end(struct counting *counting, const struct profile_options *options,
			 int status)
{
	if (!counting->table.counted && status == EXIT_OK) {
		if (!counting->failures)
			fprintf(stderr, "cuda-trace profile: no %s was counted%s\n",
				options->graphs ? "graph" : "kernel", guess(counting, options));
		status = EXIT_TROUBLE;
	}
	counter_table__free(&counting->table);
	counter_requests__free(counting->requests);
	return status;
}
