/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a kernel is called in its record. From 13.0 on (seen with 13.0 Update 1 on an H200; 11.8 to
 * 12.9 do not) CUPTI keeps a name by the address where the driver has it, for good: once a module
 * was unloaded, a kernel of another one whose name comes to lie there is called by the old name.
 * Callbacks call it by its own. So from the first time that names may have moved on, launches leave
 * the name's id here, by correlation id, as they begin: the kernel's record may come before its
 * launch returns.
 *
 * Failure modes: 1. a launch is too long ago: another has its place, and CUPTI's word stands. The
 * table holds as many calls as a process makes in some tenths of a second; records come within a
 * tenth. 2. a launch that costs more for it: until names may have moved it is one question. 3.
 * kernels of graphs: no launch names them, so CUPTI's word stands, right or not.
 */
#ifndef LIBCUPTI_USDT_TRACE_KERNEL_NAMES_H
#define LIBCUPTI_USDT_TRACE_KERNEL_NAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/base/launch_state.h"

#define KERNEL_NAMES 131072U /* power of 2 */

/* On the agent's own thread. 0 or a negative errno. */
int kernel_names__open(void);
/* CUPTI names kernels from now on, and keeps what it finds. On the agent's own thread. */
void kernel_names__begin(void);
/* Names that come may lie where others did. On any thread. */
void kernel_names__moved(void);
/* The id of the name that this launch was called by; 0: not known. */
uint32_t kernel_names__of(uint32_t correlation);

/* The launch that begins calls its kernel so. On any thread; only if kernel_names__are_wanted(). */
void kernel_names__launches(uint32_t correlation, const char *name);

/* Each launch checks this as it begins. */
static inline bool kernel_names__are_wanted(void)
{
	return UNLIKELY(atomic_load_explicit(&hot.launched_names, memory_order_relaxed));
}

#endif
