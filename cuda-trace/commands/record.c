// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace record: keeps everything that happens in one SQLite file.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/commands/record_names.h"
#include "cuda-trace/commands/record_energy.h"
#include "cuda-trace/commands/record_threads.h"
#include "cuda-trace/commands/stack_options.h"
#include "cuda-trace/cli/event_groups.h"
#include "cuda-trace/cli/output_pattern.h"
#include "cuda-trace/cli/start_option.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/size_text.h"
#include "cuda-trace/attach/probe_selfcheck.h"
#include "cuda-trace/capture/stack_rate.h"
#include "cuda-trace/capture/overhead_limit.h"
#include "cuda-trace/proc/runner.h"
#include "cuda-trace/recording/store.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/trigger/trigger_recording.h"
#include "cuda-trace/capture/watch.h"
#include "libcupti-usdt/stack_probes.h"

#define DEFAULT_PATH	     "cuda-trace.db"
#define DEFAULT_EVENTS	     "kernels,copies,memory,sync,errors,overhead,collectives"
#define RING_MIB_WITH_STACKS 64 /* of all launches */

struct record_options {
	struct options shared; /* first: the shared rows mean its fields */
	const char *path, *max_size;
	uint64_t last, after;
	struct option_texts when;
	const char *events, *stacks, *call_graph, *at;
	double stack_percent; /* of a thread's time, for stacks; 0 = as many as -g says */
	bool compress, force, quiet, idle, energy;
};

#define AT(field) offsetof(struct record_options, field)

static const struct option_row rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "What to keep", 0},
	{OPTION_TEXT, 'e', "events", "LIST",
	 "of: kernels, copies, memory, sync, errors, graphs,\ngraph-nodes, runtime, api, unified, "
	 "nvtx, overhead,\nobjects, collectives\n(default: all but graphs, graph-nodes, runtime, "
	 "api,\nunified, nvtx, objects)",
	 AT(events)},
	{OPTION_VALUES, 0, NULL, NULL, GROUPS_WORDS, 0},
	{OPTION_MAYBE, 'g', "stacks", "N",
	 "call stacks of launches, with Python functions; N:\nonly of every Nth launch (10, 100, "
	 "1000 or 10000)",
	 AT(stacks)},
	STACK_OPTION_ROWS(AT(call_graph)),
	{OPTION_FLAG, 0, "idle", NULL, "what threads wait for, and where they run", AT(idle)},
	{OPTION_FLAG, 0, "energy", NULL, "what the GPUs' energy meters count (NVML)", AT(energy)},
	{OPTION_TEXT, 0, "max-overhead", "PERCENT",
	 "with -g: as many stacks as take at most PERCENT of a\nthread's time; otherwise like "
	 "--sample, with windows\nthat make launches slower by at most PERCENT",
	 AT(shared.max_overhead)},
	{OPTION_TEXT, 0, "at", "TIME",
	 "attach now, record from TIME on: HH:MM[:SS],\n+SECONDS, @UNIX_SECONDS or RFC 3339",
	 AT(at)},
	{OPTION_HEADING, 0, NULL, NULL, "The file", 0},
	{OPTION_TEXT, 'o', "output", "FILE",
	 "the recording (default " DEFAULT_PATH "); %p, %h, %r, %c\nbecome pid, host, rank and "
	 "command",
	 AT(path)},
	{OPTION_FLAG, 'f', "force", NULL,
	 "use FILE's name even if it is not a recording;\nit is kept as FILE.old", AT(force)},
	{OPTION_FLAG, 'z', "compress", NULL, "gzip the finished file", AT(compress)},
	{OPTION_TEXT, 0, "max-size", "SIZE", "stop before the file gets larger (500M, 2G)",
	 AT(max_size)},
	{OPTION_TIME, 0, "max-duration", "TIME", "stop after this time (the same as -d)",
	 AT(shared.duration)},
	{OPTION_TIME, 0, "last", "TIME",
	 "keep only the last TIME before the end; SIGUSR2 saves\na copy, with the time in its name",
	 AT(last)},
	{OPTION_TEXTS, 0, "when", "EXPR",
	 "write FILE only when this becomes true, with what\n--last keeps (10 s): error, late "
	 "(a rank), or\n'step > 1.2x' (its usual time), 'step > 2s'; any",
	 AT(when)},
	{OPTION_VALUES, 0, NULL, NULL, TRIGGER_WORDS, 0},
	{OPTION_TIME, 0, "after", "TIME", "with --when: record so long after it (default 2 s)",
	 AT(after)},
	{OPTION_FLAG, 'q', "quiet", NULL, "no progress, no summary line", AT(quiet)},
	{OPTION_FLAG, 'v', "verbose", NULL, "print what is attached, and libbpf's messages",
	 AT(shared.verbose)},
	{},
};

