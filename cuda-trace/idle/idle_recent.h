/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a GPU's gaps of one cause were lately: the place that has most of their time, by a vote.
 */
#ifndef CUDA_TRACE_IDLE_IDLE_RECENT_H
#define CUDA_TRACE_IDLE_IDLE_RECENT_H

#include "cuda-trace/idle/idle_places.h"

struct idle_recent {
	struct idle_place place;
	uint64_t ns; /* of that place's lead; 0 = there is none */
};

void idle_recent__add(struct idle_recent *recent, const struct idle_place *place, uint64_t ns);

#endif
