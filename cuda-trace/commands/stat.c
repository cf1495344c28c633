// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace stat: runs or watches, then sums up.
 */
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/commands/stack_options.h"
#include "cuda-trace/commands/stat_recorder.h"
#include "cuda-trace/cli/event_groups.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/energy/energy.h"
#include "cuda-trace/idle/idle.h"
#include "cuda-trace/idle/idle_budget.h"
#include "cuda-trace/proc/mps_server.h"
#include "cuda-trace/stat/stat_origins.h"
#include "cuda-trace/stat/stat_report.h"
#include "cuda-trace/capture/watch.h"

#define DEFAULT_LINES  25
#define DEFAULT_EVENTS "kernels,copies,memory,sync,collectives"

struct stat_options {
	struct options shared; /* first: the shared rows mean its fields */
	const char *events;
	const char *api;
	bool errors, graph_nodes, idle, energy;
	struct stat_recorder_options by;
};

static const struct option_row event_rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Which events", 0},
	{OPTION_TEXT, 'e', "events", "LIST",
	 "of: kernels, launches, copies, memory, sync,\nerrors, graphs, graph-nodes, runtime, "
	 "api,\n"
	 "unified, nvtx, overhead, objects, collectives\n(default " DEFAULT_EVENTS ")",
	 offsetof(struct stat_options, events)},
	{OPTION_VALUES, 0, NULL, NULL, GROUPS_WORDS, 0},
	{OPTION_TEXT, 0, "api", "GLOB",
	 "also CUDA calls whose name matches ('cudaMalloc*'),\nby share of host time",
	 offsetof(struct stat_options, api)},
	{OPTION_FLAG, 0, "errors", NULL,
	 "also failed calls of any kind, which makes every call\nslower; failed launches and waits "
	 "are always listed",
	 offsetof(struct stat_options, errors)},
	{OPTION_FLAG, 0, "graph-nodes", NULL,
	 "each kernel of a graph with its node, also with\n-e graphs",
	 offsetof(struct stat_options, graph_nodes)},
	{OPTION_FLAG, 0, "idle", NULL,
	 "why the GPU was idle: what the launching threads did\nmeanwhile, from scheduler events "
	 "and CUDA calls",
	 offsetof(struct stat_options, idle)},
	{OPTION_FLAG, 0, "energy", NULL,
	 "joules by kernel and process, from the GPUs' energy\ncounters (NVML)",
	 offsetof(struct stat_options, energy)},
	{},
};

#define BY(field) offsetof(struct stat_options, by.field)

static const struct option_row by_rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Kernels by what launched them", 0},
	{OPTION_WORD, 0, "by", "WHAT",
	 "GPU time by operator, module, line of the program\n(call stacks), range (NVTX) or kernel",
	 BY(by)},
	{OPTION_VALUES, 0, NULL, NULL, "operator,module,line,range,kernel", 0},
	{OPTION_MAYBE, 'g', "stacks", "N",
	 "call stacks of all launches, or of every Nth (10,\n100, 1000 or 10000); alone, it means "
	 "--by line. The\ndefault of --by is 100",
	 BY(stacks)},
	STACK_OPTION_ROWS(BY(call_graph)),
	{OPTION_TEXT, 0, "max-size", "SIZE",
	 "of the temporary recording in $TMPDIR that these need\n(default 1G)", BY(max_size)},
	{},
};

static const struct option_row rows[] = {
	{OPTION_COUNT, 'n', "count", "COUNT", "text: at most COUNT lines per table (default 25)",
	 offsetof(struct stat_options, shared.count)},
	{},
};

static const struct option_usage usage = {
	.command = "stat",
	.summary = "Prints what GPUs did and why they waited, at the end of PROGRAM or at Ctrl-C.",
	.synopsis =
		(const char *const[]){"[OPTIONS] [--] PROGRAM [ARGUMENTS]",
				      "[OPTIONS] -p PID|-c NAME|-u USER|--cgroup PATH|-a", NULL},
	.tables = (const struct option_row *const[]){options_targets, event_rows, options_source,
						     options_sampling, options_overhead,
						     options_windows, by_rows, options_kernels,
						     options_output, options_limits, rows, NULL},
	.examples = "  cuda-trace stat -- python3 train.py\n"
		    "  cuda-trace stat --by operator -- python3 train.py\n"
		    "  cuda-trace stat -p 4711 -d 10\n"
		    "  cuda-trace stat -a -d 1h --sample 10ms/1s\n"
		    "  cuda-trace stat --json -o out.json -- ./saxpy\n",
};

