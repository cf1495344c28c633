// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/proc/rank.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/proc/process_environment.h"

#define RANK_MAX (1 << 24)

struct launcher {
	const char *rank, *size, *local;
	bool needs_size;
};

/* The first that has a rank counts. torchrun comes before Slurm: where srun starts one torchrun per
 * node, SLURM_PROCID numbers nodes. A lone RANK, which anybody may set, comes last. */
static const struct launcher launchers[] = {
	{"RANK", "WORLD_SIZE", "LOCAL_RANK", true},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", false},
	{"PMIX_RANK", NULL, NULL, false},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", false},
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", false},
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", false},
	{"RANK", "WORLD_SIZE", "LOCAL_RANK", false},
};

static bool begins_with(const char *text, const char *name, size_t length)
{
	return !strncmp(text, name, length) && text[length] == '=';
}

/* The number that the variable has; -1: it is not there, or is none. As getenv() does, the first
 * one of the name counts. */
static int64_t number(const char *environment, uint64_t size, const char *name)
{
	size_t length = name ? strlen(name) : 0;
	const char *text = environment, *end = environment + size, *next;

	for (; name && text < end; text = next + 1) {
		const char *value = text + length + 1;
		long number;
		char *rest;

		next = memchr(text, 0, end - text);
		if (!next)
			break;
		if (!begins_with(text, name, length))
			continue;
		if (*value < '0' || *value > '9')
			return -1;
		number = strtol(value, &rest, 10);
		return *rest || number > RANK_MAX ? -1 : number;
	}
	return -1;
}

void rank__parse(struct rank *rank, const char *environment, uint64_t size)
{
	*rank = (struct rank){.size = -1, .local = -1};
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		const struct launcher *launcher = &launchers[i];
		int64_t found = number(environment, size, launcher->rank);
		int64_t ranks = number(environment, size, launcher->size);

		if (found < 0 || (launcher->needs_size && ranks < 0))
			continue;
		/* Sizes that the rank is beyond belong to something else. */
		if (ranks >= 0 && found >= ranks) {
			if (launcher->needs_size)
				continue;
			ranks = -1;
		}
		rank->known = true;
		rank->rank = found;
		rank->size = ranks;
		rank->local = number(environment, size, launcher->local);
		return;
	}
}

void rank__of_process(struct rank *rank, uint32_t pid)
{
	size_t size = 0;
	char *environment = process_environment__read(pid, &size);

	rank__parse(rank, environment ? environment : "", size);
	free(environment);
}
