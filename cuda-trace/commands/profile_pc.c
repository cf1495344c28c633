// SPDX-License-Identifier: BSD-2-Clause
/*
 * profile --pc: samples of program counters, by function, place and what was waited for.
 */
#include <errno.h>
#include <string.h>
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/profile/pc/disassembly.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/output_file.h"
#include "cuda-trace/profile/code/code_files.h"
#include "cuda-trace/profile/pc/pc_rate.h"
#include "cuda-trace/profile/pc/pc_remedy.h"
#include "cuda-trace/profile/pc/pc_report.h"
#include "cuda-trace/profile/pc/pc_stacks.h"
#include "cuda-trace/profile/pc/pc_store.h"
#include "cuda-trace/profile/profile.h"
#include "cuda-trace/capture/stack_rate.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/watch.h"
#include "cuda-trace/commands/stack_options.h"

#define AT(field)     offsetof(struct profile_options, field)
#define DEFAULT_LINES 25

const struct option_row profile_pc_rows[] = {
	{OPTION_TEXT, 0, "bursts", "ON/PERIOD",
	 "sample for ON in each PERIOD, at a random time\n(default " PC_DEFAULT_BURSTS
	 "; 1s/1s = all the time)",
	 AT(bursts)},
	{OPTION_TEXT, 0, "max-overhead", "PERCENT",
	 "make windows so rare that launches wait for them for\nat most PERCENT of the time",
	 AT(shared.max_overhead)},
	{OPTION_FLAG, 0, "disassemble", NULL,
	 "disassemble the functions with most samples (needs\nnvdisasm)", AT(disassemble)},
	{OPTION_TEXT, 0, "flamegraph", "FILE", "samples as an SVG: kernel, line, stall reason",
	 AT(flamegraph)},
	{OPTION_TEXT, 0, "folded", "FILE", "samples as folded stacks", AT(folded)},
	{OPTION_TEXT, 0, "record", "FILE", "samples as a recording, for cuda-trace report",
	 AT(record)},
	{OPTION_MAYBE, 'g', "stacks", "N",
	 "in these files, the host functions that launched each\nkernel; N: only from every Nth "
	 "launch (10, 100,\n1000 or 10000)",
	 AT(stacks)},
	STACK_OPTION_ROWS(AT(call_graph)),
	{},
};

struct profile {
	const struct profile_options *options;
	struct sample bursts;
	struct pc_table table;
	struct pc_pace pace;
	struct pc_images *images;
	struct pc_files *files;
	struct disassembly *disassembly;
	struct pc_stacks *stacks; /* NULL = no picture is wanted */
	uint32_t period;	  /* one in so many launches gives its stack; 0 = none */
	bool failed;
	FILE *output;
	uint64_t started; /* ns */
	bool remedy_said;
	const struct windows *windows; /* NULL = all the time */
	struct collection_counts collected;
};

static void on_process_start(void *context, struct process *process)
{
	struct profile *profile = context;

	pc_table__start(&profile->table, process);
	if (profile->stacks)
		pc_stacks__start(profile->stacks, process);
}

/* The first window of a process has CUPTI set up what it needs. */
static void note_cost(struct profile *profile, struct process *process,
		      const struct cuda_pc_window *window)
{
	if (window->held && pc_table__windows(process) > 1)
		pc_rate__window(&profile->pace, window->held);
}

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
	struct profile *profile = context;

	pc_table__record(&profile->table, process, record);
	pc_images__record(profile->images, process, record);
	pc_files__record(profile->files, process, record);
	if (record->kind == CUDA_RECORD_PC_WINDOW)
		note_cost(profile, process, (const void *)record);
	if (profile->stacks)
		pc_stacks__record(profile->stacks, process, record, &profile->table);
}

static void on_process_end(void *context, struct process *process)
{
	struct profile *profile = context;

	pc_table__end(&profile->table, process);
	if (profile->stacks)
		pc_stacks__end(profile->stacks, process);
}

static void on_stack(void *context, struct process *process, const struct event *event)
{
	struct profile *profile = context;

	if (profile->stacks)
		pc_stacks__event(profile->stacks, process, event);
}

