/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launches of a process whose work has not been reported yet: its GPU may be busy with it. A kernel
 * is reported when it has ended. Bounded: a newer call may take the place of one that is
 * OPEN_LAUNCHES older.
 */
#ifndef CUDA_TRACE_IDLE_OPEN_LAUNCHES_H
#define CUDA_TRACE_IDLE_OPEN_LAUNCHES_H

#include <stdint.h>

#define OPEN_LAUNCHES 4096

struct open_launches;

/* NULL: no memory. The others accept NULL. */
struct open_launches *open_launches__new(void);
void open_launches__free(struct open_launches *launches);
void open_launches__add(struct open_launches *launches, uint32_t correlation, uint64_t start);
/* Its work was reported, which may be before the launch is. */
void open_launches__done(struct open_launches *launches, uint32_t correlation);
/* When the first of them began, not counting those before `since`; UINT64_MAX = there is none. */
uint64_t open_launches__first(const struct open_launches *launches, uint64_t since);

#endif
