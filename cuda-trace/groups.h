/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -e LIST of trace and stat: words → what the guests switch on.
 */
#ifndef CUDA_TRACE_GROUPS_H
#define CUDA_TRACE_GROUPS_H

#include <stdint.h>

#define GROUPS_WORDS                                                                           \
	"kernels, launches, copies, memory, sync, errors, graphs, graph-nodes, runtime, api, " \
	"unified, "                                                                            \
	"nvtx, overhead, objects"

/* Bits (1 << enum cuda_group). 0, or -EINVAL when a word is not known. */
int groups__parse(const char *list, uint32_t *groups);

#endif
