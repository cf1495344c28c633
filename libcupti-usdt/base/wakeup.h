/* SPDX-License-Identifier: BSD-2-Clause */
/* Wakes the agent's own thread (control/watcher.c) before its pause is over. */
#ifndef LIBCUPTI_USDT_BASE_WAKEUP_H
#define LIBCUPTI_USDT_BASE_WAKEUP_H

#include <stdint.h>

/* On any thread; errno is preserved. */
void wakeup__request(void);
/* The number of requests so far. */
uint32_t wakeup__count(void);
/* Sleeps for at most this long, and not while wakeup__count() differs from `seen`. */
void wakeup__wait(uint32_t seen, uint32_t milliseconds);

#endif
