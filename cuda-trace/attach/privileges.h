/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel must offer and allow before anything can be traced.
 */
#ifndef CUDA_TRACE_ATTACH_PRIVILEGES_H
#define CUDA_TRACE_ATTACH_PRIVILEGES_H

#include <stdbool.h>

/* Is the capability (CAP_BPF …) effective in this process? */
bool privileges__has(int capability);

#define PRIVILEGES_RECIPE_SIZE 512

/* The command that gives this tool what it needs on this kernel, for users who are not root; the
 * one that every message names. Returns out. */
const char *privileges__recipe(char out[PRIVILEGES_RECIPE_SIZE]);

/* 0, or -errno after one line on stderr: what is missing and the command that mends it. */
int privileges__check(void);

/* Gives up, for good, what the tool does not need once it is attached. CAP_SYS_ADMIN goes, too, if
 * probe() still works without it, and nothing else needs it. Programs that are started later get
 * what root's programs get. */
void privileges__reduce(bool (*probe)(void *context), void *context);
/* Called before privileges__reduce(): CAP_SYS_ADMIN is laid aside, not given up. Only what calls
 * privileges__raise_admin(), in a process of its own, has it. */
void privileges__lay_admin_aside(void);
void privileges__raise_admin(void);
/* GPU counters are read by this process or its children: the driver wants CAP_SYS_ADMIN for that.
 */
void privileges__need_admin(void);

/* The kernel refused a uprobe to CAP_PERFMON: says what is needed instead. Returns -EPERM. */
int privileges__say_uprobes(void);

#endif
