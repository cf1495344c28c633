// SPDX-License-Identifier: BSD-2-Clause
/*
 * The words of -e, of all commands. No state.
 */
#include "cuda-trace/cli/event_groups.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "libcupti-usdt/api_families.h"
#include "libcupti-usdt/probes.h"

#define GROUP(name)		  (1u << CUDA_GROUP_##name)

#define FAMILY(name, probe, text) | GROUP(name)

_Static_assert(CUDA_GROUP_COUNT <= 31, "the last bit means collectives");

static const struct {
	const char *word;
	uint32_t groups;
	uint32_t summed; /* 0: nothing of it is added up in the kernel */
} words[] = {
	{"kernels", GROUP(LAUNCH) | GROUP(KERNEL), GROUP(LAUNCH) | GROUP(KERNEL)},
	{"launches", GROUP(LAUNCH), 0},
	{"copies", GROUP(MEMCPY) | GROUP(MEMSET),
	 GROUP(MEMCPY) | GROUP(MEMSET) | GROUP(MEMORY_ERROR)},
	{"memory", GROUP(MEMORY), GROUP(MEMORY) | GROUP(MEMORY_ERROR)},
	{"sync", GROUP(SYNC), GROUP(SYNC)},
	{"errors", GROUP(API_ERROR), GROUP(API_ERROR)},
	{"graphs", GROUP(GRAPH), 0},
	{"graph-nodes", GROUP(GRAPH_NODES), 0},
	{"runtime", GROUP(RUNTIME), 0},
	{"api", 0 CUDA_API_FAMILIES(FAMILY), 0},
	{"unified", GROUP(UVM), GROUP(UVM)},
	{"nvtx", GROUP(NVTX), 0},
	{"overhead", GROUP(OVERHEAD), GROUP(OVERHEAD)},
	{"objects", GROUP(OBJECT) | GROUP(DEVICE), 0},
	{"collectives", GROUPS_COLLECTIVES | GROUP(LAUNCH) | GROUP(KERNEL), 0},
};

/* NULL, or the first word that is not in the table. */
static const char *add_words(const char *list, uint32_t *groups, uint32_t *summed)
{
	while (*list) {
		size_t length = strcspn(list, ","), i = 0;

		while (i < sizeof(words) / sizeof(words[0]) &&
		       (strlen(words[i].word) != length || strncmp(words[i].word, list, length)))
			i++;
		if (i == sizeof(words) / sizeof(words[0]) || (summed && !words[i].summed))
			return list;
		if (groups)
			*groups |= words[i].groups;
		if (summed)
			*summed |= words[i].summed;
		list += length;
		list += *list == ',';
	}
	return NULL;
}

int event_groups__parse(const char *list, uint32_t *groups)
{
	*groups = 0;
	return add_words(list, groups, NULL) ? -EINVAL : 0;
}

static int explain(const struct option_usage *usage, const char *unknown, const char *known)
{
	return unknown ? options__unknown_word(usage, "events", unknown, strcspn(unknown, ","),
					       known)
		       : 0;
}

int event_groups__parse_events(const struct option_usage *usage, const char *list, uint32_t *groups)
{
	*groups = 0;
	return explain(usage, add_words(list, groups, NULL), GROUPS_WORDS);
}

int event_groups__parse_summed(const struct option_usage *usage, const char *list, uint32_t *groups)
{
	const char *unknown;

	/* Devices and contexts are reported once a process, and everything refers to them. Devices
	 * come from the driver before the first kernel, too. */
	*groups = GROUP(OBJECT) | GROUP(DEVICE);
	unknown = add_words(list, NULL, groups);
	/* All calls that fail: it would report some a second time. */
	if (*groups & GROUP(API_ERROR))
		*groups &= ~GROUP(MEMORY_ERROR);
	return explain(usage, unknown, GROUPS_SUMMED_WORDS);
}

static const struct {
	const char *part;
	uint32_t group;
	const char *beginnings;
} rules[] = {
#define RULE(part, name, beginnings) {part, GROUP(name), beginnings},
	CUDA_FAMILY_RULES(RULE)
#undef RULE
};

static bool begins(const char *text, size_t length, const char *with, size_t with_length)
{
	return length >= with_length && !strncmp(text, with, with_length);
}

/* One of them goes on as the other does. */
static bool is_compatible(const char *a, size_t a_length, const char *b, size_t b_length)
{
	return begins(a, a_length, b, b_length) || begins(b, b_length, a, a_length);
}

static bool has_compatible(const char *beginnings, const char *start, size_t length)
{
	while (*beginnings) {
		size_t one = strcspn(beginnings, " ");

		if (is_compatible(beginnings, one, start, length))
			return true;
		beginnings += one;
		beginnings += *beginnings == ' ';
	}
	return false;
}

/* What stands before the first wildcard, without "cu" or "cuda": all names of the glob begin so. */
static const char *literal_start(const char *glob, size_t *length)
{
	size_t skip = begins(glob, strlen(glob), "cuda", 4) ? 4 : 2, all = strcspn(glob, "*?[\\");

	if (begins(glob, all, "_", 1))
		skip = 0;
	else if (all < skip || !begins(glob, all, "cu", 2) ||
		 (skip == 2 && all == 3 && glob[2] == 'd'))
		all = skip = 0;
	*length = all - skip;
	return glob + skip;
}

uint32_t event_groups__of_calls(const char *glob)
{
	size_t length;
	const char *start = literal_start(glob, &length);
	bool exact = !start[length] && length;
	uint32_t groups = 0;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const char *part = rules[i].part, *found = strstr(start, part);
		bool anchored = *part == '^';

		/* Every name that the glob matches is of this family, or of one before. */
		if (anchored ? begins(start, length, part + 1, strlen(part + 1))
			     : found && found + strlen(part) <= start + length)
			return groups | rules[i].group;
		if (exact)
			continue;
		if (anchored ? is_compatible(start, length, part + 1, strlen(part + 1))
			     : found || has_compatible(rules[i].beginnings, start, length))
			groups |= rules[i].group;
	}
	return groups | GROUP(API_OTHER);
}