static bool on_tick(void *context, struct session *session)
{
	struct profile *profile = context;
	uint32_t before = profile->pace.every_ms, now = pc_rate__period(&profile->pace);

	if (now == before)
		return false;
	if (session__set_cycle(session, 0, now))
		profile->pace.every_ms = before;
	else if (profile->options->shared.verbose)
		fprintf(stderr, "cuda-trace profile: from now on, one window every %u ms\n", now);
	return false;
}

static void on_attached(void *context, struct session *session)
{
	struct profile *profile = context;

	if (profile->period)
		session__set_stack_period(session, profile->period);
}

static void on_error(void *context, struct process *process, int code, const char *component,
		     const char *message)
{
	struct profile *profile = context;

	losses__say_error(context, process, code, component, message);
	pc_remedy__say(code, &profile->remedy_said);
}

static int on_start(void *context, FILE *output)
{
	struct profile *profile = context;

	profile->output = output;
	profile->started = monotonic__ns();
	return EXIT_OK;
}

static void write_tree(struct profile *profile, const struct stacks *tree, const char *path,
		       int (*write)(const struct stacks *tree, FILE *out))
{
	struct output_file output;
	int err;

	if (!path)
		return;
	err = output_file__open(&output, "profile", path, NULL);
	if (!err) {
		err = write(tree, output.file);
		if (err && !ferror(output.file))
			fprintf(stderr, "cuda-trace profile: cannot write %s: %s\n", path,
				strerror(-err));
		err = output_file__close(&output, ferror(output.file) ? 0 : err);
	}
	if (err)
		profile->failed = true;
}

static int write_folded(const struct stacks *tree, FILE *out)
{
	stacks__write_folded(tree, out);
	return ferror(out) ? -EIO : 0;
}

static void say_unknown(const struct pc_graphs_unknown *unknown)
{
	if (unknown->launches)
		fprintf(stderr,
			"cuda-trace profile: %llu launches were of graphs that were created before "
			"tracing began: -g does not know which code put their kernels there\n",
			(unsigned long long)unknown->launches);
	if (unknown->nodes)
		fprintf(stderr,
			"cuda-trace profile: -g does not know which code put %llu nodes into "
			"graphs\n",
			(unsigned long long)unknown->nodes);
	if (unknown->left_out)
		fprintf(stderr,
			"cuda-trace profile: too many graphs: -g leaves out %llu records of them\n",
			(unsigned long long)unknown->left_out);
}

/* Before the table is sorted. */
static void write_pictures(struct profile *profile, const struct pc_report *report)
{
	const struct profile_options *options = profile->options;
	struct stacks tree;
	uint64_t left_out;

	if (pc_stacks__tree(profile->stacks, &profile->table, &tree)) {
		fprintf(stderr, "cuda-trace profile: no memory for the flame graph\n");
		profile->failed = true;
		return;
	}
	write_tree(profile, &tree, options->flamegraph, stacks__write_flamegraph);
	write_tree(profile, &tree, options->folded, write_folded);
	if (options->record && pc_store__write(options->record, &profile->table, &tree,
					       report->lost, report->duration_ns))
		profile->failed = true;
	say_unknown(pc_stacks__unknown(profile->stacks));
	left_out = pc_stacks__left_out(profile->stacks);
	if (left_out)
		fprintf(stderr,
			"cuda-trace profile: %llu samples are not in the flame graph: too many "
			"different stacks\n",
			(unsigned long long)left_out);
	stacks__free(&tree);
}

/* Lines, and instructions. */
static void find_places(struct profile *profile)
{
	bool wanted = profile->options->disassemble;
	enum pc_files_for what = !disassembly__can(profile->disassembly) ? PC_FILES_LINES
				 : wanted				 ? PC_FILES_ALL
									 : PC_FILES_CODE;

	pc_files__search(profile->files, profile->images, &profile->table.code, what);
	pc_images__resolve(profile->images, &profile->table.code);
	disassembly__run(profile->disassembly, profile->images, &profile->table, wanted);
}

static void on_collected(void *context, const struct collection_counts *counts)
{
	((struct profile *)context)->collected = *counts;
}

