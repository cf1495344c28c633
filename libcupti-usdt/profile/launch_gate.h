/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may launch: many threads at once, or one alone whose kernel is being counted. On any thread;
 * waits, but never for ever.
 */
#ifndef LIBCUPTI_USDT_PROFILE_LAUNCH_GATE_H
#define LIBCUPTI_USDT_PROFILE_LAUNCH_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* Before a launch that is not counted, and after it. False: it has waited that long, and goes. */
bool launch_gate__enter(uint32_t most_ms);
void launch_gate__leave(void);
/* Before one that is, or whatever no launch may be under way at: false if others do not get done
 * soon. */
bool launch_gate__enter_alone(void);
void launch_gate__leave_alone(void);
/* From alone to one of the many: nobody else is alone in between. */
void launch_gate__join(void);
/* The caller is the one alone. */
bool launch_gate__is_mine(void);
/* Forgets who is in: callbacks of their ends will not come. */
void launch_gate__reset(void);
/* Somebody is. */
bool launch_gate__is_shut(void);

#endif
