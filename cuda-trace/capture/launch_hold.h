/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds the launches of processes whose guest subscribes to CUPTI for its first time. All of it
 * takes NULL. The session's thread.
 */
#ifndef CUDA_TRACE_CAPTURE_LAUNCH_HOLD_H
#define CUDA_TRACE_CAPTURE_LAUNCH_HOLD_H

#include <stdbool.h>

struct bpf_object;
struct hold;
struct process;

/* Before the object is loaded. NULL: it is not wanted. Where this kernel has no uprobe_multi link,
 * nothing is held, and who would have to be is told of. */
struct hold *hold__new(struct bpf_object *object, bool wanted, bool verbose);
/* Links of one process reach all of its threads here. */
void hold__mean_processes(struct hold *hold);
/* For each process that is known, then once for all. */
void hold__look(struct hold *hold, const struct process *process);
void hold__tidy(struct hold *hold);
void hold__free(struct hold *hold);

#endif
