/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that yield CUPTI to another client, for metrics.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_YIELDS_H
#define CUDA_TRACE_LIVE_LIVE_YIELDS_H

#include <stdint.h>
#include "bpf/event.h"

#define LIVE_YIELDS_MAX 64

struct session;

struct live_yield {
	uint32_t pid;
	char comm[EVENT_COMM_LEN], client[64]; /* untrusted */
	double since;			       /* Unix time */
};

struct live_yields {
	uint64_t total;	    /* times so far */
	uint64_t now;	    /* processes that do now */
	unsigned int count; /* of these the first */
	struct live_yield yields[LIVE_YIELDS_MAX];
};

void live_yields__find(struct session *session, struct live_yields *yields, uint64_t total);

#endif
