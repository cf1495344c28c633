// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/counters/metric_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/pattern.h"
#include "cuda-trace/base/suggest.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/profile/counters/counter_cost.h"
#include "cuda-trace/profile/counters/counter_presets.h"
#include "cuda-trace/profile/counters/counter_report.h"
#include "cuda-trace/profile/counters/metric_library.h"

static void say_nearest(const struct nearest_words *nearest)
{
	char list[NEAREST_WORDS * (NEAREST_CHARS + 2)];

	if (*suggest__list(nearest, list, sizeof(list)))
		fprintf(stderr, " (near it: %s)", list);
	fputc('\n', stderr);
}

static int say_unknown_word(const char *word)
{
	struct nearest_words nearest = {};
	char shown[300];

	if (counter_presets__has_no_counterpart(word)) {
		fprintf(stderr,
			"cuda-trace profile: %s, a metric of CUPTI's former Event and Metric APIs, "
			"has no counterpart; --list-metrics prints the current ones\n",
			word);
		return EXIT_USAGE;
	}
	for (const struct counter_preset *preset = counter_presets; preset->name; preset++)
		suggest__consider(&nearest, preset->name, word, strlen(word));
	for (const struct counter_alias *alias = counter_aliases; alias->old; alias++)
		suggest__consider(&nearest, alias->old, word, strlen(word));
	fprintf(stderr, "cuda-trace profile: %s is neither a preset nor a metric",
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
		fprintf(stderr, "cuda-trace profile: %s: %s must be followed by one of: %s\n",
			shown, row->name, row->rollups);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < library->count; i++)
		suggest__consider(&nearest, library->rows[i].name, metric, strcspn(metric, "."));
	fprintf(stderr, "cuda-trace profile: %s has no metric %s", library->chip, shown);
	say_nearest(&nearest);
	return EXIT_USAGE;
}

/*
 * Before PROGRAM starts, if libcupti is found here and knows the metrics: in a container it may be
 * elsewhere, and then the agent checks them.
 */
static int check_request(const struct profile_options *options, const char *request, bool replays,
			 bool *passes_said)
{
	struct metric_library library;
	char why[256], *copy = strdup(request), *rest = copy, *metric;
	int status = EXIT_OK;

	if (!copy || metric_library__load(&library, NULL, request, why, sizeof(why))) {
		if (copy && options->shared.verbose)
			fprintf(stderr,
				"cuda-trace profile: metrics are not checked before PROGRAM "
				"starts: %s\n",
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
	if (!status && replays && options->graphs && library.passes > 1) {
		fprintf(stderr, "cuda-trace profile: ");
		counter_report__say_passes(library.passes);
		status = EXIT_USAGE;
	}
	*passes_said = replays && !status && library.passes && !options->graphs;
	if (*passes_said)
		counter_cost__say_before(library.chip, library.passes, options->kernels);
	metric_library__free(&library);
	free(copy);
	return status;
}

int metric_request__make(const struct profile_options *options, bool replays, char **request,
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
	return check_request(options, *request, replays, passes_said);
}
