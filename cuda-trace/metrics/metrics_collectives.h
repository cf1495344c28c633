/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics --collectives: NCCL's communicators and their ranks. Called under the exporter's lock;
 * all accept NULL for the communicators.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_COLLECTIVES_H
#define CUDA_TRACE_METRICS_METRICS_COLLECTIVES_H

#include <stdint.h>
#include "cuda-trace/metrics/metrics_series.h"
#include "cuda-trace/metrics/metrics_text.h"

struct nccl_comms;

/* The labels of a process's ranks: they stay when it has ended. */
void metrics_collectives__name(struct nccl_comms *comms, uint32_t pid,
			       const struct series_labels *labels);
/* Drops communicators whose processes have all ended so long ago. */
void metrics_collectives__expire(struct nccl_comms *comms, unsigned int seconds);
void metrics_collectives__write(struct exposition *exposition, const struct nccl_comms *comms,
				double started);

#endif
