// SPDX-License-Identifier: BSD-2-Clause
/*
 * profile --counters: what is requested goes to the processes (counting.h), what they count comes
 * back by the wire.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/profile/counters/counter_cost.h"
#include "cuda-trace/profile/counters/counter_report.h"
#include "cuda-trace/profile/counters/counter_session.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/profile/counters/metric_library.h"
#include "cuda-trace/profile/counters/metric_request.h"
#include "cuda-trace/profile/profile.h"
#include "cuda-trace/profile/counters/application_replay.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/watch.h"
#include "libcupti-usdt/counter_request.h"

#define AT(field)     offsetof(struct profile_options, field)
#define DEFAULT_LINES 25
#define GROUPS	      (1u << CUDA_GROUP_COUNTERS | 1u << CUDA_GROUP_DEVICE)

const struct option_row profile_counters_rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Counters", 0},
	{OPTION_COUNT, 0, "kernels", "COUNT",
	 "count only COUNT kernels (with --graphs, launches of\ngraphs) of each process; then it "
	 "runs "
	 "at full speed",
	 AT(kernels)},
	{OPTION_COUNT, 0, "skip", "COUNT", "skip the first COUNT of them that match", AT(skip)},
	{OPTION_WORD, 0, "replay", "kernel|application|launches",
	 "if metrics need several passes: repeat each kernel\n(the default), repeat PROGRAM, or "
	 "repeat nothing and\ncount each launch with some of the metrics in turn",
	 AT(replay)},
	{OPTION_VALUES, 0, NULL, NULL, "kernel,application,launches", 0},
	{OPTION_FLAG, 0, "graphs", NULL,
	 "count launches of CUDA graphs, each as a whole,\ninstead of kernels", AT(graphs)},
	{OPTION_TEXT, 0, "chip", "NAME",
	 "with --list-metrics: of this chip (GH100, AD102 ...)\ninstead of the first GPU",
	 AT(chip)},
	{},
};

struct counters {
	const struct profile_options *options;
	struct counting counting;
	struct counter_cost cost;
	struct replay *replay; /* of --replay application, or NULL */
	struct session_lost_counts lost;
	struct windows windows; /* in which kernels are shown */
	struct collection_counts collected;
	FILE *output;
};

/* One launch with all of its metrics. */
static void show_kernel(void *context, const struct process *process,
			const struct cuda_counters *record, struct counter_kernel *alone)
{
	struct counters *counters = context;
	struct sheet sheet = {.file = counters->output, .json = true};

	counter_table__add(&counters->counting.table, alone);
	if (counters->options->shared.json)
		counter_report__kernel(&sheet, process, record, alone,
				       !counters->counting.table.by_turns);
}

static void handle_kernel(struct counters *counters, struct process *process,
			  const struct cuda_counters *record)
{
	struct counter_sum sums[CUDA_COUNTERS_METRICS];
	struct counter_kernel alone = {.sums = sums};

	if (!counter_table__read(&counters->counting.table, process, record, &alone))
		return;
	if (counters->replay) {
		application_replay__kernel(counters->replay, process, record, &alone);
		return;
	}
	show_kernel(counters, process, record, &alone);
	if (record->end > record->start)
		counter_cost__launch(&counters->cost, process->pid, record->end - record->start);
}

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
	struct counters *counters = context;
	struct counter_table *table = &counters->counting.table;

	if (!counter_session__means(&counters->counting, process))
		return;
	switch (record->kind) {
	case CUDA_RECORD_DEVICE:
		counter_table__device(table, process, (const void *)record);
		break;
	case CUDA_RECORD_COUNTERS_METRIC:
		counter_table__metric(table, process, (const void *)record);
		break;
	case CUDA_RECORD_COUNTERS_STATE:
		counter_session__state(&counters->counting, process, (const void *)record);
		break;
	case CUDA_RECORD_COUNTERS:
		handle_kernel(counters, process, (const void *)record);
		break;
	}
}

static void on_status(void *context, struct process *process)
{
	struct counters *counters = context;

	counter_session__process_status(&counters->counting, process);
}

static void on_collected(void *context, const struct collection_counts *counts)
{
	((struct counters *)context)->collected = *counts;
}

static void on_end(void *context, struct process *process)
{
	struct counters *counters = context;

	counter_session__process_end(&counters->counting, process);
}

static int on_start(void *context, FILE *output)
{
	struct counters *counters = context;

	counters->output = output;
	return EXIT_OK;
}

static bool on_tick(void *context, struct session *session)
{
	struct counters *counters = context;

	return counter_session__tick(&counters->counting);
}

