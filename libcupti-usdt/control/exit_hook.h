/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * _exit() runs no atexit() handler, and Python ends its workers by it. The hook calls a function of
 * ours before the program's _exit().
 */
#ifndef LIBCUPTI_USDT_CONTROL_EXIT_HOOK_H
#define LIBCUPTI_USDT_CONTROL_EXIT_HOOK_H

/* `finish` is called on the thread that exits, in any process that has our memory: it must check
 * the pid. */
void exit_hook__prepare(void (*finish)(void));
/* On the agent's thread. */
void exit_hook__install(void);

#endif
