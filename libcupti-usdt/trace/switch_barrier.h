/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launches stand still while kinds of records are switched, for two faults of CUPTI:
 *
 * - cuptiActivityDisable() while a thread launches leaves that kernel's record with pointers to
 *   what is freed. CUPTI's own thread follows them later, often in the next session (13.0 Update 1
 *   on an H100: 24 of 144 programs died in 25 sessions each; 0 of 72 with the barrier).
 * - Before 13.0 Update 1 it takes locks of its own and of the driver, which a launch of a graph
 *   takes the other way round: both wait for each other for good (12.8 and 12.9 on an H200, within
 *   six attaches of each of four programs; not 11.8). And of 32 threads that launched plain kernels
 *   flat out later tools heard nothing. So these versions need it to switch on, too.
 */
#ifndef LIBCUPTI_USDT_TRACE_SWITCH_BARRIER_H
#define LIBCUPTI_USDT_TRACE_SWITCH_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

/* Before callbacks come. */
void switch_barrier__open(uint32_t version, bool program_runs);
/* CUPTI of this version needs it for each switch, and slots. */
bool switch_barrier__is_needed(void);

/* On the agent's own thread, before something is switched on, or off: no thread comes into a launch
 * until switch_barrier__end(). Threads inside of one are waited for: until they have had a CPU, 50
 * to 400 ms at most (400 if `urgent`: another client waits); before 13.0 Update 1, those that
 * launch a graph until they have left, 800 ms at most. False: one of these has not left, or may
 * have begun before callbacks came, and none is held any longer; try again later. True at once
 * where it is not needed, or begun already, and after six failures in a row where no graphs are
 * waited for. Callbacks of launches must be on, or none is held. */
bool switch_barrier__begin(bool off, bool urgent);
/* switch_barrier__begin() has failed lately, and will until its pause ends. */
bool switch_barrier__is_put_off(void);
void switch_barrier__end(void);

/* As a thread of the program enters and leaves a launch call of the driver. Waits, but never for
 * ever. True: it has. */
bool switch_barrier__enter(bool graph);
void switch_barrier__leave(bool graph);

#endif
