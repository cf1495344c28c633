/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the words of --counters to the metrics that are requested from processes, and what this
 * machine's libcupti says of them before PROGRAM starts.
 */
#ifndef CUDA_TRACE_PROFILE_COUNTERS_METRIC_REQUEST_H
#define CUDA_TRACE_PROFILE_COUNTERS_METRIC_REQUEST_H

#include <stdbool.h>
#include "cuda-trace/profile/profile.h"

/* The metrics, which the caller frees; replays: each launch is counted with all of them, in as many
 * passes as that takes. passes_said: how many was said. An exit status. */
int metric_request__make(const struct profile_options *options, bool replays, char **request,
			 bool *passes_said);

#endif
