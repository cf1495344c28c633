/* SPDX-License-Identifier: BSD-2-Clause */
/* How the agent becomes CUPTI's subscriber. The agent's own thread. */
#ifndef LIBCUPTI_USDT_CONTROL_SUBSCRIPTION_H
#define LIBCUPTI_USDT_CONTROL_SUBSCRIPTION_H

#include <stdbool.h>

#define SUBSCRIPTION_YIELDS (-1) /* another client has CUPTI, or is about to: nothing was tried */

/*
 * 0 or CUPTI's error; NULL then. The first one of a process, which may take its time, is reported
 * for as long as it is under way, unless the program waits for it in its cuInit().
 */
int subscription__new(void **subscriber, bool program_runs);
/* Between switching the callbacks off and the end, where some were on. */
void subscription__settle(void);
void subscription__end(void **subscriber);

#endif
