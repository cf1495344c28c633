/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The power of the kernels of one GPU: which of them have a column of the regression (the 62 with
 * the most time), and its rows, which are the steps of the GPU's meter.
 */
#ifndef CUDA_TRACE_ENERGY_ENERGY_FIT_H
#define CUDA_TRACE_ENERGY_ENERGY_FIT_H

#include "cuda-trace/energy/energy_cells.h"
#include "cuda-trace/energy/energy_meter.h"
#include "cuda-trace/energy/energy_normal.h"
#include "cuda-trace/energy/energy_users.h"

struct energy_fit;

/* NULL: no memory. The others accept NULL. */
struct energy_fit *energy_fit__new(void);
void energy_fit__free(struct energy_fit *fit);
/* In the order of time. */
void energy_fit__step(struct energy_fit *fit, const struct energy_step *step);
/* Before cell `at` of the GPU's work is distributed: uses the steps that begin in it. idle_watts:
 * below 0 = not known. */
void energy_fit__use(struct energy_fit *fit, struct energy_cells *work, uint64_t at,
		     double idle_watts);
/* A user had `ns`, of the GPU's time `seconds`, and by time that many joules. */
void energy_fit__spread(struct energy_fit *fit, uint32_t user, uint64_t ns, double seconds,
			double joules);
/* Divides the joules of the users anew, in proportion to estimated power x time. */
void energy_fit__finish(struct energy_fit *fit, struct energy_users *users, double idle_watts);
/* ns; below 0 = there was no regression. */
int64_t energy_fit__lag(const struct energy_fit *fit);
/* Adds the GPU's part to what is known of each line. */
void energy_fit__lines(const struct energy_fit *fit, const struct energy_line_parts *parts);

#endif