static void show_all(struct counters *counters, const struct session_lost_counts *lost)
{
	struct counter_table *table = &counters->counting.table;
	struct sheet sheet = {.file = counters->output, .json = true};
	uint64_t most = counters->options->shared.count;

	if (!counters->options->shared.json) {
		counter_table__sort(table);
		counter_report__text(counters->output, table, most ? most : DEFAULT_LINES);
		if (counters->windows.by != WINDOWS_ALWAYS)
			windows_section__put(&(struct sheet){.file = counters->output},
					     &counters->windows, &counters->collected, false);
		losses__say(counters->output, lost);
		return;
	}
	for (const struct counter_kernel *kernel = table->kernels; kernel && table->by_turns;
	     kernel = kernel->next)
		counter_report__sum(&sheet, table, kernel);
	for (const struct counter_process *process = table->processes; process;
	     process = process->next)
		if (process->has_state)
			counter_report__process(&sheet, process, COUNTER_REPORT_KERNELS);
	losses__write_json_line(counters->output, lost);
}

static void add_up(struct session_lost_counts *sum, const struct session_lost_counts *lost)
{
	for (int i = 0; i < CUDA_LOST_COUNT; i++)
		sum->agent[i] += lost->agent[i];
	for (int i = 0; i < SESSION_LOST_COUNT; i++)
		sum->session[i] += lost->session[i];
	sum->total += lost->total;
}

/* A run of several is shown when all are over. */
static void on_finish(void *context, struct session *session)
{
	struct counters *counters = context;
	struct session_lost_counts lost;

	session__lost(session, &lost);
	add_up(&counters->lost, &lost);
	if (!counters->replay)
		show_all(counters, &counters->lost);
}

static int run_once(struct counters *counters, const char *request, struct watch_end *end)
{
	const struct sink sink = {
		.context = counters,
		.process_start = counter_session__process_start,
		.record = on_record,
		.process_status = on_status,
		.process_end = on_end,
		.process_error = losses__say_error,
	};
	const struct watch watch = {
		.command = "profile",
		.options = &counters->options->shared,
		.groups = GROUPS,
		.windows = counters->windows,
		.collected = on_collected,
		.end = end,
		.output = counters->replay ? counters->output : NULL,
		.sink = &sink,
		.context = counters,
		.start = on_start,
		.tick = on_tick,
		.finish = on_finish,
	};
	int status = counter_session__ask(&counters->counting, counters->options, request);

	return status ? status : watch__run(&watch);
}

static bool ended_alike(const struct watch_end *a, const struct watch_end *b)
{
	return WIFEXITED(a->status) && WIFEXITED(b->status) &&
	       WEXITSTATUS(a->status) == WEXITSTATUS(b->status);
}

static void say_stop(size_t run, size_t runs, const struct watch_end *end)
{
	fprintf(stderr, "cuda-trace profile: no more runs: run %zu of %zu ", run, runs);
	if (end->interrupted)
		fprintf(stderr, "was interrupted\n");
	else if (!end->ended)
		fprintf(stderr, "did not start\n");
	else if (WIFSIGNALED(end->status))
		fprintf(stderr, "ended by signal %d\n", WTERMSIG(end->status));
	else
		fprintf(stderr, "ended with status %d, unlike the first run\n",
			WEXITSTATUS(end->status));
}

/* PROGRAM once for each set of metrics; the exit status is that of its last run. */
static int run_sets(struct counters *counters, const struct metric_library *library)
{
	struct watch_end first = {}, end = {};
	int status = EXIT_OK;

	for (size_t run = 0; run < library->set_count; run++) {
		bool whole;

		if (library->set_count > 1)
			fprintf(stderr, "cuda-trace profile: run %zu of %zu\n", run + 1,
				library->set_count);
		counter_table__forget_processes(&counters->counting.table);
		status = run_once(counters, library->sets[run], &end);
		first = run ? first : end;
		whole = !status && end.ended && !end.interrupted && ended_alike(&first, &end);
		application_replay__run_ended(counters->replay, whole);
		if (whole && !counters->counting.failures)
			continue;
		if (!whole)
			say_stop(run + 1, library->set_count, &end);
		break;
	}
	application_replay__each(counters->replay, show_kernel, counters);
	show_all(counters, &counters->lost);
	if (counters->options->shared.json)
		application_replay__json(counters->output, counters->replay, library->set_count);
	else
		application_replay__say(counters->output, counters->replay);
	status = counter_session__end(&counters->counting, counters->options, status);
	return status || !end.ended ? status : watch__pass_on(&end);
}

/* Which metrics go together, as this machine's libcupti has it; the caller frees the library. */
static int split_request(struct metric_library *library, const char *request, const char *replay,
			 bool graphs)
{
	char why[256];
	bool failed = metric_library__split(library, request, why, sizeof(why)) != 0;

	if (failed)
		fprintf(stderr,
			"cuda-trace profile: --replay %s needs this machine's libcupti to group "
			"metrics: %s\n",
			replay, why);
	for (size_t i = 0; i < library->alone_count && !failed; i++)
		fprintf(stderr,
			"cuda-trace profile: %s needs several passes in one run and is left "
			"out%s\n",
			library->alone[i], graphs ? "" : " (--replay kernel can collect it)");
	if (!failed && !library->set_count)
		fprintf(stderr, "cuda-trace profile: no metric is left to collect\n");
	return failed || !library->set_count ? EXIT_TROUBLE : EXIT_OK;
}

