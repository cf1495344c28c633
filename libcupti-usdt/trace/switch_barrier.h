/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before CUDA 13.0 Update 1 CUPTI switches kinds of records under locks of its own and of the
 * driver, which a launch of a graph takes the other way round: both wait for each other for good
 * (seen with 12.8 and 12.9 on an H200, within six attaches of each of four programs, not with 11.8
 * and 13.0 Update 1, whose release notes list it as fixed). And of
 * 32 threads that launched plain kernels flat out later tools heard nothing. So launches stand
 * still meanwhile.
 */
#ifndef LIBCUPTI_USDT_TRACE_SWITCH_BARRIER_H
#define LIBCUPTI_USDT_TRACE_SWITCH_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

/* CUPTI of this version needs it. Before its callbacks come. */
void switch_barrier__open(uint32_t version, bool program_runs);
bool switch_barrier__is_needed(void);

/* On the agent's own thread, before something is switched on, or off: no thread is inside of a
 * graph's launch, and none comes into a launch, until switch_barrier__end(). False: one does not
 * return, or may have begun before callbacks came, and none is held any longer; try again later.
 * True at once where it is not needed, or begun already. */
bool switch_barrier__begin(bool off);
void switch_barrier__end(void);

/* As a thread of the program enters and leaves a launch call of the driver. Waits, but never for
 * ever. */
void switch_barrier__enter(bool graph);
void switch_barrier__leave(bool graph);

#endif
