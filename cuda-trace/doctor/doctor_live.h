/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks a running guest for its state, through its own probes. */
#ifndef CUDA_TRACE_DOCTOR_DOCTOR_LIVE_H
#define CUDA_TRACE_DOCTOR_DOCTOR_LIVE_H

#include <stddef.h>
#include <stdint.h>
#include "libcupti-usdt/probes.h"

/* A guest answers within 300 ms of being watched, on a machine that is not overloaded. */
#define LIVE_WAIT_MS 2000

/* Switches nothing on in the process. 0, or -errno and the session's own words in `said`:
 * -ETIMEDOUT if the guest did not answer. */
int live__status(uint32_t pid, const char *guest, struct cuda_status *status, char *said,
		 size_t size);

#endif
