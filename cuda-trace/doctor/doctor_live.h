/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the state of a running agent, through its own probes. */
#ifndef CUDA_TRACE_DOCTOR_DOCTOR_LIVE_H
#define CUDA_TRACE_DOCTOR_DOCTOR_LIVE_H

#include <stddef.h>
#include <stdint.h>
#include "libcupti-usdt/probes.h"

/* An agent answers within 300 ms of being watched, on a machine that is not overloaded. */
#define LIVE_WAIT_MS 2000

/* Switches nothing on in the process. 0, or -errno and the session's own words in `said`:
 * -ETIMEDOUT if the agent did not answer. */
int live__status(uint32_t pid, const char *agent, struct cuda_status *status, char *said,
		 size_t size);

#endif
