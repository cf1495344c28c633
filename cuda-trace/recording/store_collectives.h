/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of NCCL of one process in an import: which kernel each launched, and of which communicator
 * it is; and what graphs replay of them. A row is written once the launch has come. Inside of the
 * import.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_COLLECTIVES_H
#define CUDA_TRACE_RECORDING_STORE_COLLECTIVES_H

#include "cuda-trace/recording/store_objects.h"

/* A communicator that the process made: before any event. */
int store_collectives__made(struct rows *rows, struct rows_process *process, const uint8_t *data,
			    size_t size);
int store_collectives__call(struct rows *rows, struct rows_process *process,
			    const struct spool_collective *record);
int store_collectives__launch(struct rows *rows, struct rows_process *process,
			      const struct cuda_launch *launch);
/* A node of a graph was created or copied. */
int store_collectives__node(struct rows *rows, struct rows_process *process,
			    const struct cuda_graph_node *node);
/* A replay of a node has a row for each call that was captured. */
int store_collectives__kernel(struct rows *rows, struct rows_process *process,
			      const struct cuda_kernel *kernel);
/* Writes what still waits. */
int store_collectives__finish(struct rows *rows, struct rows_process *process);
void store_collectives__free(struct rows_process *process);

#endif
