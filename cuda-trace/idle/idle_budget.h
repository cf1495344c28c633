/* SPDX-License-Identifier: BSD-2-Clause */
/* --max-overhead with --idle: both cost something, and together they stay below it. */
#ifndef CUDA_TRACE_IDLE_IDLE_BUDGET_H
#define CUDA_TRACE_IDLE_IDLE_BUDGET_H

struct idle;
struct overhead;

/* Several times a second: says so if the evidence alone costs more, and is collected no longer.
 * Accepts NULL for both. */
void idle_budget__tick(struct idle *idle, struct overhead *overhead, const char *command);

#endif
