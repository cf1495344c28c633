/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of the timeline's events, while it is filled. */
#ifndef CUDA_TRACE_EXPORT_EXPORT_LANE_NAMES_H
#define CUDA_TRACE_EXPORT_EXPORT_LANE_NAMES_H

#include "cuda-trace/base/key_index.h"
#include "cuda-trace/export/export_lanes.h"

struct lane_names {
	struct lanes *lanes; /* has the texts */
	struct names_of_file *strings;
	struct key_index index; /* of lanes.names, by category and number */
};

/* The index of what that number means in that category; -ENOMEM. */
int64_t lane_names__find(struct lane_names *names, char category, int64_t number);
void lane_names__free(struct lane_names *names);

#endif
