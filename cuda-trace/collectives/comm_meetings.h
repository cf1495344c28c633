/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which kernels of a communicator's ranks are one collective, and who waited for whom in it. Part
 * of nccl_comms.h, which says how that follows from the kernels' durations.
 */
#ifndef CUDA_TRACE_COLLECTIVES_COMM_MEETINGS_H
#define CUDA_TRACE_COLLECTIVES_COMM_MEETINGS_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda-trace/collectives/nccl_comms.h"

/* A kernel of a rank, numbered. */
void comm_meetings__add(struct nccl_comms *comms, const struct nccl_comm_work *work, uint64_t start,
			uint64_t end);
/* Nobody leaves before all have come: of a broadcast or a reduction, the root or the others may. */
bool comm_meetings__all_wait(const struct nccl_comm_work *work);
/* What one kernel does for several operations is divided by their bytes. */
double comm_meetings__share(const struct nccl_comm_work *work, uint32_t part);

#endif
