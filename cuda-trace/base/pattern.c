// SPDX-License-Identifier: BSD-2-Clause
/*
 * An extended regular expression, matched against demangled names.
 */
#include "cuda-trace/base/pattern.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

struct pattern {
	bool everything;
	regex_t regex;
};

struct pattern *pattern__new(const char *expression)
{
	struct pattern *pattern = calloc(1, sizeof(*pattern));
	char reason[128];
	int err;

	if (!pattern)
		return NULL;
	if (!expression) {
		pattern->everything = true;
		return pattern;
	}
	err = regcomp(&pattern->regex, expression, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &pattern->regex, reason, sizeof(reason));
		fprintf(stderr, "cuda-trace: -k '%s': %s\n", expression, reason);
		free(pattern);
		return NULL;
	}
	return pattern;
}

void pattern__free(struct pattern *pattern)
{
	if (!pattern)
		return;
	if (!pattern->everything)
		regfree(&pattern->regex);
	free(pattern);
}

bool pattern__matches(struct pattern *pattern, const char *text)
{
	return pattern->everything || !regexec(&pattern->regex, text, 0, NULL, 0);
}
