/* SPDX-License-Identifier: BSD-2-Clause */
/* The agent's own thread: looks at the semaphores, flushes, and ends in time with the program. */
#ifndef LIBCUPTI_USDT_CONTROL_WATCHER_H
#define LIBCUPTI_USDT_CONTROL_WATCHER_H

/* Once, from InitializeInjection. 0 or -errno. */
int watcher__start(void);
/* Waits until CUPTI is ready, for at most this long. */
void watcher__wait_for_start(unsigned int milliseconds);
/* Has it initialise CUPTI, while no thread of the program is inside the driver; waits at most so
 * long. */
void watcher__prepare(unsigned int milliseconds);
/* At exit: lets the thread finish, for at most this long. */
void watcher__stop(unsigned int milliseconds);

#endif
