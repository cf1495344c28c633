/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which GPU a process means by an ordinal: in containers each process has a device 0. One thread.
 */
#ifndef CUDA_TRACE_BASE_GPU_SET_H
#define CUDA_TRACE_BASE_GPU_SET_H

#include <stdbool.h>
#include <stdint.h>
#include "libcupti-usdt/probes.h"

#define GPU_SET_MAX  64
#define GPU_ORDINALS 64 /* devices of one process */

/* By ordinal: index + 1; 0 = not used yet. */
typedef uint8_t gpu_ordinals[GPU_ORDINALS];

struct gpu_set {
	uint32_t count;
	struct gpu_identity {
		uint32_t ordinal; /* in the first process that used it */
		bool known;	  /* what follows is */
		uint8_t uuid[16], mig_uuid[16];
	} list[GPU_SET_MAX];
	/* False: no space for this one. NULL = there is. */
	bool (*add)(void *context, uint32_t index);
	void *context;
};

/* Index of the GPU, below 0 = too many. As long as the process has not said which device that is,
 * it is the one that others call so. */
int gpu_set__find(struct gpu_set *set, gpu_ordinals of, uint32_t ordinal);
/* A process says which GPU it means, at best before any work on it: what came before counts for the
 * GPU that it was taken for. Below 0: nothing is known by that. */
int gpu_set__identify(struct gpu_set *set, gpu_ordinals of, const struct cuda_device *device);

#endif
