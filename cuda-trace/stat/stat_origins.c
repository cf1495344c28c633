// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/stat/stat_origins.h"

#include "cuda-trace/stat/stat_table.h"

#define NAMES_MS 2000

/* Jobs and units were known at the start, and their processes are gone. */
static bool find(struct stat_process *process)
{
	struct origin found;
	enum origin_state state = origin__find(0, process->cgroup, &found);

	if (*found.k8s_pod || *found.container)
		process->origin = found;
	return state != ORIGIN_PENDING;
}

void stat_origins__find(struct stat_table *table)
{
	bool all = true;

	for (uint32_t i = 0; i < table->process_count; i++)
		all &= find(&table->processes[i]);
	if (all)
		return;
	origin__wait(NAMES_MS);
	for (uint32_t i = 0; i < table->process_count; i++)
		find(&table->processes[i]);
}
