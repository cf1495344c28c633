// SPDX-License-Identifier: BSD-2-Clause
/*
 * profile --counters: what is asked for goes to the processes (counting.h), what they count comes
 * back by the wire. profile --list-metrics: what may be asked for.
 */
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/commands.h"
#include "cuda-trace/counter_presets.h"
#include "cuda-trace/counter_report.h"
#include "cuda-trace/counting.h"
#include "cuda-trace/losses.h"
#include "cuda-trace/metric_library.h"
#include "cuda-trace/pattern.h"
#include "cuda-trace/profile.h"
#include "cuda-trace/text.h"
#include "cuda-trace/watch.h"

#define AT(field)     offsetof(struct profile_options, field)
#define DEFAULT_LINES 25
#define NEAREST	      3

const struct option_row profile_counters_rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Counters", 0},
	{OPTION_COUNT, 0, "kernels", "COUNT",
	 "count so many kernels of each process, then let it\nrun on at full speed", AT(kernels)},
	{OPTION_COUNT, 0, "skip", "COUNT", "but not the first COUNT of those that match", AT(skip)},
	{OPTION_TEXT, 0, "chip", "NAME",
	 "--list-metrics: of this chip (GH100, AD102 ...) and\nnot of the first GPU", AT(chip)},
	{},
};

struct counters {
	const struct profile_options *options;
	struct counting counting;
	FILE *output;
};

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
	struct counters *counters = context;
	struct counter_table *table = &counters->counting.table;
	struct counter_sum sums[CUDA_COUNTERS_METRICS];
	struct counter_kernel alone = {.sums = sums};

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
		if (counter_table__kernel(table, process, (const void *)record, &alone) &&
		    counters->options->shared.json)
			counter_report__json_kernel(counters->output, process, (const void *)record,
						    &alone);
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

static void on_finish(void *context, struct session *session)
{
	struct counters *counters = context;
	struct session_lost_counts lost;
	struct counter_table *table = &counters->counting.table;
	uint64_t most = counters->options->shared.count;

	session__lost(session, &lost);
	if (!counters->options->shared.json) {
		counter_table__sort(table);
		counter_report__text(counters->output, table, most ? most : DEFAULT_LINES);
		losses__say(counters->output, &lost);
		return;
	}
	for (const struct counter_process *process = table->processes; process;
	     process = process->next)
		if (process->told)
			counter_report__json_process(counters->output, process);
	losses__write_json_line(counters->output, &lost);
}

/* The words that are nearest, of presets and old names, or of metrics. */
struct nearest {
	const char *names[NEAREST];
	unsigned int distances[NEAREST];
};

static void consider(struct nearest *nearest, const char *name, const char *word, size_t length)
{
	char cut[256];
	unsigned int distance;

	snprintf(cut, sizeof(cut), "%.*s", (int)length, word);
	distance = counter_presets__distance(cut, name);
	for (int i = 0; i < NEAREST; i++) {
		if (nearest->names[i] && nearest->distances[i] <= distance)
			continue;
		for (int k = NEAREST - 1; k > i; k--) {
			nearest->names[k] = nearest->names[k - 1];
			nearest->distances[k] = nearest->distances[k - 1];
		}
		nearest->names[i] = name;
		nearest->distances[i] = distance;
		return;
	}
}

static void say_nearest(const struct nearest *nearest)
{
	for (int i = 0; i < NEAREST && nearest->names[i]; i++)
		fprintf(stderr, "%s%s", i ? ", " : " (near it: ", nearest->names[i]);
	fputs(nearest->names[0] ? ")\n" : "\n", stderr);
}

static int say_unknown_word(const char *word)
{
	struct nearest nearest = {};
	char shown[300];

	for (const struct counter_preset *preset = counter_presets; preset->name; preset++)
		consider(&nearest, preset->name, word, strlen(word));
	for (const struct counter_alias *alias = counter_aliases; alias->old; alias++)
		consider(&nearest, alias->old, word, strlen(word));
	fprintf(stderr, "cuda-trace profile: %s is no preset, and no metric's name",
		text__show(shown, sizeof(shown), word, 70));
	say_nearest(&nearest);
	return EXIT_USAGE;
}

static int say_unknown_metric(const struct metric_library *library, const char *metric)
{
	const struct metric_row *row = metric_library__find(library, metric);
	struct nearest nearest = {};
	char shown[600];

	text__show(shown, sizeof(shown), metric, 120);
	if (row) {
		fprintf(stderr, "cuda-trace profile: %s: behind %s must stand one of: %s\n", shown,
			row->name, row->rollups);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < library->count; i++)
		consider(&nearest, library->rows[i].name, metric, strcspn(metric, "."));
	fprintf(stderr, "cuda-trace profile: %s has no metric %s", library->chip, shown);
	say_nearest(&nearest);
	return EXIT_USAGE;
}

/*
 * Before PROGRAM starts, where libcupti is here and tells: in a container it may be elsewhere, and
 * then the guest finds out.
 */
static int check_request(const char *request, bool verbose, bool *passes_said)
{
	struct metric_library library;
	char why[256], *copy = strdup(request), *rest = copy, *metric;
	int status = EXIT_OK;

	if (!copy || metric_library__load(&library, NULL, request, why, sizeof(why))) {
		if (copy && verbose)
			fprintf(stderr, "cuda-trace profile: metrics are not checked before: %s\n",
				why);
		free(copy);
		return EXIT_OK;
	}
	while (!status && (metric = strsep(&rest, ","))) {
		const struct metric_row *row = metric_library__find(&library, metric);

		if (*metric != '?' && (!row || !metric_library__has_rollup(row, metric)))
			status = say_unknown_metric(&library, metric);
	}
	*passes_said = !status && library.passes;
	if (*passes_said)
		fprintf(stderr,
			"cuda-trace profile: %u pass%s a kernel on %s: the first one waits some "
			"0.3 s, "
			"%s\n",
			library.passes, library.passes == 1 ? "" : "es", library.chip,
			library.passes == 1
				? "each other some 0.2 ms beside its own time"
				: "each pass of a kernel some 20 ms beside its own time, and more "
				  "where much memory is to be put back");
	metric_library__free(&library);
	free(copy);
	return status;
}

static int prepare(const struct profile_options *options, struct counting *counting)
{
	struct pattern *pattern = pattern__new(options->shared.kernel);
	char unknown[128], *request;
	int status;

	pattern__free(pattern);
	if (!pattern)
		return EXIT_USAGE;
	request = counter_presets__expand(options->counters, stderr, unknown, sizeof(unknown));
	if (!request || !*request) {
		free(request);
		return say_unknown_word(unknown);
	}
	status = check_request(request, options->shared.verbose, &counting->passes_said);
	if (!status)
		status = counting__ask(counting, options, request);
	free(request);
	return status;
}

int profile_counters__run(const struct option_usage *usage, const struct profile_options *options)
{
	struct counters counters = {.options = options};
	const struct sink sink = {
		.context = &counters,
		.process_start = counting__process_start,
		.record = on_record,
		.process_status = on_status,
		.process_end = on_end,
		.process_error = losses__say_error,
	};
	struct watch watch = {
		.command = "profile",
		.options = &options->shared,
		.groups = 1u << CUDA_GROUP_COUNTERS | 1u << CUDA_GROUP_DEVICE,
		.sink = &sink,
		.context = &counters,
		.start = on_start,
		.tick = on_tick,
		.finish = on_finish,
	};
	int status = prepare(options, &counters.counting);

	if (status)
		return status;
	status = watch__run(&watch);
	status = counting__end(&counters.counting, options, status);
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
