/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kinds that CUPTI can switch on only once the driver is up or has a context, and that were wanted
 * before. On the agent's own thread, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_CONTROL_DEFERRED_KINDS_H
#define LIBCUPTI_USDT_CONTROL_DEFERRED_KINDS_H

#include <stdbool.h>

/* Kinds were switched; `begun`: the driver is up, and CUPTI has no reason to wait much longer. */
void deferred_kinds__note(void *subscriber, bool begun);
/* Tries again what waits, when it is time to; true: nothing waits any more. */
bool deferred_kinds__retry(void);
/* The process ends: says what CUPTI never became ready for, though it had a context. */
void deferred_kinds__finish(void);
/* From CUPTI's callback, on any thread: a context is there. */
void deferred_kinds__context_begins(void);

#endif
