// SPDX-License-Identifier: BSD-2-Clause
/*
 * Words for what is watched. Called when options are read.
 */
#include "cuda-trace/events.h"

#include <stddef.h>
#include <string.h>
#include "libcupti-usdt/probes.h"

#define GROUP(name) (1u << CUDA_GROUP_##name)

static const struct {
	const char *word;
	uint32_t groups;
} words[] = {
	{"kernels", GROUP(LAUNCH) | GROUP(KERNEL)},
	/* The calls of these two families are rare, and tell which of them failed. */
	{"copies", GROUP(MEMCPY) | GROUP(MEMSET) | GROUP(API_COPY)},
	{"memory", GROUP(MEMORY) | GROUP(API_MEMORY)},
	{"sync", GROUP(SYNC)},
	{"errors", GROUP(API_ERROR)},
	{"unified", GROUP(UVM)},
	{"overhead", GROUP(OVERHEAD)},
};

const char *events__words(void)
{
	return "kernels, copies, memory, sync, errors, unified, overhead";
}

const char *events__parse(const char *list, uint32_t *groups)
{
	/* Devices and contexts are told once a process, and everything refers to them. */
	*groups = GROUP(OBJECT) | GROUP(DEVICE);
	while (*list) {
		size_t length = strcspn(list, ","), i;

		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].word) == length &&
			    !strncmp(words[i].word, list, length))
				break;
		if (i == sizeof(words) / sizeof(words[0]))
			return list;
		*groups |= words[i].groups;
		list += length;
		list += *list == ',';
	}
	/* All calls that fail: the two families would tell of some a second time. */
	if (*groups & GROUP(API_ERROR))
		*groups &= ~(GROUP(API_COPY) | GROUP(API_MEMORY));
	return NULL;
}
