/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must not be switched on because the program makes graphs (seen on an H200, driver 580):
 *
 * 1. GRAPH_TRACE kills it with SIGSEGV as it launches a graph that was instantiated while that kind
 *    was off, with each CUPTI from 11.8 to 13.0 Update 1: a program that ran before it was attached
 *    to, as a rule. So it is switched on before the program runs, or not at all.
 * 2. With CUPTI 12.9 GPU times of a graph's kernels end in error 719 of the program's next call,
 *    within a second of 8 threads, also if it was watched from its start. So they go off before the
 *    first launch of a graph, which waits for that, and stay off. In a program that runs they only
 *    go on when it has launched none for a moment.
 */
#ifndef LIBCUPTI_USDT_CONTROL_GRAPH_WORKAROUNDS_H
#define LIBCUPTI_USDT_CONTROL_GRAPH_WORKAROUNDS_H

#include <stdbool.h>
#include <stdint.h>

/* With each session, before callbacks come. */
void graph_workarounds__open(uint32_t version, bool program_runs);
/* Groups that must stay off, or go off. On the agent's own thread, as all but
 * graph_workarounds__enter(). */
uint32_t graph_workarounds__spared(void);
/* Says which of those that somebody wants stay off, once a session. */
void graph_workarounds__tell(uint32_t wanted);
/* What graph_workarounds__spared() said is off now. */
void graph_workarounds__are_off(uint32_t groups);
/* The program makes graphs from now on that GRAPH_TRACE has not seen. */
void graph_workarounds__go_unseen(void);
/* Something else may be on, or must be off, than is: a launch waits for that. */
bool graph_workarounds__are_due(void);
/* As a thread of the program is about to launch one. Waits, but never for ever. */
void graph_workarounds__enter(void);

#endif
