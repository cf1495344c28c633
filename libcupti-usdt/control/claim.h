/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the agent shares CUPTI with other clients of the process (docs/internals/yield.md). On the
 * agent's own thread.
 */
#ifndef LIBCUPTI_USDT_CONTROL_CLAIM_H
#define LIBCUPTI_USDT_CONTROL_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

/* Before each subscription. False: another client has CUPTI, or is about to; do not subscribe.
 * program_runs: it is not inside its cuInit(). */
bool claim__begin(bool program_runs);
/* Until another client is held at the gate, for a bounded time. After the subscription of a program
 * whose threads are stopped: CUPTI takes some 20 ms for it, and so does the gate. */
void claim__wait_for_gate(void);
/* The program does not wait for the agent's start any more. */
void claim__release_program(void);
/* The agent has unsubscribed, or could not subscribe. */
void claim__end(void);
/* CUPTI has refused the agent. After a while it may try again by itself, but only behind a gate,
 * which lets every other client pass. */
void claim__note_refusal(void);
bool claim__may_retry(void);
/* Looks whether another client is to have CUPTI; then the agent acts as if nobody listened. */
bool claim__look(void);
/* What claim__look() found last. */
bool claim__must_yield(void);
/* It has changed, or is not done yet: look at once. */
bool claim__is_due(void);
/* Before unsubscribing for another client: hands out all buffers, so that none comes back to it. */
void claim__flush(void);
/* Sleeps like wakeup__wait(), but returns when claim__is_due(). */
void claim__wait(uint32_t seen, uint32_t milliseconds);

#endif
