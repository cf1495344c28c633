/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer that is about to go requests what there is (cuda:flush). On the agent's thread.
 */
#ifndef LIBCUPTI_USDT_CONTROL_LAST_FLUSH_H
#define LIBCUPTI_USDT_CONTROL_LAST_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

/* Begins a flush that was requested, and answers when it is over. */
void last_flush__tick(bool is_subscribed, uint64_t now);
/* Activity kinds are off, as the only consumer is about to go; nobody else switches them meanwhile.
 */
bool last_flush__is_on(void);
/* Switches them on again if another consumer has come, or this one stays. */
void last_flush__follow(uint32_t groups_on, uint64_t now);
/* The kinds are what they are wanted to be. */
void last_flush__is_over(void);

#endif