static const struct option_usage usage = {
	.command = "record",
	.summary = "Records what PROGRAM or running processes do with CUDA, for cuda-trace report.",
	.synopsis =
		(const char *const[]){"[OPTIONS] [--] PROGRAM [ARGUMENTS]",
				      "[OPTIONS] -p PID|-c NAME|-u USER|--cgroup PATH|-a", NULL},
	.tables = (const struct option_row *const[]){options_targets, rows, options_source,
						     options_sampling, options_windows,
						     options_limits, NULL},
	.examples = "  cuda-trace record -- python3 train.py\n"
		    "  cuda-trace record -p 4711 -d 10 -o step.db\n"
		    "  cuda-trace record -a --last 60s --max-duration 8h\n"
		    "  cuda-trace record -a --last 60s --when 'step > 1.5x' --when error\n",
};

struct record {
	struct record_options options;
	struct store *store;
	struct overhead *overhead;	/* NULL = --max-overhead is not for windows */
	struct record_threads *threads; /* NULL = not wanted */
	struct energy_meter *meter;	/* likewise */
	char *command, *windows;
	struct start_option start;
	struct trigger_recording when;
	uint32_t groups;	 /* what is to be kept */
	struct stack_pace *pace; /* NULL = the period stays */
	uint64_t trap_ns;
	uint32_t period; /* one in so many launches gives its stack; 0 = none */
	bool sampled;	 /* GPU times of windows only */
	bool calls;	 /* every call is kept: an instantiation has come as one */
	uint64_t processes;
	bool stopped;  /* no more records are wanted */
	bool finished; /* what came was handed to the file */
	bool failed;
};

static volatile sig_atomic_t snapshot_wanted;

static void on_snapshot_signal(int number)
{
	snapshot_wanted = 1;
}

static void on_process_start(void *context, struct process *process)
{
	struct record *record = context;

	record->processes++;
	trigger__process_start(record->when.trigger, process);
	record_threads__process(record->threads, process);
	store__process_start(record->store, process);
}

static bool is_requested(const struct record *record, const struct process *process,
			 const struct cuda_record *data)
{
	/* The driver source reports every kind of call. */
	if (process->source == EVENT_SOURCE_DRIVER)
		return record->groups >> process->group & 1;
	/* Another tool's. */
	if (data->kind == CUDA_RECORD_NVTX_OPEN)
		return false;
	return !record->calls || data->kind != CUDA_RECORD_GRAPH_INSTANTIATE;
}

static void on_record(void *context, struct process *process, const struct cuda_record *data)
{
	struct record *record = context;

	if (record->overhead && data->kind == CUDA_RECORD_LAUNCH)
		overhead_limit__launch(record->overhead, process, (const struct cuda_launch *)data);
	trigger__record(record->when.trigger, process, data);
	/* Nobody requested what comes after the end: it is not a loss. */
	if (record->stopped || !is_requested(record, process, data))
		return;
	if (record->pace && process->source == EVENT_SOURCE_AGENT &&
	    data->kind == CUDA_RECORD_LAUNCH)
		stack_rate__launch(record->pace, process->pid,
				   ((const struct cuda_launch *)data)->tid);
	store__record(record->store, process, data);
}

static void on_collective(void *context, struct process *process,
			  const struct event_collective *call, const struct recorded_kernel *kernel)
{
	struct record *record = context;

	trigger__collective(record->when.trigger, process, call);
	if (!record->stopped && call->function != NCCL_GROUP_START)
		store__collective(record->store, process, call);
}

