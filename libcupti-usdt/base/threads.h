/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's own threads and how they sleep. They block all signals, which are the program's. On
 * any thread; errno may change.
 */
#ifndef LIBCUPTI_USDT_BASE_THREADS_H
#define LIBCUPTI_USDT_BASE_THREADS_H

#include <stdatomic.h>
#include <stdint.h>

/* Starts a detached thread; 0 or -errno. */
int thread__start(const char *name, void *(*run)(void *));

#define FOREVER UINT32_MAX
/* Sleeps until woken, unless the word has another value already. */
void futex__wait(_Atomic(uint32_t) *word, uint32_t value, uint32_t milliseconds);
void futex__wake(_Atomic(uint32_t) *word);
/* Sleeps that long. */
void thread__rest(uint32_t microseconds);
/* Sleeps until somebody sets the word and wakes its futex, for at most this long. */
void futex__wait_until_set(_Atomic(uint32_t) *word, unsigned int milliseconds);

#endif
