// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of options → getopt_long and --help, which completion reads. Called by every command before
 * anything else; knows nothing of what the options mean.
 */
#include "cuda-trace/cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/cli/option_mistakes.h"

#define MAX_OPTIONS 64

enum { CODE_HELP = 1000, CODE_COMPLETE, CODE_FIRST };

#define HELP_COLUMN 27

_Static_assert(OPTION_TEXTS_MAX == 8, "expectation() names it");

int options__misuse(const struct option_usage *usage, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "cuda-trace %s: ", usage->command);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, " (see cuda-trace %s --help)\n", usage->command);
	return EXIT_USAGE;
}

static void print_row(const struct option_row *row)
{
	bool maybe = row->kind == OPTION_MAYBE;
	const char *line = row->help;
	char left[80];
	int width;

	if (row->kind == OPTION_VALUES)
		return;
	if (row->kind == OPTION_HEADING) {
		printf("\n%s:\n", row->help);
		return;
	}
	width = snprintf(left, sizeof(left), "  %c%c%s --%s%s%s%s", row->letter ? '-' : ' ',
			 row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name,
			 !row->value ? ""
			 : maybe     ? "[="
				     : " ",
			 row->value ? row->value : "", maybe ? "]" : "");
	printf("%s", left);
	if (width >= HELP_COLUMN) {
		printf("\n");
		width = 0;
	}
	for (;;) {
		const char *end = strchrnul(line, '\n');

		printf("%*s%.*s\n", HELP_COLUMN - width, "", (int)(end - line), line);
		if (!*end)
			break;
		line = end + 1;
		width = 0;
	}
}

static void print_help(const struct option_usage *usage)
{
	const char *lead = "Usage:";

	for (const char *const *line = usage->synopsis; *line; line++, lead = "      ")
		printf("%s cuda-trace %s %s\n", lead, usage->command, *line);
	printf("%s\n", usage->summary);
	for_each_option_row(row, table, usage) print_row(row);
	printf("%-*sthis text\n", HELP_COLUMN, "  -h, --help");
	if (usage->examples)
		printf("\nEXAMPLES\n%s", usage->examples);
	printf("\nManual page: cuda-trace-%s(1)\n", usage->command);
}

int options__parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double factor;
	} units[] = {
		{"", 1e9},  {"ns", 1},	 {"us", 1e3},	{"ms", 1e6},
		{"s", 1e9}, {"m", 60e9}, {"h", 3600e9},
	};
	char *end;
	double number;

	/* strtod() knows "inf", "nan" and signs: none of them is a time. */
	if (*text < '0' || *text > '9')
		return -EINVAL;
	number = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit))
			continue;
		number *= units[i].factor;
		if (!(number < 1e18))
			return -EINVAL;
		*ns = number;
		return 0;
	}
	return -EINVAL;
}

static int parse_number(const char *text, uint64_t limit, uint64_t *number)
{
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end || errno || value > limit || !value)
		return -EINVAL;
	*number = value;
	return 0;
}

static int parse_user(const char *text, int64_t *uid)
{
	struct passwd *user = getpwnam(text);
	uint64_t number;

	if (user) {
		*uid = user->pw_uid;
		return 0;
	}
	if (!strcmp(text, "0")) {
		*uid = 0;
		return 0;
	}
	if (parse_number(text, UINT_MAX - 1, &number))
		return -EINVAL;
	*uid = number;
	return 0;
}

static bool is_one_of(const char *value, const char *words)
{
	size_t n;

	for (; *words; words += n, words += *words == ',') {
		n = strcspn(words, ",");
		if (n == strlen(value) && !strncmp(value, words, n))
			return true;
	}
	return false;
}

static int add_text(struct option_texts *texts, const char *value)
{
	if (texts->count == OPTION_TEXTS_MAX)
		return -E2BIG;
	texts->list[texts->count++] = value;
	return 0;
}