static void on_stack(void *context, struct process *process, const struct event *event)
{
	struct record *record = context;

	if (!record->stopped)
		store__stack(record->store, process, event);
}

static void set_stack_period(struct record *record, struct session *session, uint32_t period)
{
	session__set_stack_period(session, period);
	store__stack_period(record->store, period);
	record->period = period;
	if (record->options.shared.verbose)
		fprintf(stderr,
			"cuda-trace record: from now on, the stack of one launch in %u is "
			"recorded\n",
			period);
}

/* Attaching may take seconds, in which nothing else shows that the tool works. */
static void say_progress(const struct record *record, const char *what)
{
	if (!record->options.quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "cuda-trace record: %s\n", what);
}

static void on_attached(void *context, struct session *session)
{
	struct record *record = context;

	char line[128];

	if (record->start.utc)
		say_progress(record, start_option__wait(&record->start, line, sizeof(line)));
	else
		say_progress(record, record->options.shared.program ? "attached; PROGRAM starts"
								    : "recording; Ctrl-C ends it");
	if (record->options.idle)
		record->threads = record_threads__new(session, record->store);
	if (record->options.energy && !record->start.utc)
		record->meter = record_energy__open();
	if (record->start.utc)
		record_threads__only(record->threads, UINT64_MAX, UINT64_MAX);
	if (record->pace)
		record->trap_ns = probe_selfcheck__measure();
	if (record->period)
		set_stack_period(record, session, record->period);
}

/* --at: the time has come. */
static void on_begun(void *context, const struct time_window_begin *begin)
{
	struct record *record = context;
	const struct spool_begin stored = {begin->monotonic, begin->utc};
	uint64_t length = record->options.shared.duration;

	store__put(record->store, SPOOL_BEGIN, &stored, sizeof(stored), NULL, 0);
	record_threads__only(record->threads, begin->monotonic,
			     length ? begin->monotonic + length : UINT64_MAX);
	record->start.begun = true;
	if (record->options.energy)
		record->meter = record_energy__open();
	if (begin->late_ns)
		start_option__say_late(begin->late_ns);
	say_progress(record, "recording; Ctrl-C ends it");
}

/* -g --max-overhead: as many stacks as are allowed. */
static void adapt_period(struct record *record, struct session *session)
{
	uint64_t ns = session__stack_ns(session);
	uint32_t period =
		stack_rate__period(record->pace, monotonic__ns(), ns ? ns + record->trap_ns : 0);

	if (period != record->period)
		set_stack_period(record, session, period);
}

static void on_process_end(void *context, struct process *process)
{
	struct record *record = context;

	trigger__process_end(record->when.trigger, process);
	store__process_end(record->store, process);
}

static int on_start(void *context, FILE *output)
{
	struct record *record = context;
	const struct record_options *options = &record->options;
	struct sigaction action = {.sa_handler = on_snapshot_signal};
	struct store_options store = {
		.path = options->path,
		.command = record->command,
		.at = record->start.utc ? record->start.text : NULL,
		.windows = record->windows,
		.max_bytes = options->max_size ? size_text__parse(options->max_size) : 0,
		.keep = options->last,
		.stacks = record->period != 0,
		.sampled = record->sampled,
		.collectives = record->groups & GROUPS_COLLECTIVES,
		.compress = options->compress,
		.progress = !options->quiet && isatty(STDERR_FILENO),
	};

	if (options->last)
		sigaction(SIGUSR2, &action, NULL);
	return store__create(&record->store, &store) ? EXIT_TROUBLE : EXIT_OK;
}

