/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state machine: what is listened to → what CUPTI collects. All of it runs on the agent's
 * own thread, but for what is marked.
 */
#ifndef LIBCUPTI_USDT_CONTROL_CONTROL_H
#define LIBCUPTI_USDT_CONTROL_CONTROL_H

#include <stdbool.h>

#include "libcupti-usdt/probes.h"

/* Finds CUPTI: opens libraries, so on the program's thread, which may be inside a dlopen() itself.
 */
/* late: the program runs already, and may be anywhere but inside the driver. */
void control__open(bool late);
/* Initialises CUPTI, where nobody listens yet but somebody prepares for it. */
void control__begin(void);
/* The same while the program runs, and no thread of it is inside the driver. */
void control__prepare(void);
/* Stays inert for good. */
void control__go_inert(enum cuda_inert_reason reason);
/* Looks at the semaphores and does what they say. */
void control__follow(void);
/* Switches on what CUPTI was not ready for; costs nothing when there is none. */
void control__retry(void);
/* Opens or closes a window of the sampled groups when it is time; costs nothing when it is not. */
void control__sample(void);
/* Periodic work while something is on: flushing, the clock, the account. */
void control__tick(void);
/* The program ends: hands out what there is and stops. */
void control__finish(void);
/* Its last part: what the process itself still holds, and the last word. On the exiting thread if
 * the agent's own did not come to it in time. */
void control__say_end(void);

#endif