struct stat {
	struct stat_options options;
	struct pattern *pattern;
	struct stat_table table;
	struct overhead *overhead;
	struct stat_calls *calls;	/* NULL = nobody asks for them */
	struct idle *idle;		/* NULL = no --idle */
	struct stat_recorder *recorder; /* NULL = no --by */
	struct energy *energy;		/* NULL = no --energy, or no meter */
	struct energy_meter *meter;
	const struct windows *windows;
	struct collection_counts collected; /* where there are windows */
	const char *no_energy;		    /* why there is no meter */
	uint32_t idle_groups;		    /* of calls that are there for it alone */
	FILE *output;
	uint64_t started;      /* ns */
	uint64_t first_record; /* ns, when the first one came; 0 = none did */
};

static void on_process_start(void *context, struct process *process)
{
	struct stat *stat = context;

	stat_table__start(&stat->table, process);
	stat_recorder__start(stat->recorder, process);
	idle__start(stat->idle, process);
}

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
	struct stat *stat = context;

	idle__record(stat->idle, process, record);
	stat_recorder__record(stat->recorder, process, record);
	if (record->kind == CUDA_RECORD_API && stat->idle_groups >> process->group & 1)
		return;
	if (!stat->first_record)
		stat->first_record = monotonic__ns();
	if (stat->overhead && record->kind == CUDA_RECORD_LAUNCH)
		overhead_limit__launch(stat->overhead, process, (const struct cuda_launch *)record);
	if (record->kind == CUDA_RECORD_API)
		stat_calls__record(stat->calls, process, (const struct cuda_api *)record);
	stat_table__record(&stat->table, process, record);
}

static void on_collective(void *context, struct process *process,
			  const struct event_collective *call, const struct recorded_kernel *kernel)
{
	struct stat *stat = context;

	stat_table__collective(&stat->table, process, call, kernel);
}

static void on_waited(void *context, const struct collective_wait *wait)
{
	idle__waited(((struct stat *)context)->idle, wait);
}

static void on_stack(void *context, struct process *process, const struct event *event)
{
	struct stat *stat = context;

	stat_recorder__stack(stat->recorder, process, event);
}

static void on_process_end(void *context, struct process *process)
{
	struct stat *stat = context;

	idle__end(stat->idle, process);
	stat_recorder__end(stat->recorder, process);
	stat_calls__end(stat->calls, process);
	stat_table__end(&stat->table, process);
}

static int on_start(void *context, FILE *output)
{
	struct stat *stat = context;

	stat->output = output;
	stat->started = monotonic__ns();
	return stat_recorder__open(stat->recorder) ? EXIT_TROUBLE : EXIT_OK;
}

static void on_attached(void *context, struct session *session)
{
	struct stat *stat = context;

	idle__attach(stat->idle, session);
	stat_recorder__attached(stat->recorder, session);
}

static void read_steps(struct stat *stat)
{
	struct energy_step step;

	while (stat->meter && energy_meter__next(stat->meter, &step))
		energy__step(stat->energy, &step);
}

static bool on_tick(void *context, struct session *session)
{
	struct stat *stat = context;

	idle__tick(stat->idle);
	idle_budget__tick(stat->idle, stat->overhead, "stat");
	stat_recorder__tick(stat->recorder, session);
	read_steps(stat);
	stat_calls__tick(stat->calls);
	overhead_limit__tick(stat->overhead, session, stat->options.shared.verbose ? "stat" : NULL);
	return false;
}

