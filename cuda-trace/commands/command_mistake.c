// SPDX-License-Identifier: BSD-2-Clause
/*
 * A first word that is no command is most often a mistyped command, or a program that was meant to
 * be run, as with strace and perf.
 */
#include "cuda-trace/commands/command_mistake.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/text.h"

static bool is_executable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static bool is_in_path(const char *name)
{
	const char *folders = getenv("PATH");
	char path[4096];

	while (folders && *folders) {
		size_t length = strcspn(folders, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)length, folders, name);
		if (length && is_executable(path))
			return true;
		folders += length;
		folders += *folders == ':';
	}
	return false;
}

int command_mistake__explain(char **words, const struct nearest_words *nearest)
{
	const char *word = strcmp(words[0], "--") || !words[1] ? words[0] : words[1];
	const char *likely = suggest__likely(nearest, words[0]);
	char shown[1024];

	text__show(shown, sizeof(shown), word, 200);
	if (word != words[0] || strchr(word, '/') || (!likely && is_in_path(word)))
		fprintf(stderr,
			"cuda-trace: '%s' is not a command; to run a program: cuda-trace stat -- "
			"%s\n",
			shown, shown);
	else if (*word == '-')
		fprintf(stderr, "cuda-trace: unknown option %s (see cuda-trace --help)\n", shown);
	else
		fprintf(stderr,
			"cuda-trace: there is no command '%s'%s%s%s (see cuda-trace --help)\n",
			shown, likely ? ": did you mean " : "", likely ? likely : "",
			likely ? "?" : "");
	return EXIT_USAGE;
}

int command_mistake__explain_topic(const char *topic, const struct nearest_words *nearest)
{
	const char *likely = suggest__likely(nearest, topic);
	char shown[1024];

	text__show(shown, sizeof(shown), topic, 200);
	fprintf(stderr,
		"cuda-trace help: there is no command or page '%s'%s%s%s (see cuda-trace --help)\n",
		shown, likely ? ": did you mean " : "", likely ? likely : "", likely ? "?" : "");
	return EXIT_USAGE;
}
