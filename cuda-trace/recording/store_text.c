// SPDX-License-Identifier: BSD-2-Clause
/* Untrusted text for a file, and short names of kernels. */
#include "cuda-trace/recording/store_text.h"
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"

char *store__clean_text(const char *text, size_t length)
{
	char *copy = strndup(text, length), *clean = NULL, *fitting = NULL;
	size_t capacity = copy ? strlen(copy) * 4 + 8 : 0;

	if (copy)
		clean = malloc(capacity);
	if (clean) {
		text__show(clean, capacity, copy, 0);
		/* Readers keep millions of these. */
		fitting = realloc(clean, strlen(clean) + 1);
	}
	free(copy);
	return fitting ? fitting : clean;
}

/* Where the arguments begin: the '(' outside of <>, but not that of "(anonymous namespace)" or of
 * "operator()". */
static const char *arguments(const char *name)
{
	int depth = 0;

	for (const char *at = name; *at; at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>' && depth)
			depth--;
		else if (*at != '(' || depth)
			continue;
		else if (!strncmp(at, "(anonymous namespace)", 21))
			at += 20;
		else if (!strncmp(at, "()", 2) && at - name >= 8 && !memcmp(at - 8, "operator", 8))
			at++;
		else
			return at;
	}
	return name + strlen(name);
}

char *store__short_name(const char *demangled)
{
	const char *end = arguments(demangled), *from = demangled;
	char *name, *to;
	int depth = 0;

	/* The last component outside of template arguments. */
	for (const char *at = demangled; at < end; at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>' && depth)
			depth--;
		else if (!depth && (*at == ' ' || (*at == ':' && at > demangled && at[-1] == ':')))
			from = at + 1;
	}
	name = to = malloc(end - from + 1);
	if (!name)
		return NULL;
	depth = 0;
	for (const char *at = from; at < end; at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>' && depth)
			depth--;
		else if (!depth)
			*to++ = *at;
	}
	*to = '\0';
	if (to == name) {
		free(name);
		return strdup(demangled);
	}
	return name;
}