static void on_finish(void *context, struct session *session)
{
	struct profile *profile = context;
	const struct options *shared = &profile->options->shared;
	struct session_lost_counts lost;
	struct pc_report report = {
		.table = &profile->table,
		.lost = &lost,
		.duration_ns = monotonic__ns() - profile->started,
		.on_ms = profile->bursts.on_ms,
		.every_ms = profile->pace.every_ms,
		.most = shared->count ? shared->count : DEFAULT_LINES,
		.code = profile->options->disassemble && disassembly__can(profile->disassembly),
		.started = shared->program != NULL,
		.windows = profile->windows,
		.collected = &profile->collected,
	};

	session__lost(session, &lost);
	find_places(profile);
	if (profile->stacks)
		write_pictures(profile, &report);
	if (profile->pace.too_expensive)
		fprintf(stderr, "cuda-trace profile: windows cost more than --max-overhead allows, "
				"however far apart they are\n");
	pc_table__sort(&profile->table);
	if (shared->json)
		pc_report__json(profile->output, &report);
	else
		pc_report__text(profile->output, &report);
}

static int parse_limit(const struct option_usage *usage, struct profile *profile)
{
	struct sample limit;
	int status =
		sample_options__parse(usage, NULL, profile->options->shared.max_overhead, &limit);

	profile->pace.limit = limit.max_overhead;
	profile->pace.every_ms = profile->bursts.every_ms;
	if (!status && profile->pace.limit > 0 && profile->bursts.on_ms >= profile->bursts.every_ms)
		return options__misuse(usage, "--max-overhead needs --bursts with a pause");
	return status;
}

static int prepare_pictures(const struct option_usage *usage, struct profile *profile)
{
	const struct profile_options *options = profile->options;
	bool any = options->flamegraph || options->folded || options->record;

	if (options->stacks && !any)
		return options__misuse(usage, "-g is for --flamegraph, --folded and --record");
	profile->period = options->stacks ? stack_rate__parse(options->stacks) : 0;
	if (options->stacks && !profile->period)
		return options__misuse(usage, "-g takes 1, 10, 100, 1000 or 10000");
	profile->stacks = any ? pc_stacks__new(profile->period) : NULL;
	return any && !profile->stacks ? EXIT_TROUBLE : EXIT_OK;
}

int profile_pc__run(const struct option_usage *usage, const struct profile_options *options)
{
	struct profile profile = {.options = options};
	const struct sink sink = {
		.context = &profile,
		.process_start = on_process_start,
		.record = on_record,
		.process_end = on_process_end,
		.process_error = on_error,
		.stack = on_stack,
	};
	struct watch watch = {
		.command = usage->command,
		.options = &options->shared,
		.groups = 1u << CUDA_GROUP_PC_SAMPLES,
		.sink = &sink,
		.context = &profile,
		.start = on_start,
		.attached = on_attached,
		.tick = on_tick,
		.collected = on_collected,
		.finish = on_finish,
	};
	struct pattern *pattern;
	int status = sample_options__parse_cycle(
		usage, "--bursts", options->bursts ? options->bursts : PC_DEFAULT_BURSTS,
		&profile.bursts);

	status = status ? status : parse_limit(usage, &profile);
	status = status ? status : prepare_pictures(usage, &profile);
	if (status)
		return status;
	watch.sample = profile.bursts;
	watch.stacks = profile.period != 0;
	watch.stacks_copied = stack_options__unwinds(options->call_graph);
	if (profile.period)
		watch.groups |= 1u << CUDA_GROUP_LAUNCH | 1u << CUDA_GROUP_GRAPH_NODES;
	status = window_options__choose(usage, &options->shared, watch.groups, &watch.windows);
	if (status)
		return status;
	profile.windows = watch.windows.by == WINDOWS_ALWAYS ? NULL : &watch.windows;
	pattern = pattern__new(options->shared.kernel);
	profile.disassembly = disassembly__new();
	profile.images =
		pc_images__new(profile.disassembly && disassembly__can(profile.disassembly));
	profile.files = pc_files__new();
	if (!pattern || !profile.images || !profile.files || !profile.disassembly ||
	    pc_table__init(&profile.table, pattern)) {
		status = EXIT_USAGE;
	} else {
		status = watch__run(&watch);
		pc_table__free(&profile.table);
	}
	disassembly__free(profile.disassembly);
	pc_files__free(profile.files);
	pc_images__free(profile.images);
	pattern__free(pattern);
	pc_stacks__free(profile.stacks);
	return profile.failed && !status ? EXIT_TROUBLE : status;
}
