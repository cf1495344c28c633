/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The section of collectives in reports: by communicator and operation, and which rank is late.
 */
#ifndef CUDA_TRACE_COLLECTIVES_COLLECTIVE_SECTION_H
#define CUDA_TRACE_COLLECTIVES_COLLECTIVE_SECTION_H

#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/collectives/nccl_comms.h"

/* In text at most so many communicators. */
void collective_section__put(struct sheet *sheet, const struct nccl_comms *comms, uint64_t most);

#endif
