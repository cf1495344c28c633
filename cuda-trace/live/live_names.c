// SPDX-License-Identifier: BSD-2-Clause
/* The names of a process's kernels, for who shows them. */
#include <stdio.h>

#include "cuda-trace/base/names.h"
#include "cuda-trace/live/live.h"

const char *live__known_name(const struct live_process *process, uint32_t id)
{
	if (id == AGGREGATE_NAME_REST || !process->traced || !process__name(process->traced, id))
		return NULL;
	return process__pretty_name((struct process *)process->traced, id);
}

const char *live__name(const struct live_process *process, uint32_t id, char buffer[32])
{
	if (id == AGGREGATE_NAME_REST)
		return "other";
	if (process->traced)
		return process__pretty_name((struct process *)process->traced, id);
	if (!id)
		return "";
	snprintf(buffer, 32, "[name %u]", id);
	return buffer;
}
