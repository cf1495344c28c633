// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each old name is taken as a user's word would be, and comes to metrics as today's are spelt, or
 * to none, which is reported. `unit list` prints "OLD METRIC" for each metric, to be compared with
 * a libcupti's own list.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda-trace/profile/counters/counter_presets.h"

#define OLD    "^[a-z][a-z0-9_]*$"
#define METRIC "^[a-z0-9]+__[a-z0-9_]+[.](sum|avg|min|max|ratio|pct)([.][a-z_]+)*$"

static int failures;

static void wrong(const char *old, const char *what)
{
	printf("%s: %s\n", old, what);
	failures++;
}

static void check_metrics(const struct counter_alias *alias, const char *list, regex_t *metric,
			  int print)
{
	char *copy = strdup(list), *rest = copy, *one;
	int count = 0;

	while (copy && (one = strsep(&rest, ","))) {
		if (print)
			printf("%s %s\n", alias->old, one);
		if (regexec(metric, one, 0, NULL, 0))
			wrong(alias->old, one);
		count++;
	}
	/* Several figures for one name: the note must say which are added up. */
	if (count > 1 && !alias->note)
		wrong(alias->old, "several metrics without a note");
	free(copy);
}

static void check(const struct counter_alias *alias, regex_t *old, regex_t *metric, int print)
{
	char unknown[128], *notes = NULL, *list;
	size_t size;
	FILE *to = open_memstream(&notes, &size);

	list = counter_presets__expand(alias->old, to, unknown, sizeof(unknown));
	fclose(to);
	if (regexec(old, alias->old, 0, NULL, 0))
		wrong(alias->old, "is no old name");
	if (!list != !alias->now)
		wrong(alias->old, "is taken, or is not");
	if (!list && (strcmp(unknown, alias->old) || *notes ||
		      !counter_presets__has_no_counterpart(alias->old)))
		wrong(alias->old, "is not said to be without a counterpart");
	if (list && (!strstr(notes, alias->old) || !strstr(notes, alias->now) ||
		     (alias->note && !strstr(notes, alias->note))))
		wrong(alias->old, notes);
	if (list)
		check_metrics(alias, list, metric, print);
	free(list);
	free(notes);
}

int main(int argc, char **argv)
{
	regex_t old, metric;
	int print = argc > 1;

	if (regcomp(&old, OLD, REG_EXTENDED) || regcomp(&metric, METRIC, REG_EXTENDED))
		return 1;
	for (const struct counter_alias *alias = counter_aliases; alias->old; alias++) {
		check(alias, &old, &metric, print);
		/* In their order, so that none is there twice. */
		if (alias[1].old && strcmp(alias->old, alias[1].old) >= 0)
			wrong(alias->old, "stands before what it should stand after");
	}
	if (!print && !failures)
		puts("ok");
	return failures != 0;
}
