// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages about options and words that do not exist, and the words that do.
 */
#include "cuda-trace/cli/option_mistakes.h"

#include <stdio.h>
#include <string.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/suggest.h"
#include "cuda-trace/base/text.h"

#define SHOWN 320

int options__extra_operand(const struct option_usage *usage, const char *operand)
{
	char shown[SHOWN];

	return options__misuse(usage, "unexpected operand '%s'",
			       text__show(shown, sizeof(shown), operand, 60));
}

bool options__parse_alone(const struct option_usage *usage, void *into, int argc, char **argv,
			  int *status)
{
	int operand = options__parse(usage, into, argc, argv, status);

	if (operand >= 0 && operand < argc)
		*status = options__extra_operand(usage, argv[operand]);
	return operand == argc;
}

int options__unknown_word(const struct option_usage *usage, const char *name, const char *word,
			  size_t length, const char *words)
{
	struct nearest_words nearest = {};
	char cut[SHOWN], shown[SHOWN], list[512] = "", one[NEAREST_CHARS];
	const char *likely;
	size_t used = 0;

	snprintf(cut, sizeof(cut), "%.*s", (int)(length < 60 ? length : 60), word);
	while (*words && used < sizeof(list)) {
		size_t n = strcspn(words, ",");

		used += snprintf(list + used, sizeof(list) - used, "%s%.*s", used ? ", " : "",
				 (int)n, words);
		snprintf(one, sizeof(one), "%.*s", (int)n, words);
		suggest__consider(&nearest, one, cut, strlen(cut));
		words += n;
		words += *words == ',';
	}
	likely = suggest__likely(&nearest, cut);
	return options__misuse(usage, "--%s: '%s' is none of %s%s%s%s", name,
			       text__show(shown, sizeof(shown), cut, 60), list,
			       likely ? ": did you mean " : "", likely ? likely : "",
			       likely ? "?" : "");
}

static bool begins(const char *name, const char *word, size_t length)
{
	return !strncmp(name, word, length);
}

/* "--de" of --delay and --device: getopt_long() takes what begins only one option. */
static unsigned int count_options(const struct option_usage *usage, const char *word, size_t length,
				  char *list, size_t size)
{
	unsigned int count = 0;
	size_t used = 0;

	*list = 0;
	for_each_option_row(row, table, usage)
	{
		if (!row->name || !begins(row->name, word, length))
			continue;
		if (used < size)
			used += snprintf(list + used, size - used, "%s--%s", count ? ", " : "",
					 row->name);
		count++;
	}
	return count;
}

int option_mistakes__unknown(const struct option_usage *usage, const char *word, int letter)
{
	struct nearest_words nearest = {};
	char shown[SHOWN], list[512], name[SHOWN];
	size_t length = strcspn(word, "=");
	unsigned int count;
	const char *likely;

	text__show(shown, sizeof(shown), word, 60);
	if (strncmp(word, "--", 2))
		return options__misuse(usage, "unknown option -%c", letter);
	snprintf(name, sizeof(name), "%.*s", (int)(length - 2 < 60 ? length - 2 : 60), word + 2);
	count = count_options(usage, name, strlen(name), list, sizeof(list));
	if (count > 1 && !(letter && word[length]))
		return options__misuse(usage, "option %s is not unique: %s", shown, list);
	if (count && word[length])
		return options__misuse(usage, "option %.*s takes no value", (int)length, shown);
	for_each_option_row(row, table, usage)
	{
		if (row->name)
			suggest__consider(&nearest, row->name, name, strlen(name));
	}
	likely = suggest__likely(&nearest, name);
	return options__misuse(usage, "unknown option %s%s%s%s", shown,
			       likely ? ": did you mean --" : "", likely ? likely : "",
			       likely ? "?" : "");
}

static bool is_meant(const struct option_row *row, const char *option)
{
	if (!row->name)
		return false;
	if (!strncmp(option, "--", 2))
		return !strcmp(row->name, option + 2);
	return option[0] == '-' && option[1] && option[1] == row->letter && !option[2];
}

int option_mistakes__complete(const struct option_usage *usage, const char *option)
{
	for_each_option_row(row, table, usage)
	{
		const char *word = is_meant(row, option) ? option_mistakes__words(row) : NULL;

		if (!word)
			continue;
		for (; *word; word += strcspn(word, ","), word += *word == ',')
			printf("%.*s\n", (int)strcspn(word, ","), word);
		return EXIT_OK;
	}
	return EXIT_TROUBLE;
}
