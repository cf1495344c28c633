/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kinds that CUPTI can switch on only once the driver is up or has a context, and that were wanted
 * before. On the guest's own thread, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_CONTROL_DEFERRED_KINDS_H
#define LIBCUPTI_USDT_CONTROL_DEFERRED_KINDS_H

#include <stdbool.h>

/* Kinds were switched; `begun`: the driver is up, and CUPTI has no reason to wait much longer. */
void unready__note(void *subscriber, bool begun);
/* Tries again what waits, when it is time to; true: nothing waits any more. */
bool unready__retry(void);
/* The process ends: says what CUPTI never became ready for, though it had a context. */
void unready__finish(void);
/* From CUPTI's callback, on any thread: a context is there. */
void unready__context_begins(void);

#endif