static void on_finish(void *context, struct session *session)
{
	struct stat *stat = context;
	struct session_lost_counts lost;
	struct overhead_finding overhead;
	struct stat_report report = {
		.table = &stat->table,
		.calls = stat->calls,
		.lost = &lost,
		.left_out = session__left_out(session),
		.duration_ns = monotonic__ns() - stat->started,
		.first_record_ns =
			stat->first_record ? (int64_t)(stat->first_record - stat->started) : -1,
		.most_kernels =
			stat->options.shared.count ? stat->options.shared.count : DEFAULT_LINES,
		.driver_launches = session__driver_launches(session),
		.session = session,
		.started = stat->options.shared.program != NULL,
		.overhead = overhead_limit__finding(stat->overhead, &overhead) ? &overhead : NULL,
		.idle_wanted = stat->options.idle,
		.idle = idle__finish(stat->idle),
		.no_energy = stat->no_energy,
	};

	session__lost(session, &lost);
	energy_meter__stop(stat->meter);
	read_steps(stat);
	if (stat->windows->by != WINDOWS_ALWAYS) {
		report.windows = stat->windows;
		report.collected = &stat->collected;
	}
	stat_table__sort(&stat->table);
	stat_origins__find(&stat->table);
	report.energy = energy__finish(stat->energy);
	report.failed_readings = stat->meter ? energy_meter__failed(stat->meter) : 0;
	stat_calls__sort(stat->calls);
	report.by = stat_recorder__finish(stat->recorder, session, &stat->table, &lost);
	if (stat->options.shared.json)
		stat_report__json(stat->output, &report);
	else
		stat_report__text(stat->output, &report);
}

static void on_collected(void *context, const struct collection_counts *counts)
{
	struct stat *stat = context;

	stat->collected = *counts;
	stat->table.window_ns = counts->window_ns;
}

static bool asks_for_calls(uint32_t groups)
{
	uint32_t calls;

	return !event_groups__parse("api", &calls) && (groups & calls) == calls;
}

static int choose_idle(struct stat *stat, struct watch *watch)
{
	const struct options *options = &stat->options.shared;

	if (!stat->options.idle)
		return EXIT_OK;
	if (options->source && !strcmp(options->source, "driver"))
		return options__misuse(&usage, "--idle needs GPU times: not with --source driver");
	if (!(watch->groups >> CUDA_GROUP_KERNEL & 1))
		return options__misuse(&usage, "--idle needs kernels among the events (-e)");
	stat->idle_groups = IDLE_CALL_GROUPS & ~watch->groups;
	watch->groups |= IDLE_CALL_GROUPS;
	stat->idle = idle__new(false);
	if (!stat->idle)
		return EXIT_TROUBLE;
	/* A copy does not say its stream before it is done: an unknown one could run at any time.
	 */
	watch->sample.whole_copies = watch->sample.on_ms != 0;
	return !watch->sample.on_ms || idle__sample(stat->idle) ? EXIT_OK : EXIT_TROUBLE;
}

static int choose_energy(struct stat *stat, const struct watch *watch)
{
	const struct options *options = &stat->options.shared;

	if (!stat->options.energy)
		return EXIT_OK;
	if (watch->sample.on_ms)
		return options__misuse(&usage, "--energy needs all kernels: not with --sample");
	if (options->source && !strcmp(options->source, "driver"))
		return options__misuse(&usage,
				       "--energy needs GPU times: not with --source driver");
	if (!(watch->groups >> CUDA_GROUP_KERNEL & 1))
		return options__misuse(&usage, "--energy needs kernels among the events (-e)");
	return EXIT_OK;
}

static int choose_windows(struct stat *stat, struct watch *watch)
{
	int status = window_options__choose(&usage, &stat->options.shared, watch->groups,
					    &watch->windows);

	if (!status && watch->windows.by != WINDOWS_ALWAYS &&
	    (stat->options.idle || stat->options.energy))
		return options__misuse(&usage, "--idle and --energy need all kernels: not with "
					       "--range, --profiler-api or --steps");
	return status;
}

/* When all that may be wrong with the command line is known not to be. */
static void start_meter(struct stat *stat)
{
	if (!stat->options.energy)
		return;
	stat->meter = energy_meter__open(&stat->no_energy);
	if (!stat->meter)
		return;
	stat->energy = energy__new();
	for (uint32_t i = 0; i < energy_meter__count(stat->meter); i++)
		energy__meter(stat->energy, i, energy_meter__uuid(stat->meter, i));
	stat_table__measure(&stat->table, stat->energy);
}

