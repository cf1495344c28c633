/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -e LIST: translates words into probe groups. Called when options are read.
 */
#ifndef CUDA_TRACE_CLI_EVENT_GROUPS_H
#define CUDA_TRACE_CLI_EVENT_GROUPS_H

#include <stdint.h>

#include "cuda-trace/cli/options.h"

/* Not a probe group: NCCL's calls are observed by uprobes on NCCL. */
#define GROUPS_COLLECTIVES (1u << 31)

/* For commands that read single events. */
#define GROUPS_WORDS                                                                 \
	"kernels,launches,copies,memory,sync,errors,graphs,graph-nodes,runtime,api," \
	"unified,nvtx,overhead,objects,collectives"
/* For metrics and top, which read the live aggregates. */
#define GROUPS_SUMMED_WORDS   "kernels,copies,memory,sync,errors,unified,overhead"
#define GROUPS_SUMMED_DEFAULT "kernels,copies,memory,sync"

/* The families of calls whose names may match `glob`: few, if it begins with letters of a name. */
uint32_t event_groups__of_calls(const char *glob);
/* Bits (1 << enum cuda_group) of the words. 0, or -EINVAL if one is unknown. */
int event_groups__parse(const char *list, uint32_t *groups);
/* The same for the value of --events; 0, or EXIT_USAGE after a message that names the unknown word.
 */
int event_groups__parse_events(const struct option_usage *usage, const char *list,
			       uint32_t *groups);
int event_groups__parse_summed(const struct option_usage *usage, const char *list,
			       uint32_t *groups);

#endif