static int set(const struct option_row *row, void *into, const char *value)
{
	char *field = (char *)into + row->offset;
	uint64_t number = 0;
	int err = 0;

	switch (row->kind) {
	case OPTION_HEADING:
	case OPTION_VALUES:
		break;
	case OPTION_FLAG:
		*(bool *)field = true;
		break;
	case OPTION_TEXT:
		*(const char **)field = value;
		break;
	case OPTION_TEXTS:
		err = add_text((struct option_texts *)field, value);
		break;
	case OPTION_WORD:
		*(const char **)field = value;
		err = is_one_of(value, option_mistakes__words(row)) ? 0 : -EINVAL;
		break;
	case OPTION_MAYBE:
		*(const char **)field = value ? value + (*value == '=') : "";
		break;
	case OPTION_COUNT:
		err = parse_number(value, UINT64_MAX, (uint64_t *)field);
		break;
	case OPTION_PID:
		err = parse_number(value, INT_MAX, &number);
		*(uint32_t *)field = number;
		break;
	case OPTION_USER:
		err = parse_user(value, (int64_t *)field);
		break;
	case OPTION_TIME:
		err = options__parse_time(value, (uint64_t *)field);
		break;
	}
	return err;
}

static const char *expectation(enum option_kind kind)
{
	switch (kind) {
	case OPTION_COUNT:
		return "a whole number above 0";
	case OPTION_PID:
		return "a process id";
	case OPTION_USER:
		return "a user's name or number";
	case OPTION_TIME:
		return "a time such as 500us, 10ms or 2s";
	case OPTION_TEXTS:
		return "at most 8 values";
	default:
		return "something else";
	}
}

static int explain_value(const struct option_usage *usage, const struct option_row *row,
			 const char *value)
{
	if (row->kind == OPTION_WORD)
		return options__unknown_word(usage, row->name, value, strlen(value),
					     option_mistakes__words(row));
	return options__misuse(usage, "--%s wants %s, not '%s'", row->name, expectation(row->kind),
			       value);
}

static void add(struct option *options, char *letters, const struct option_row *row, int *n)
{
	char *end = letters + strlen(letters);

	options[*n] = (struct option){
		.name = row->name,
		.has_arg = row->kind == OPTION_MAYBE ? optional_argument
			   : row->value		     ? required_argument
						     : no_argument,
		.val = row->letter ? row->letter : CODE_FIRST + *n,
	};
	if (row->letter) {
		*end++ = row->letter;
		if (row->value)
			*end++ = ':';
		if (row->kind == OPTION_MAYBE)
			*end++ = ':';
		*end = 0;
	}
	(*n)++;
}

int options__parse(const struct option_usage *usage, void *into, int argc, char **argv, int *status)
{
	const struct option_row *rows[MAX_OPTIONS];
	struct option options[MAX_OPTIONS + 3] = {};
	/* "+": what follows PROGRAM is its own. ":": own messages, in the tool's own form. */
	char letters[3 * MAX_OPTIONS + 4] = "+:h";
	int n = 0, code;

	for_each_option_row(row, table, usage)
	{
		if (!row->name || n == MAX_OPTIONS)
			continue;
		rows[n] = row;
		add(options, letters, row, &n);
	}
	options[n] = (struct option){"help", no_argument, NULL, CODE_HELP};
	options[n + 1] = (struct option){"complete", required_argument, NULL, CODE_COMPLETE};

	opterr = 0;
	optind = 1;
	for (;;) {
		int i, at = optind;

		code = getopt_long(argc, argv, letters, options, NULL);
		if (code == -1)
			break;

		*status = EXIT_OK;
		if (code == 'h' || code == CODE_HELP) {
			print_help(usage);
			return -1;
		}
		if (code == CODE_COMPLETE) {
			*status = option_mistakes__complete(usage, optarg);
			return -1;
		}
		for (i = 0; i < n && options[i].val != code; i++)
			;
		if (code == ':')
			*status =
				options__misuse(usage, "option %s needs a value", argv[optind - 1]);
		else if (i == n)
			*status = option_mistakes__unknown(usage, argv[at], optopt);
		else if (set(rows[i], into, optarg))
			*status = explain_value(usage, rows[i], optarg);
		if (*status != EXIT_OK)
			return -1;
	}
	return optind;
}
