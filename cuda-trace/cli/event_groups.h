/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -e LIST: words → what the agents switch on. Called when options are read.
 */
#ifndef CUDA_TRACE_CLI_EVENT_GROUPS_H
#define CUDA_TRACE_CLI_EVENT_GROUPS_H

#include <stdint.h>

#include "cuda-trace/cli/options.h"

/* No group of the probes: NCCL's calls are observed at NCCL itself. */
#define GROUPS_COLLECTIVES (1u << 31)

/* Of stat, trace and record, which take event by event. */
#define GROUPS_WORDS                                                                 \
	"kernels,launches,copies,memory,sync,errors,graphs,graph-nodes,runtime,api," \
	"unified,nvtx,overhead,objects"
/* Of stat, which puts collectives together with their kernels. */
#define GROUPS_WORDS_AND_COLLECTIVES GROUPS_WORDS ",collectives"
/* Of metrics and top, for which the kernel adds up. */
#define GROUPS_SUMMED_WORDS   "kernels,copies,memory,sync,errors,unified,overhead"
#define GROUPS_SUMMED_DEFAULT "kernels,copies,memory,sync"

/* The families that calls whose names match `glob` may be of: few, if it begins as a name does. */
uint32_t event_groups__of_calls(const char *glob);
/* Bits (1 << enum cuda_group) of the words. 0, or -EINVAL when one is not known. */
int event_groups__parse(const char *list, uint32_t *groups);
/* The same of what --events was given; 0, or EXIT_USAGE after naming the word that is not known. */
int event_groups__parse_events(const struct option_usage *usage, const char *list,
			       uint32_t *groups);
int event_groups__parse_stat_events(const struct option_usage *usage, const char *list,
				    uint32_t *groups);
int event_groups__parse_summed(const struct option_usage *usage, const char *list,
			       uint32_t *groups);

#endif
