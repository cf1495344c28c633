// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace trace: one line an event, live.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/capture/api_correlation.h"
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/cli/event_groups.h"
#include "cuda-trace/capture/launch_correlation.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/capture/overhead_limit.h"
#include "cuda-trace/base/pattern.h"
#include "cuda-trace/trace/trace_replays.h"
#include "cuda-trace/trace/trace_rows.h"
#include "cuda-trace/capture/watch.h"

struct trace_options {
	struct options shared; /* first: the shared rows mean its fields */
	const char *events;
	const char *api;
	bool wide, errors, graph_nodes;
};

#define DEFAULT_EVENTS "kernels,copies,memory,sync"

static const struct option_row event_rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Which events", 0},
	{OPTION_TEXT, 'e', "events", "LIST",
	 "of: kernels, launches, copies, memory, sync,\nerrors, graphs, graph-nodes, runtime, "
	 "api,\n"
	 "unified, nvtx, overhead, objects, collectives\n(default " DEFAULT_EVENTS ")",
	 offsetof(struct trace_options, events)},
	{OPTION_VALUES, 0, NULL, NULL, GROUPS_WORDS, 0},
	{OPTION_TEXT, 0, "api", "GLOB", "also CUDA calls whose name matches ('cudaMalloc*')",
	 offsetof(struct trace_options, api)},
	{OPTION_FLAG, 0, "errors", NULL, "also failed CUDA calls of any kind",
	 offsetof(struct trace_options, errors)},
	{OPTION_FLAG, 0, "graph-nodes", NULL,
	 "each kernel of a graph with its node, also with\n-e graphs",
	 offsetof(struct trace_options, graph_nodes)},
	{},
};

static const struct option_row rows[] = {
	{OPTION_COUNT, 'n', "count", "COUNT", "stop after COUNT lines",
	 offsetof(struct trace_options, shared.count)},
	{OPTION_FLAG, 'w', "wide", NULL, "text: all columns", offsetof(struct trace_options, wide)},
	{},
};

static const struct option_usage usage = {
	.command = "trace",
	.summary = "Prints kernels, copies, memory operations and waits live, one per line.",
	.synopsis =
		(const char *const[]){"[OPTIONS] [--] PROGRAM [ARGUMENTS]",
				      "[OPTIONS] -p PID|-c NAME|-u USER|--cgroup PATH|-a", NULL},
	.tables = (const struct option_row *const[]){options_targets, event_rows, options_source,
						     options_sampling, options_overhead,
						     options_kernels, options_output,
						     options_limits, rows, NULL},
	.examples = "  cuda-trace trace -- ./saxpy\n"
		    "  cuda-trace trace -p 4711 -k gemm --min-duration 100us\n"
		    "  cuda-trace trace -a --json -d 10 | jq 'select(.result > 0)'\n",
};

struct trace {
	struct trace_options options;
	struct pattern *pattern;
	struct join *join;
	struct calls *calls;
	struct trace_replays *replays; /* NULL = no collectives */
	struct trace_rows *rows;
	struct overhead *overhead; /* NULL = no --max-overhead */
	uint64_t shown;
};

static bool is_enough(const struct trace *trace)
{
	return trace->options.shared.count && trace->shown >= trace->options.shared.count;
}

static void show(void *context, struct process *process, const struct cuda_launch *launch,
		 const struct cuda_kernel *kernel)
{
	struct trace *trace = context;
	uint64_t least = trace->options.shared.min_duration;
	uint32_t name = kernel ? kernel->name : launch->name;

	if (is_enough(trace))
		return;
	/* What has no GPU time cannot have taken at least so long. */
	if (least && (!kernel || kernel->end - kernel->start < least))
		return;
	if (trace->options.shared.kernel &&
	    !pattern__matches(trace->pattern, process__pretty_name(process, name)))
		return;
	trace_rows__put(trace->rows, process, launch, kernel);
	trace->shown++;
}

static bool is_wanted_call(const struct trace *trace, const struct process *process,
			   const struct cuda_api *call)
{
	const char *name = process__name(process, call->name);

	if (process->group == CUDA_GROUP_API_ERROR || !trace->options.api)
		return true;
	return name && !fnmatch(trace->options.api, name, 0);
}

static void show_event(struct trace *trace, struct process *process,
		       const struct cuda_record *record)
{
	/* -k and --min-duration ask for kernels. */
	if (is_enough(trace) || trace->options.shared.kernel || trace->options.shared.min_duration)
		return;
	trace->shown += trace_rows__put_event(trace->rows, process, record);
}

static void on_collective(void *context, struct process *process,
			  const struct event_collective *call, const struct recorded_kernel *kernel)
{
	struct trace *trace = context;

	trace_replays__call(trace->replays, process, call);
	if (is_enough(trace) || trace->options.shared.kernel || trace->options.shared.min_duration)
		return;
	trace->shown += trace_rows__put_collective(trace->rows, process, call);
}

static void show_replay(void *context, struct process *process, const struct event_collective *call,
			const struct cuda_kernel *kernel, int64_t turn)
{
	struct trace *trace = context;

	if (is_enough(trace) || trace->options.shared.kernel || trace->options.shared.min_duration)
		return;
	trace_rows__put_replay(trace->rows, process, call, kernel, turn);
	trace->shown++;
}

static void show_call(void *context, struct process *process, const struct cuda_api *call,
		      const struct cuda_api *parent)
{
	struct trace *trace = context;

	if (is_enough(trace) || trace->options.shared.kernel ||
	    trace->options.shared.min_duration || !is_wanted_call(trace, process, call))
		return;
	/* Below a line of its own only. */
	trace_rows__put_call(trace->rows, process, call, parent,
			     parent && is_wanted_call(trace, process, parent));
	trace->shown++;
}