int cmd_stat(int argc, char **argv)
{
	struct stat stat = {.options.shared = OPTIONS_INIT};
	const struct sink sink = {
		.context = &stat,
		.process_start = on_process_start,
		.record = on_record,
		.collective = on_collective,
		.stack = on_stack,
		.process_end = on_process_end,
		.process_error = losses__say_error,
	};
	struct watch watch = {
		.command = "stat",
		.sources = true,
		.launches_at_entry = true,
		.options = &stat.options.shared,
		.sink = &sink,
		.context = &stat,
		.start = on_start,
		.attached = on_attached,
		.tick = on_tick,
		.collected = on_collected,
		.finish = on_finish,
	};
	int status;

	if (!options__parse_with_targets(&usage, &stat.options.shared, argc, argv, &status))
		return status;
	status = event_groups__parse_events(
		&usage, stat.options.events ? stat.options.events : DEFAULT_EVENTS, &watch.groups);
	if (status)
		return status;
	if (stat.options.api)
		watch.groups |= event_groups__of_calls(stat.options.api);
	if (stat.options.shared.runtime)
		watch.groups |= 1u << CUDA_GROUP_RUNTIME;
	if (stat.options.errors)
		watch.groups |= 1u << CUDA_GROUP_API_ERROR;
	if (stat.options.graph_nodes ||
	    (watch.groups & GROUPS_COLLECTIVES && !(watch.groups >> CUDA_GROUP_GRAPH & 1)))
		watch.groups |= 1u << CUDA_GROUP_GRAPH_NODES;
	status = sample_options__choose(&usage, &stat.options.shared, watch.groups, &watch.sample);
	if (status)
		return status;
	if (watch.sample.on_ms && stat.options.shared.min_duration)
		return options__misuse(&usage, "--sample scales the time of all kernels: not with "
					       "--min-duration");
	status = choose_idle(&stat, &watch);
	if (!status)
		status = choose_energy(&stat, &watch);
	if (!status)
		status = stat_recorder__choose(&stat.recorder, &usage, &stat.options.by,
					       &stat.options.shared, &watch);
	if (!status)
		status = choose_windows(&stat, &watch);
	if (status)
		return status;
	stat.windows = &watch.windows;
	stat.pattern = pattern__new(stat.options.shared.kernel);
	if (!stat.pattern ||
	    stat_table__init(&stat.table, stat.pattern, stat.options.shared.min_duration))
		return EXIT_USAGE;
	if (stat.idle)
		stat.table.comms.waited = on_waited;
	stat.table.comms.context = &stat;
	stat_time__set_mps(stat.table.timeline, mps_server__runs);
	stat.table.devices_listed = watch.groups >> CUDA_GROUP_DEVICE & 1;
	/* Which GPU a process means by a number. */
	if (!watch.sample.on_ms || stat.options.idle)
		watch.groups |= 1u << CUDA_GROUP_DEVICE;
	stat.table.sampled = watch.sample.on_ms != 0;
	stat.table.copies_sampled = stat.table.sampled && !watch.sample.whole_copies;
	stat.table.windowed = watch.windows.by != WINDOWS_ALWAYS;
	stat.table.ranges_reported = watch.groups >> CUDA_GROUP_NVTX & 1;
	stat.table.collectives_reported = watch.groups & GROUPS_COLLECTIVES;
	stat.table.errors_reported = watch.groups >> CUDA_GROUP_API_ERROR & 1;
	stat.overhead = overhead_limit__new(&watch.sample);
	if (stat.options.api || asks_for_calls(watch.groups))
		stat.calls = stat_calls__new(stat.options.api);
	start_meter(&stat);
	status = watch__run(&watch);
	if (stat_recorder__has_failed(stat.recorder) && status == EXIT_OK)
		status = EXIT_TROUBLE;
	stat_recorder__free(stat.recorder);
	overhead_limit__free(stat.overhead);
	stat_calls__free(stat.calls);
	idle__free(stat.idle);
	energy_meter__close(stat.meter);
	energy__free(stat.energy);
	stat_table__free(&stat.table);
	pattern__free(stat.pattern);
	return status;
}
