/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verdicts of the present, for tools that watch: of a window of some seconds instead of all time.
 */
#ifndef CUDA_TRACE_COLLECTIVES_COMM_WINDOWS_H
#define CUDA_TRACE_COLLECTIVES_COMM_WINDOWS_H

#include "cuda-trace/collectives/nccl_comms.h"

/* Several times a second: begins new windows. */
void comm_windows__follow(struct nccl_comms *comms, uint64_t now_ns);
/* Whether this window has lasted long enough for what is to be acted on. */
bool comm_windows__is_settled(const struct nccl_comm *comm, uint64_t now_ns);
/* Which rank is late in this window or was in the one before; NULL = none, or nobody knows. */
const struct nccl_comm_rank *comm_windows__late(const struct nccl_comm *comm);

#endif
