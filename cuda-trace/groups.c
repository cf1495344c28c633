// SPDX-License-Identifier: BSD-2-Clause
/*
 * The words of -e, of all commands. No state.
 */
#include "cuda-trace/groups.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "libcupti-usdt/probes.h"

#define GROUP(name)		  (1u << CUDA_GROUP_##name)

#define FAMILY(name, probe, text) | GROUP(name)

static const struct {
	const char *word;
	uint32_t groups;
	uint32_t summed; /* 0: nothing of it is added up in the kernel */
} words[] = {
	{"kernels", GROUP(LAUNCH) | GROUP(KERNEL), GROUP(LAUNCH) | GROUP(KERNEL)},
	{"launches", GROUP(LAUNCH), 0},
	/* The calls of these two families are rare, and tell which of them failed. */
	{"copies", GROUP(MEMCPY) | GROUP(MEMSET), GROUP(MEMCPY) | GROUP(MEMSET) | GROUP(API_COPY)},
	{"memory", GROUP(MEMORY), GROUP(MEMORY) | GROUP(API_MEMORY)},
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

int groups__parse(const char *list, uint32_t *groups)
{
	*groups = 0;
	return add_words(list, groups, NULL) ? -EINVAL : 0;
}

const char *groups__parse_summed(const char *list, uint32_t *groups)
{
	const char *unknown;

	/* Devices and contexts are told once a process, and everything refers to them. */
	*groups = GROUP(OBJECT);
	unknown = add_words(list, NULL, groups);
	/* All calls that fail: the two families would tell of some a second time. */
	if (*groups & GROUP(API_ERROR))
		*groups &= ~(GROUP(API_COPY) | GROUP(API_MEMORY));
	return unknown;
}
