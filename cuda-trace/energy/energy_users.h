/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who used energy: the kernels of each name of each process. They stay when the process has ended,
 * because its cells are distributed later. Bounded: ids and names are the traced program's.
 */
#ifndef CUDA_TRACE_ENERGY_ENERGY_USERS_H
#define CUDA_TRACE_ENERGY_ENERGY_USERS_H

#include "cuda-trace/energy/energy.h"

struct energy_users;

struct energy_users *energy_users__new(void);
void energy_users__free(struct energy_users *users);
struct energy_process *energy_users__start(struct energy_users *users, uint32_t pid);
void energy_users__end(struct energy_users *users, struct energy_process *process, const char *comm,
		       const char *(*name_of)(void *context, uint32_t name), void *context);
/* The number of a user; 0 = those for whom there is no space. */
uint32_t energy_users__find(struct energy_users *users, struct energy_process *process,
			    uint32_t name);
void energy_users__add(struct energy_users *users, uint32_t user, double joules, uint64_t ns);
/* The regression gives the user so much more than the division by time. */
void energy_users__move(struct energy_users *users, uint32_t user, double joules);

/* What the regressions of all GPUs know of a line. */
struct energy_line_part {
	uint64_t ns;	/* of its time, in regressions */
	double squares; /* of the errors, in joules */
	enum energy_basis basis;
};

struct energy_line_parts {
	const uint32_t *line_of; /* by user */
	struct energy_line_part *parts;
};

struct energy_line_source {
	void (*add)(void *context, const struct energy_line_parts *parts);
	void *context;
};

/* To be freed; NULL = none, or no memory. */
struct energy_line *energy_users__kernels(const struct energy_users *users,
					  const struct energy_line_source *source, uint32_t *count);
struct energy_line *energy_users__processes(const struct energy_users *users,
					    const struct energy_line_source *source,
					    uint32_t *count);

#endif
