// SPDX-License-Identifier: BSD-2-Clause
/*
 * profile --counters: what is asked for goes to the processes (counting.h), what they count comes
 * back by the wire. profile --list-metrics: what may be asked for.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "cuda-trace/commands.h"
#include "cuda-trace/counter_cost.h"
#include "cuda-trace/counter_presets.h"
#include "cuda-trace/counter_report.h"
#include "cuda-trace/counting.h"
#include "cuda-trace/losses.h"
#include "cuda-trace/metric_library.h"
#include "cuda-trace/nearest_words.h"
#include "cuda-trace/pattern.h"
#include "cuda-trace/profile.h"
#include "cuda-trace/replay.h"
#include "cuda-trace/text.h"
#include "cuda-trace/watch.h"

#define AT(field)     offsetof(struct profile_options, field)
#define DEFAULT_LINES 25

const struct option_row profile_counters_rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Counters", 0},
	{OPTION_COUNT, 0, "kernels", "COUNT",
	 "count so many kernels of each process, then let it\nrun on at full speed", AT(kernels)},
	{OPTION_COUNT, 0, "skip", "COUNT", "but not the first COUNT of those that match", AT(skip)},
	{OPTION_TEXT, 0, "replay", "kernel|application",
	 "metrics of several passes: each kernel runs as often\n(the default), or PROGRAM does",
	 AT(replay)},
	{OPTION_TEXT, 0, "chip", "NAME",
	 "--list-metrics: of this chip (GH100, AD102 ...) and\nnot of the first GPU", AT(chip)},
	{},
};

struct counters {
	const struct profile_options *options;
	struct counting counting;
	struct counter_cost cost;
	struct replay *replay; /* NULL = kernels are replayed */
	struct session_lost_counts lost;
	FILE *output;
};

/* One launch with all of its metrics. */
static void show_kernel(void *context, const struct process *process,
			const struct cuda_counters *record, struct counter_kernel *alone)
{
	struct counters *counters = context;

	counter_table__add(&counters->counting.table, alone);
	if (counters->options->shared.json)
		counter_report__json_kernel(counters->output, process, record, alone);
}

