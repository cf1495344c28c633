/* SPDX-License-Identifier: BSD-2-Clause */
/* What tracing needs of the running kernel, and of this user's rights. */
#ifndef CUDA_TRACE_DOCTOR_DOCTOR_KERNEL_H
#define CUDA_TRACE_DOCTOR_DOCTOR_KERNEL_H

#include <stdbool.h>

struct filetree;
struct findings;

/* True if this user may trace at all. */
bool kernel__report(struct filetree *tree, struct findings *findings);
/* A probe of the tool's own, hit by a process of its own, received: all of the path but the agent.
 */
void kernel__test_live(struct findings *findings);

#endif