static bool on_tick(void *context, struct session *session)
{
	struct record *record = context;
	struct session_lost_counts lost;
	bool over;
	int err;

	overhead_limit__tick(record->overhead, session,
			     record->options.shared.verbose ? "record" : NULL);
	if (record->pace && !record->stopped)
		adapt_period(record, session);
	record_threads__read(record->stopped ? NULL : record->threads);
	record_energy__read(record->stopped ? NULL : record->meter, record->store);
	session__lost(session, &lost);
	over = trigger_recording__watch(&record->when, record->store, lost.total);
	err = store__tick(record->store, &lost);
	if (snapshot_wanted && !err) {
		snapshot_wanted = 0;
		record_names__save_snapshot(record->store, record->options.path,
					    record->options.quiet);
	}
	if (!err)
		return over;
	record->stopped = true;
	if (err == -EFBIG) {
		fprintf(stderr, "cuda-trace record: --max-size is reached: recording ends\n");
	} else {
		fprintf(stderr, "cuda-trace record: cannot write %s.part: %s: recording ends\n",
			record->options.path, strerror(-err));
		record->failed = true;
	}
	return true;
}

static const char *why_nothing(const struct record *record, const struct session_lost_counts *lost)
{
	if (record->processes && !lost->total && !lost->session[SESSION_LOST_KILLED])
		return "processes used CUDA, but none of the recorded events occurred (-e, "
		       "--source)";
	return losses__no_activity(record->options.shared.program != NULL, lost);
}

static void on_finish(void *context, struct session *session)
{
	struct record *record = context;
	struct session_lost_counts lost;
	uint64_t records = store__records(record->store);
	struct callstacks_counts stacks;

	/* A short program ends between two ticks: what ended the recording before it is said now.
	 */
	if (!record->stopped)
		on_tick(context, session);
	session__lost(session, &lost);
	record->finished = trigger_recording__fired(&record->when, &lost);
	if (!record->finished)
		return;
	record_threads__finish(record->threads);
	record_energy__finish(record->stopped ? NULL : record->meter, record->store);
	session__lost(session, &lost);
	if (store__finish(record->store, &lost)) {
		record->failed = true;
		return;
	}
	if (record->options.quiet)
		return;
	record_names__say_written(record->options.path, records, why_nothing(record, &lost));
	if (record->start.utc && !record->start.begun)
		fprintf(stderr, "recording ended before the time of --at\n");
	if (record->period) {
		store__stack_counts(record->store, &stacks);
		stack_options__say_kept(record->pace ? record->period : 0, &stacks,
					record->options.call_graph);
	}
	if (losses__any(&lost))
		losses__say(stderr, &lost);
}

static int check(struct record_options *options, uint32_t *groups)
{
	if (!options->path)
		options->path = DEFAULT_PATH;
	if (event_groups__parse_events(&usage, options->events ? options->events : DEFAULT_EVENTS,
				       groups))
		return EXIT_USAGE;
	/* What the GPUs are is reported once a process, and costs it nothing. */
	*groups |= 1u << CUDA_GROUP_DEVICE;
	/* Launches come by groups of their own, with more to them: once is enough. */
	if (*groups & 1u << CUDA_GROUP_API_LAUNCH)
		*groups = (*groups & ~(1u << CUDA_GROUP_API_LAUNCH)) | 1u << CUDA_GROUP_LAUNCH |
			  1u << CUDA_GROUP_RUNTIME;
	if (options->stacks && !stack_rate__parse(options->stacks))
		return options__misuse(&usage, "-g takes 1, 10, 100, 1000 or 10000");
	if (options->stacks && options->shared.max_overhead &&
	    stack_options__percent(&usage, options->stacks, &options->shared,
				   &options->stack_percent))
		return EXIT_USAGE;
	/* A copy of a stack is as large as a hundred records. */
	if (options->stacks && !options->shared.ring_mib && !options->stack_percent &&
	    stack_rate__parse(options->stacks) == 1)
		options->shared.ring_mib = RING_MIB_WITH_STACKS;
	if (options->energy && !(*groups >> CUDA_GROUP_KERNEL & 1))
		return options__misuse(&usage, "--energy needs kernels among the events (-e)");
	if (options->energy && options->shared.sample)
		return options__misuse(&usage, "--energy needs all kernels: not with --sample");
	if (options->after && !options->when.count)
		return options__misuse(&usage, "--after is for --when");
	if (options->idle)
		*groups |= RECORD_THREADS_GROUPS;
	/* A stack belongs to a launch. */
	if (options->stacks)
		*groups |= 1u << CUDA_GROUP_LAUNCH;
	/* And that of a kernel in a graph to what created its node, as its range and its call of
	 * NCCL do. */
	if ((options->stacks || *groups & 1u << CUDA_GROUP_NVTX || *groups & GROUPS_COLLECTIVES) &&
	    *groups & 1u << CUDA_GROUP_KERNEL && !(*groups & 1u << CUDA_GROUP_GRAPH))
		*groups |= 1u << CUDA_GROUP_GRAPH_NODES;
	if (options->stacks && options->shared.source && !strcmp(options->shared.source, "driver"))
		return options__misuse(
			&usage, "-g needs the injection library: --source driver has no stacks");
	if (options->max_size && !size_text__parse(options->max_size))
		return options__misuse(&usage, "--max-size wants a size like 500M or 2G");
	if (output_pattern__expand(&usage, &options->shared, &options->path))
		return EXIT_USAGE;
	return record_names__check(&usage, options->path, options->force);
}