/* Those that failed come by themselves, at once. */
static void handle_call(struct trace *trace, struct process *process, const struct cuda_api *call)
{
	if (process->group == CUDA_GROUP_API_ERROR)
		show_call(trace, process, call, NULL);
	else
		api_correlation__add(trace->calls, process, call);
}

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
	const struct cuda_launch *launch = (const struct cuda_launch *)record;
	struct trace *trace = context;

	trace_replays__record(trace->replays, process, record);
	switch (record->kind) {
	case CUDA_RECORD_LAUNCH:
	case CUDA_RECORD_GRAPH_LAUNCH:
		if (record->kind == CUDA_RECORD_LAUNCH)
			overhead_limit__launch(trace->overhead, process, launch);
		/* The driver's launch below it has the line; unless it did not get so far. */
		if (process->source == EVENT_SOURCE_DRIVER)
			show(trace, process, launch, NULL);
		else if (launch->domain != CUDA_DOMAIN_RUNTIME)
			launch_correlation__launch(trace->join, process, launch);
		else if (launch->result)
			show(trace, process, launch, NULL);
		break;
	case CUDA_RECORD_KERNEL:
		launch_correlation__kernel(trace->join, process,
					   (const struct cuda_kernel *)record);
		break;
	case CUDA_RECORD_GRAPH_NODE:
		/* Else nodes are collected for collectives alone. */
		if (trace->options.graph_nodes)
			show_event(trace, process, record);
		break;
	case CUDA_RECORD_API:
		handle_call(trace, process, (const struct cuda_api *)record);
		break;
	default:
		show_event(trace, process, record);
	}
}

static void on_process_end(void *context, struct process *process)
{
	struct trace *trace = context;

	launch_correlation__end(trace->join, process);
	api_correlation__end(trace->calls, process);
	trace_replays__end(trace->replays, process);
	trace_rows__forget(trace->rows, process);
}

static int on_start(void *context, FILE *output)
{
	struct trace *trace = context;

	trace->rows = trace_rows__new(output, trace->options.shared.json, trace->options.wide);
	return trace->rows ? EXIT_OK : EXIT_TROUBLE;
}

static bool on_tick(void *context, struct session *session)
{
	struct trace *trace = context;

	launch_correlation__expire(trace->join);
	api_correlation__tick(trace->calls);
	trace_rows__tick(trace->rows);
	overhead_limit__tick(trace->overhead, session,
			     trace->options.shared.verbose ? "trace" : NULL);
	return is_enough(trace);
}

static void on_finish(void *context, struct session *session)
{
	struct trace *trace = context;
	struct session_lost_counts lost;

	session__lost(session, &lost);
	trace_rows__put_losses(trace->rows, &lost);
	if (trace_replays__unknown(trace->replays))
		fprintf(stderr,
			"cuda-trace: %" PRIu64
			" kernels of NCCL in graphs have no line of a collective: "
			"their capture was not observed\n",
			trace_replays__unknown(trace->replays));
}

static int choose_groups(struct trace_options *options, uint32_t *groups)
{
	int status = event_groups__parse_events(
		&usage, options->events ? options->events : DEFAULT_EVENTS, groups);

	if (options->api)
		*groups |= event_groups__of_calls(options->api);
	if (options->errors)
		*groups |= 1u << CUDA_GROUP_API_ERROR;
	options->graph_nodes |= *groups >> CUDA_GROUP_GRAPH_NODES & 1;
	/* Of collectives in graphs, unless whole graphs are wanted. */
	if (options->graph_nodes ||
	    (*groups & GROUPS_COLLECTIVES && !(*groups >> CUDA_GROUP_GRAPH & 1)))
		*groups |= 1u << CUDA_GROUP_GRAPH_NODES;
	if (options->shared.runtime)
		*groups |= 1u << CUDA_GROUP_RUNTIME;
	return status;
}

int cmd_trace(int argc, char **argv)
{
	struct trace trace = {.options.shared = OPTIONS_INIT};
	const struct sink sink = {
		.context = &trace,
		.record = on_record,
		.collective = on_collective,
		.process_end = on_process_end,
		.process_error = losses__say_error,
	};
	struct watch watch = {
		.command = "trace",
		.sources = true,
		.options = &trace.options.shared,
		.sink = &sink,
		.context = &trace,
		.start = on_start,
		.tick = on_tick,
		.finish = on_finish,
	};
	int status;

	if (!options__parse_with_targets(&usage, &trace.options.shared, argc, argv, &status))
		return status;
	status = choose_groups(&trace.options, &watch.groups);
	if (status)
		return status;
	status = sample_options__choose(&usage, &trace.options.shared, watch.groups, &watch.sample);
	if (status)
		return status;
	trace.pattern = pattern__new(trace.options.shared.kernel);
	trace.join = launch_correlation__new(show, &trace);
	trace.calls = api_correlation__new(show_call, &trace);
	trace.overhead = overhead_limit__new(&watch.sample);
	if (watch.groups & GROUPS_COLLECTIVES && !watch.sample.on_ms)
		trace.replays = trace_replays__new(show_replay, &trace);
	status = trace.pattern && trace.join && trace.calls ? watch__run(&watch) : EXIT_USAGE;
	trace_rows__free(trace.rows);
	launch_correlation__free(trace.join);
	api_correlation__free(trace.calls);
	trace_replays__free(trace.replays);
	overhead_limit__free(trace.overhead);
	pattern__free(trace.pattern);
	return status;
}
