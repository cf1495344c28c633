// SPDX-License-Identifier: BSD-2-Clause
/*
 * Called while options are read.
 */
#include "cuda-trace/cli/output_pattern.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/proc/rank.h"

#define MAX_PATHS 8

static char *expanded[MAX_PATHS]; /* in use until the tool ends */

/* The name of what is watched. */
static const char *command(const struct options *options, char *text, size_t size)
{
	char path[64];
	FILE *file;

	if (options->program) {
		const char *name = strrchr(options->program[0], '/');

		return name ? name + 1 : options->program[0];
	}
	if (options->comm)
		return options->comm;
	if (!options->pid)
		return "all";
	snprintf(path, sizeof(path), "/proc/%u/comm", options->pid);
	file = fopen(path, "re");
	if (!file || !fgets(text, size, file))
		snprintf(text, size, "%u\n", options->pid);
	if (file)
		fclose(file);
	text[strcspn(text, "\n")] = 0;
	return text;
}

/* What a pattern stands for may name no other folder, and control no terminal. */
static void append(char *path, size_t size, const char *value)
{
	size_t used = strlen(path);

	for (; *value && used + 1 < size; value++)
		path[used++] = *value == '/' || (unsigned char)*value < ' ' ? '_' : *value;
	path[used] = 0;
}

static int expand(const struct option_usage *usage, const struct options *options,
		  const char *pattern, char path[PATH_MAX])
{
	struct utsname host;
	struct rank rank;
	char text[64];

	*path = 0;
	for (; *pattern; pattern++) {
		const char *value = NULL;
		size_t used = strlen(path);

		if (*pattern != '%') {
			if (used + 1 < PATH_MAX)
				memcpy(path + used, (char[2]){*pattern}, 2);
			continue;
		}
		switch (*++pattern) {
		case '%':
			value = "%";
			break;
		case 'p':
			snprintf(text, sizeof(text), "%d", getpid());
			value = text;
			break;
		case 'h':
			value = uname(&host) ? "host" : host.nodename;
			break;
		case 'c':
			value = command(options, text, sizeof(text));
			break;
		case 'r':
			rank__of_process(&rank, getpid());
			if (!rank.known)
				return options__misuse(usage,
						       "%%r in an output's name: no rank is in the "
						       "environment (" RANK_VARIABLES ")");
			snprintf(text, sizeof(text), "%u", rank.rank);
			value = text;
			break;
		}
		if (!value)
			return options__misuse(usage,
					       "an output's name has %%p (process), %%h (host), "
					       "%%r (rank), %%c (command) and %%%% (a percent "
					       "sign), not '%%%.1s'",
					       pattern);
		append(path, PATH_MAX, value);
	}
	return EXIT_OK;
}

int output_pattern__expand(const struct option_usage *usage, const struct options *options,
			   const char **path)
{
	char text[PATH_MAX];
	size_t i = 0;
	int status;

	if (!*path || !strchr(*path, '%'))
		return EXIT_OK;
	status = expand(usage, options, *path, text);
	while (i < MAX_PATHS - 1 && expanded[i])
		i++;
	if (!status) {
		free(expanded[i]);
		expanded[i] = strdup(text);
		*path = expanded[i];
	}
	return status ? status : *path ? EXIT_OK : EXIT_TROUBLE;
}