int cmd_record(int argc, char **argv)
{
	struct record record = {.options.shared = OPTIONS_INIT};
	const struct sink sink = {
		.context = &record,
		.process_start = on_process_start,
		.record = on_record,
		.collective = on_collective,
		.stack = on_stack,
		.process_end = on_process_end,
		.process_error = losses__say_error,
	};
	struct watch watch = {
		.command = "record",
		.options = &record.options.shared,
		.sink = &sink,
		.context = &record,
		.sources = true,
		.start = on_start,
		.attached = on_attached,
		.begun = on_begun,
		.tick = on_tick,
		.finish = on_finish,
	};
	int status;

	if (!options__parse_with_targets(&usage, &record.options.shared, argc, argv, &status))
		return status;
	status = check(&record.options, &watch.groups);
	if (!status)
		status = trigger_options__choose(&usage, &record.options.when,
						 &record.options.shared, &record.when.wanted);
	watch.groups |= record.when.wanted.groups;
	if (!status)
		status = sample_options__choose(&usage, &record.options.shared, watch.groups,
						&watch.sample);
	if (!status)
		status = window_options__choose(&usage, &record.options.shared, watch.groups,
						&watch.windows);
	if (!status && record.options.at)
		status = start_option__parse(&usage, record.options.at, &record.start);
	if (status)
		return status;
	if (!trigger_recording__start(&record.when, record.options.last, record.options.after))
		return EXIT_TROUBLE;
	record.options.last = record.when.trigger ? record.when.last : record.options.last;
	watch.ranges_at_once = record.when.wanted.groups >> CUDA_GROUP_NVTX & 1;
	watch.at = record.start.utc;
	record.sampled = watch.sample.on_ms || watch.sample.max_overhead > 0;
	record.groups = watch.groups;
	record.calls = watch.groups >> CUDA_GROUP_API_GRAPH & 1;
	if (record.options.stacks)
		record.period = stack_rate__parse(record.options.stacks);
	if (record.options.stack_percent > 0) {
		record.period = STACK_PACE_FIRST;
		record.pace = stack_rate__new(record.options.stack_percent);
		if (!record.pace)
			return EXIT_TROUBLE;
	}
	watch.stacks = record.period != 0;
	watch.stacks_timed = record.pace != NULL;
	watch.stacks_copied = stack_options__unwinds(record.options.call_graph);
	if (record.options.shared.program)
		record.command = runner__command_line(record.options.shared.program);
	record.windows = window_options__describe(&watch.windows);
	record.overhead = overhead_limit__new(&watch.sample);
	say_progress(&record, "attaching to the probes ...");
	status = watch__run(&watch);
	overhead_limit__free(record.overhead);
	record_threads__free(record.threads);
	trigger__free(record.when.trigger);
	energy_meter__close(record.meter);
	/* PROGRAM could not be run: the next try finds no spool in its way. */
	(record.finished ? store__close : store__discard)(record.store);
	free(record.command);
	free(record.windows);
	stack_rate__free(record.pace);
	return record.failed && status == EXIT_OK ? EXIT_TROUBLE : status;
}