static void take_kernel(struct counters *counters, struct process *process,
			const struct cuda_counters *record)
{
	struct counter_sum sums[CUDA_COUNTERS_METRICS];
	struct counter_kernel alone = {.sums = sums};

	if (!counter_table__read(&counters->counting.table, process, record, &alone))
		return;
	if (counters->replay) {
		replay__kernel(counters->replay, process, record, &alone);
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

	if (!counting__means(&counters->counting, process))
		return;
	switch (record->kind) {
	case CUDA_RECORD_DEVICE:
		counter_table__device(table, process, (const void *)record);
		break;
	case CUDA_RECORD_COUNTERS_METRIC:
		counter_table__metric(table, process, (const void *)record);
		break;
	case CUDA_RECORD_COUNTERS_STATE:
		counting__state(&counters->counting, process, (const void *)record);
		break;
	case CUDA_RECORD_COUNTERS:
		take_kernel(counters, process, (const void *)record);
		break;
	}
}

static void on_status(void *context, struct process *process)
{
	struct counters *counters = context;

	counting__process_status(&counters->counting, process);
}

static void on_end(void *context, struct process *process)
{
	struct counters *counters = context;

	counting__process_end(&counters->counting, process);
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

	return counting__tick(&counters->counting);
}

static void show_all(struct counters *counters, const struct session_lost_counts *lost)
{
	struct counter_table *table = &counters->counting.table;
	uint64_t most = counters->options->shared.count;

	if (!counters->options->shared.json) {
		counter_table__sort(table);
		counter_report__text(counters->output, table, most ? most : DEFAULT_LINES);
		losses__say(counters->output, lost);
		return;
	}
	for (const struct counter_process *process = table->processes; process;
	     process = process->next)
		if (process->told)
			counter_report__json_process(counters->output, process);
	losses__write_json_line(counters->output, lost);
}

static void add_up(struct session_lost_counts *sum, const struct session_lost_counts *lost)
{
	for (int i = 0; i < CUDA_LOST_COUNT; i++)
		sum->guest[i] += lost->guest[i];
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

static void say_nearest(const struct nearest_words *nearest)
{
	char list[NEAREST_WORDS * (NEAREST_CHARS + 2)];

	if (*nearest_words__list(nearest, list, sizeof(list)))
		fprintf(stderr, " (near it: %s)", list);
	fputc('\n', stderr);
}

static int say_unknown_word(const char *word)
{
	struct nearest_words nearest = {};
	char shown[300];

	if (counter_presets__has_no_counterpart(word)) {
		fprintf(stderr,
			"cuda-trace profile: %s, of the Event and Metric APIs, has no counterpart "
			"today; --list-metrics says what there is\n",
			word);
		return EXIT_USAGE;
	}
	for (const struct counter_preset *preset = counter_presets; preset->name; preset++)
		nearest_words__consider(&nearest, preset->name, word, strlen(word));
	for (const struct counter_alias *alias = counter_aliases; alias->old; alias++)
		nearest_words__consider(&nearest, alias->old, word, strlen(word));
	fprintf(stderr, "cuda-trace profile: %s is no preset, and no metric's name",
		text__show(shown, sizeof(shown), word, 70));
	say_nearest(&nearest);
	return EXIT_USAGE;
}

static int say_unknown_metric(const struct metric_library *library, const char *metric)
{
	const struct metric_row *row = metric_library__find(library, metric);
	struct nearest_words nearest = {};
	char shown[600];

	text__show(shown, sizeof(shown), metric, 120);
	if (row) {
		fprintf(stderr, "cuda-trace profile: %s: behind %s must stand one of: %s\n", shown,
			row->name, row->rollups);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < library->count; i++)
		nearest_words__consider(&nearest, library->rows[i].name, metric,
					strcspn(metric, "."));
	fprintf(stderr, "cuda-trace profile: %s has no metric %s", library->chip, shown);
	say_nearest(&nearest);
	return EXIT_USAGE;
}

/*
 * Before PROGRAM starts, where libcupti is here and tells: in a container it may be elsewhere, and
 * then the guest finds out.
 */
static int check_request(const struct profile_options *options, const char *request, bool tell,
			 bool *passes_said)
{
	struct metric_library library;
	char why[256], *copy = strdup(request), *rest = copy, *metric;
	int status = EXIT_OK;

	if (!copy || metric_library__load(&library, NULL, request, why, sizeof(why))) {
		if (copy && options->shared.verbose)
			fprintf(stderr, "cuda-trace profile: metrics are not checked before: %s\n",
				why);
		free(copy);
		return EXIT_OK;
	}
	while (!status && (metric = strsep(&rest, ","))) {
		const struct metric_row *row = metric_library__find(&library, metric);

		/* A library that lists none knows them all the same. */
		if (library.count && *metric != '?' &&
		    (!row || (*row->rollups && !metric_library__has_rollup(row, metric))))
			status = say_unknown_metric(&library, metric);
	}
	*passes_said = tell && !status && library.passes;
	if (*passes_said)
		counter_cost__say_before(library.chip, library.passes, options->kernels);
	metric_library__free(&library);
	free(copy);
	return status;
}

/* The metrics, by which a request is known to make sense; the caller frees them. An exit status. */
static int take_request(const struct profile_options *options, bool tell, char **request,
			bool *passes_said)
{
	struct pattern *pattern = pattern__new(options->shared.kernel);
	char unknown[128];

	*request = NULL;
	pattern__free(pattern);
	if (!pattern)
		return EXIT_USAGE;
	*request = counter_presets__expand(options->counters, stderr, unknown, sizeof(unknown));
	if (!*request || !**request)
		return say_unknown_word(unknown);
	return check_request(options, *request, tell, passes_said);
}

static int run_once(struct counters *counters, const char *request, struct watch_end *end)
{
	const struct sink sink = {
		.context = counters,
		.process_start = counting__process_start,
		.record = on_record,
		.process_status = on_status,
		.process_end = on_end,
		.process_error = losses__say_error,
	};
	const struct watch watch = {
		.command = "profile",
		.options = &counters->options->shared,
		.groups = 1u << CUDA_GROUP_COUNTERS | 1u << CUDA_GROUP_DEVICE,
		.end = end,
		.output = counters->replay ? counters->output : NULL,
		.sink = &sink,
		.context = counters,
		.start = on_start,
		.tick = on_tick,
		.finish = on_finish,
	};
	int status = counting__ask(&counters->counting, counters->options, request);

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
		fprintf(stderr, "ended with status %d, and the first did not\n",
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
		replay__run_ended(counters->replay, whole);
		if (whole && !counters->counting.failures)
			continue;
		if (!whole)
			say_stop(run + 1, library->set_count, &end);
		break;
	}
	replay__each(counters->replay, show_kernel, counters);
	show_all(counters, &counters->lost);
	if (counters->options->shared.json)
		replay__json(counters->output, counters->replay, library->set_count);
	else
		replay__say(counters->output, counters->replay);
	status = counting__end(&counters->counting, counters->options, status);
	return status || !end.ended ? status : watch__pass_on(&end);
}

static int run_application(struct counters *counters, const char *request)
{
	const struct options *shared = &counters->options->shared;
	struct metric_library library;
	char why[256];
	int status = EXIT_TROUBLE;

	if (metric_library__split(&library, request, why, sizeof(why))) {
		fprintf(stderr,
			"cuda-trace profile: --replay application asks this machine's libcupti "
			"which "
			"metrics go together: %s\n",
			why);
		metric_library__free(&library);
		return status;
	}
	for (size_t i = 0; i < library.alone_count; i++)
		fprintf(stderr,
			"cuda-trace profile: %s needs several passes of one run: left out "
			"(--replay "
			"kernel has it)\n",
			library.alone[i]);
	if (!library.set_count)
		fprintf(stderr, "cuda-trace profile: nothing is left to be counted\n");
	counters->replay = library.set_count ? replay__new() : NULL;
	counters->output = counters->replay ? watch__open_output("profile", shared) : NULL;
	if (counters->output) {
		fprintf(stderr,
			"cuda-trace profile: PROGRAM runs %zu time%s, once for each set of metrics "
			"that "
			"%s takes in one pass\n",
			library.set_count, library.set_count == 1 ? "" : "s", library.chip);
		counters->counting.passes_said = true;
		status = run_sets(counters, &library);
	}
	if (counters->output)
		fclose(counters->output);
	replay__free(counters->replay);
	metric_library__free(&library);
	return status;
}

int profile_counters__run(const struct option_usage *usage, const struct profile_options *options)
{
	bool application = options->replay && !strcmp(options->replay, "application");
	struct counters counters = {.options = options, .cost.kernels = options->kernels};
	char *request;
	int status;

	if (options->replay && !application && strcmp(options->replay, "kernel"))
		return options__misuse(usage, "--replay is kernel or application");
	if (application && !options->shared.program)
		return options__misuse(usage,
				       "--replay application runs a PROGRAM several times: what "
				       "runs already runs once");
	status = take_request(options, !application, &request, &counters.counting.passes_said);
	if (!status && application)
		status = run_application(&counters, request);
	else if (!status)
		status = counting__end(&counters.counting, options,
				       run_once(&counters, request, NULL));
	free(request);
	return status;
}

static void print_metric(FILE *file, const struct metric_row *row, bool json)
{
	const struct {
		const char *key, *text;
	} fields[] = {{"metric", row->name},
		      {"type", row->type},
		      {"unit", row->unit},
		      {"description", row->description},
		      {"rollups", row->rollups}};

	if (!json) {
		fprintf(file, "%s\n    %s%s%s: %s\n", row->name, row->type, *row->unit ? ", " : "",
			row->unit, *row->description ? row->description : "-");
		return;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		fprintf(file, "%c\"%s\":", i ? ',' : '{', fields[i].key);
		text__write_json(file, fields[i].text);
	}
	fputs("}\n", file);
}

/* Some forty of them, in lines of a terminal's width. */
static void print_rollups(FILE *file, const struct metric_row *row)
{
	const char *at = row->rollups;
	int column = fprintf(file, "  %s:", row->type);

	while (*at) {
		int length = strcspn(at, " ");

		if (column + length + 1 > 79)
			column = fprintf(file, "\n   ") - 1;
		column += fprintf(file, " %.*s", length, at);
		at += length + (at[length] == ' ');
	}
	fputc('\n', file);
}

static void print_presets(FILE *file, const struct metric_library *library)
{
	fprintf(file, "Presets:\n");
	for (const struct counter_preset *preset = counter_presets; preset->name; preset++)
		fprintf(file, "  %-10s %s\n", preset->name, preset->summary);
	fprintf(file, "\nMetrics of %s (%s). To each belongs one of:\n", library->chip,
		library->path);
	for (size_t i = 0; i < library->count; i++) {
		bool first = true;

		for (size_t k = 0; k < i && first; k++)
			first = strcmp(library->rows[k].type, library->rows[i].type) != 0;
		if (first)
			print_rollups(file, &library->rows[i]);
	}
	fputc('\n', file);
}

int profile_counters__list(const struct option_usage *usage, const struct profile_options *options)
{
	struct pattern *pattern =
		pattern__new(*options->list_metrics ? options->list_metrics : NULL);
	struct metric_library library;
	char why[256];
	int status = EXIT_OK;

	if (!pattern)
		return EXIT_USAGE;
	if (metric_library__load(&library, options->chip, NULL, why, sizeof(why))) {
		fprintf(stderr, "cuda-trace %s: %s%s\n", usage->command, why,
			options->chip ? "" : " (--chip GH100 asks without a GPU)");
		status = EXIT_TROUBLE;
	} else {
		if (!options->shared.json)
			print_presets(stdout, &library);
		/* Those with a group before a dot are for NVIDIA's own triage. */
		for (size_t i = 0; i < library.count; i++)
			if (!strchr(library.rows[i].name, '.') &&
			    pattern__matches(pattern, library.rows[i].name))
				print_metric(stdout, &library.rows[i], options->shared.json);
	}
	metric_library__free(&library);
	pattern__free(pattern);
	return status;
}
