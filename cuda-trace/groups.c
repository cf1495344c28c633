// SPDX-License-Identifier: BSD-2-Clause
/*
 * The words of -e. No state.
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
} words[] = {
	{"kernels", GROUP(LAUNCH) | GROUP(KERNEL)},
	{"launches", GROUP(LAUNCH)},
	{"copies", GROUP(MEMCPY) | GROUP(MEMSET)},
	{"memory", GROUP(MEMORY)},
	{"sync", GROUP(SYNC)},
	{"errors", GROUP(API_ERROR)},
	{"graphs", GROUP(GRAPH)},
	{"graph-nodes", GROUP(GRAPH_NODES)},
	{"runtime", GROUP(RUNTIME)},
	{"api", 0 CUDA_API_FAMILIES(FAMILY)},
	{"unified", GROUP(UVM)},
	{"nvtx", GROUP(NVTX)},
	{"overhead", GROUP(OVERHEAD)},
	{"objects", GROUP(OBJECT) | GROUP(DEVICE)},
};

int groups__parse(const char *list, uint32_t *groups)
{
	*groups = 0;
	while (*list) {
		size_t length = strcspn(list, ","), i = 0;

		while (i < sizeof(words) / sizeof(words[0]) &&
		       (strlen(words[i].word) != length || strncmp(words[i].word, list, length)))
			i++;
		if (i == sizeof(words) / sizeof(words[0]))
			return -EINVAL;
		*groups |= words[i].groups;
		list += length;
		list += *list == ',';
	}
	return 0;
}
