/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers of options__parse() to options that a command does not have.
 */
#ifndef CUDA_TRACE_CLI_OPTION_MISTAKES_H
#define CUDA_TRACE_CLI_OPTION_MISTAKES_H

#include "cuda-trace/cli/options.h"

/* True after the last row of a table. */
static inline bool option_mistakes__is_last(const struct option_row *row)
{
	return !row->name && !row->help;
}

/* The words that are allowed in its value; NULL = any. */
static inline const char *option_mistakes__words(const struct option_row *row)
{
	return row[1].kind == OPTION_VALUES ? row[1].help : NULL;
}

#define for_each_option_row(row, table, usage)                                         \
	for (const struct option_row *const *table = (usage)->tables; *table; table++) \
		for (const struct option_row *row = *table; !option_mistakes__is_last(row); row++)

/* getopt_long()'s '?': the word that it stopped at, with optopt as it left it. Returns EXIT_USAGE.
 */
int option_mistakes__unknown(const struct option_usage *usage, const char *word, int letter);
/* As options.h says of "--complete OPTION"; the exit status. */
int option_mistakes__complete(const struct option_usage *usage, const char *option);

#endif
