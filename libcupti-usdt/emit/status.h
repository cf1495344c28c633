/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's status: counters, state, the last error. Counting and errors on any thread; sending
 * only on the agent's own thread (or before it exists), and on "cupti-flush" while that thread
 * waits for its first subscription.
 */
#ifndef LIBCUPTI_USDT_EMIT_STATUS_H
#define LIBCUPTI_USDT_EMIT_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/probes.h"

void status__open(void);
uint64_t status__instance(void);

/* Numbers `count` records of a group; returns how many came before. */
uint64_t status__emitted(unsigned int group, uint32_t count);
uint64_t status__emitted_total(unsigned int group);
void status__lost(enum cuda_lost_reason reason, uint64_t count);

void status__set_state(enum cuda_state state, enum cuda_inert_reason reason);
/* The process ends; why it was inert, if it was, stays. */
void status__end(void);
enum cuda_state status__state(void);
/* CUPTI is in use, or is being switched on or off. On any thread. */
void status__set_busy(bool busy);
bool status__is_busy(void);
void status__set_groups(uint32_t groups);
void status__set_cupti(uint32_t version, const char *path);
void status__set_driver(uint32_t version);
void status__set_primed(uint32_t microseconds);
void status__set_holder(const char *holder);
void status__count_activation(void);
/* Has this process subscribed to CUPTI before? */
bool status__is_initialised(void);
/* Its first subscription begins, which is sent at once; false: it is not the first. It is over. */
bool status__begin_first(void);
void status__end_first(void);
/* Where requests are taken. */
void status__set_request(uint64_t address);
/* Where records are that are not sent yet. */
void status__set_ledger(uint64_t address);
void status__set_interpreter(uint64_t address);
/* How long CUPTI took for the last switching. */
void status__set_switched(uint32_t microseconds);
/* When the wait for tools that listen to cuda:start was over. */
void status__set_flushed(uint64_t ns);
void status__set_began(uint64_t ns);
/* One line of the search: "path: outcome". */
void status__searched(const char *path, const char *outcome);

/* Remembers and sends (cuda:error) an error of the agent itself. Keeps errno. */
__attribute__((format(printf, 3, 4))) void status__trouble(int code, const char *component,
							   const char *format, ...);

void status__send(void);
void status__send_lost(void);

#endif
