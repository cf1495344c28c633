/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that has CUPTI hand out what it holds. Started when the guest first goes active. */
#ifndef LIBCUPTI_USDT_FLUSHER_H
#define LIBCUPTI_USDT_FLUSHER_H

/* 0 or -errno; further calls do nothing. */
int flusher__start(void);
/* Asks for a flush soon; never waits. On any thread. */
void flusher__ask(void);

#endif
