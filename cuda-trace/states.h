/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words for the guest's states.
 */
#ifndef CUDA_TRACE_STATES_H
#define CUDA_TRACE_STATES_H

#include "libcupti-usdt/probes.h"

/* "dormant", "active", "yielded", "inert", "ended"; "unknown" when none was told. Stable keys. */
const char *states__key(const struct cuda_status *status);
/* Why no GPU times come from a process in this state, or NULL. */
const char *states__trouble(const struct cuda_status *status);

#endif
