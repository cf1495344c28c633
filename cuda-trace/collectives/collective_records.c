// SPDX-License-Identifier: BSD-2-Clause
/* No state. */
#include "cuda-trace/collectives/collective_records.h"

void collective_records__put(struct collectives *collectives, const struct process *process,
			     const struct cuda_record *record)
{
	const struct cuda_launch *launch = (const struct cuda_launch *)record;
	const struct cuda_kernel *kernel = (const struct cuda_kernel *)record;

	if (record->kind == CUDA_RECORD_LAUNCH)
		collectives__launch(collectives, launch, process__name(process, launch->name));
	else if (record->kind == CUDA_RECORD_GRAPH_NODE)
		collectives__node(collectives, (const struct cuda_graph_node *)record);
	else if (record->kind == CUDA_RECORD_KERNEL)
		collectives__kernel(collectives, kernel, process__name(process, kernel->name));
}
