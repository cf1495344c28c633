/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of CONTRACT 1 (probes.h): how a tool requests counters of a process that already runs.
 */
#ifndef LIBCUPTI_USDT_COUNTER_REQUEST_H
#define LIBCUPTI_USDT_COUNTER_REQUEST_H

#include "libcupti-usdt/probes.h"

/*
 * A place in the agent's own memory. cuda_status.request has its address, for tools that may write
 * there (/proc/PID/mem). Such a tool listens to counters_batch first, compares magic and instance,
 * checks that the tool of an earlier request is gone, and writes number last. The agent reads it
 * a few times a second, and drops the request when nobody listens any more.
 */
#define CUDA_REQUEST_MAGIC 0x7473657571657263ULL
#define CUDA_REQUEST_TEXT  34816
#define CUDA_REQUEST_SETS  32 /* of metrics ("a,b;c"), at most: each launch is counted with one */
#define CUDA_REQUEST_ALIVE 3000000000ULL /* ns without a sign of life: that asker is gone */

struct cuda_request {
	__u64 magic;	/* CUDA_REQUEST_MAGIC */
	__u64 instance; /* as in cuda_status */
	__u32 size;	/* of this structure */
	__u32 taken;	/* the number that the agent read last, whether it was valid or not */
	__u32 number;	/* of the request, another one than taken; 0 = there is none */
	__u32 bytes;	/* of text that count */
	__u64 alive;	/* ns, when the asker was there last */
	__u64 skip;	/* so many kernels first */
	__u64 limit;	/* so many at most, 0 = all */
	__u64 checksum; /* FNV-1a, 64 bits, over skip, limit, text, and flags if they are not 0 */
	char text[CUDA_REQUEST_TEXT]; /* metrics, NUL, expression (may be empty), NUL */
	__u32 flags;		      /* older agents do not have it: see size */
	__u32 pad;
};

#define CUDA_REQUEST_GRAPHS                                                  \
	1 /* launches of graphs are counted, each as a whole, and no kernels \
	   */
#define CUDA_REQUEST_OLDEST (64 + CUDA_REQUEST_TEXT) /* bytes: without flags */

_Static_assert(sizeof(struct cuda_request) == CUDA_REQUEST_OLDEST + 8, "layout");

#endif
