// SPDX-License-Identifier: BSD-2-Clause
/* profile --list-metrics: what may be requested. */
#include <stdio.h>
#include <string.h>
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/profile/counters/counter_presets.h"
#include "cuda-trace/profile/counters/metric_library.h"
#include "cuda-trace/base/pattern.h"
#include "cuda-trace/profile/profile.h"
#include "cuda-trace/base/text.h"

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
	fprintf(file, "\nMetrics of %s (%s). Add one of these suffixes to each:\n", library->chip,
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

int profile_metrics__list(const struct option_usage *usage, const struct profile_options *options)
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
			options->chip ? "" : " (--chip GH100 works without a GPU)");
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