static int run_application(struct counters *counters, const char *request)
{
	const struct options *shared = &counters->options->shared;
	struct metric_library library;
	int status = split_request(&library, request, "application", counters->options->graphs);

	counters->replay = status ? NULL : application_replay__new();
	counters->output = counters->replay ? watch__open_output("profile", shared) : NULL;
	if (counters->output) {
		fprintf(stderr,
			"cuda-trace profile: PROGRAM runs %zu time%s, once for each set of metrics "
			"that %s collects in one pass\n",
			library.set_count, library.set_count == 1 ? "" : "s", library.chip);
		counters->counting.passes_said = true;
		status = run_sets(counters, &library);
	} else {
		status = EXIT_TROUBLE;
	}
	if (counters->output)
		fclose(counters->output);
	application_replay__free(counters->replay);
	metric_library__free(&library);
	return status;
}

/* "a,b;c,d"; the caller frees it. */
static char *join_sets(const struct metric_library *library)
{
	size_t size = 1;
	char *joined;

	for (size_t i = 0; i < library->set_count; i++)
		size += strlen(library->sets[i]) + 1;
	joined = calloc(1, size);
	for (size_t i = 0; i < library->set_count && joined; i++) {
		strcat(joined, i ? ";" : "");
		strcat(joined, library->sets[i]);
	}
	return joined;
}

static int run_launches(struct counters *counters, const char *request)
{
	struct metric_library library;
	char *joined = NULL;
	int status = split_request(&library, request, "launches", counters->options->graphs);

	if (!status && library.set_count > CUDA_REQUEST_SETS) {
		fprintf(stderr,
			"cuda-trace profile: %zu sets of metrics, but a process accepts at most "
			"%d: request fewer\n",
			library.set_count, CUDA_REQUEST_SETS);
		status = EXIT_TROUBLE;
	}
	if (!status)
		joined = join_sets(&library);
	if (joined) {
		counters->counting.table.by_turns = counters->counting.passes_said = true;
		/* What the first launches take says nothing of the others. */
		counters->cost.said = true;
		counter_cost__say_turns(library.chip, library.set_count,
					counters->options->kernels);
		status = run_once(counters, joined, NULL);
	}
	free(joined);
	metric_library__free(&library);
	return counter_session__end(&counters->counting, counters->options, status);
}

/* Processes count without knowing of windows: what they counted outside is left out here. */
static int choose_windows(const struct option_usage *usage, const struct profile_options *options,
			  struct windows *windows)
{
	int status = window_options__choose(usage, &options->shared, GROUPS, windows);

	if (status || windows->by == WINDOWS_ALWAYS)
		return status;
	if (options->kernels || options->skip)
		return options__misuse(usage, "--kernels and --skip count from the start of a "
					      "process: not with --range, --profiler-api or "
					      "--steps");
	if (options->replay && !strcmp(options->replay, "application"))
		return options__misuse(usage, "--replay application compares whole runs: not with "
					      "--range, --profiler-api or --steps");
	return EXIT_OK;
}

/* A graph has no name, and is never launched again. */
static int check_graphs(const struct option_usage *usage, const struct profile_options *options)
{
	if (!options->graphs)
		return EXIT_OK;
	if (options->shared.kernel)
		return options__misuse(usage, "--graphs counts whole graphs, which have no names: "
					      "not with -k");
	if (options->replay && !strcmp(options->replay, "kernel"))
		return options__misuse(usage, "--graphs launches no graph again: not with --replay "
					      "kernel, but with launches or application");
	return EXIT_OK;
}

int profile_counters__run(const struct option_usage *usage, const struct profile_options *options)
{
	enum { KERNEL, APPLICATION, LAUNCHES, WAYS };
	static const char *const ways[] = {"kernel", "application", "launches"};
	struct counters counters = {
		.options = options,
		.counting.table.graphs = options->graphs,
		.cost = {.kernels = options->kernels, .graphs = options->graphs}};
	int way = KERNEL, status;
	char *request;

	status = check_graphs(usage, options);
	status = status ? status : choose_windows(usage, options, &counters.windows);
	if (status)
		return status;
	while (options->replay && way < WAYS && strcmp(options->replay, ways[way]))
		way++;
	if (way == APPLICATION && !options->shared.program)
		return options__misuse(usage,
				       "--replay application needs a PROGRAM, which it runs "
				       "several times (for a running process: --replay launches)");
	status = metric_request__make(options, way == KERNEL, &request,
				      &counters.counting.passes_said);
	if (!status && way == APPLICATION)
		status = run_application(&counters, request);
	else if (!status && way == LAUNCHES)
		status = run_launches(&counters, request);
	else if (!status)
		status = counter_session__end(&counters.counting, options,
					      run_once(&counters, request, NULL));
	free(request);
	return status;
}
