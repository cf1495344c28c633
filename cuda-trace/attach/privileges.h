/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel features and capabilities that tracing needs.
 */
#ifndef CUDA_TRACE_ATTACH_PRIVILEGES_H
#define CUDA_TRACE_ATTACH_PRIVILEGES_H

#include <stdbool.h>

/* Is the capability (CAP_BPF …) effective in this process? */
bool privileges__has(int capability);

#define PRIVILEGES_RECIPE_SIZE 512

/* The command that grants this tool what it needs on this kernel, for users who are not root; all
 * messages name this one. Returns out. */
const char *privileges__recipe(char out[PRIVILEGES_RECIPE_SIZE]);

/* 0, or -errno after one line on stderr: what is missing and the command that fixes it. */
int privileges__check(void);

/* Drops for good the capabilities that the tool does not need once it is attached: CAP_SYS_ADMIN,
 * too, if probe() still works without it and nothing else needs it. Programs that are started later
 * have the usual capabilities of root's programs. */
void privileges__reduce(bool (*probe)(void *context), void *context);
/* Called before privileges__reduce(): CAP_SYS_ADMIN stays permitted, but is not effective, until a
 * child process calls privileges__raise_admin(). */
void privileges__lay_admin_aside(void);
void privileges__raise_admin(void);
/* GPU counters are read by this process or its children: the driver wants CAP_SYS_ADMIN for that.
 */
void privileges__need_admin(void);

/* The kernel refused a uprobe to CAP_PERFMON: says what is needed instead. Returns -EPERM. */
int privileges__say_uprobes(void);

#endif
