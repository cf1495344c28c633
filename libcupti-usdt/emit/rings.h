/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of host threads, one ring per thread: the owner appends without waiting; the owner itself
 * (when enough is pending) or the agent's thread (on its tick) sends the records.
 */
#ifndef LIBCUPTI_USDT_EMIT_RINGS_H
#define LIBCUPTI_USDT_EMIT_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/probes.h"

int rings__open(void);
/* Creates the key by which a thread finds its ring; once, before any callback. */
int rings__prepare(void);

/* The calling thread's ring, or NULL when none is left; each function below takes either. */
struct ring;
struct ring *rings__mine(void);
/* Which of them it is; not for NULL. */
#define RINGS_MAX 88
uint32_t ring__index(const struct ring *ring);

/* Appends a record of at most RING_RECORD_MAX bytes; start and end are timestamps, but ns of NVTX.
 * Never waits. */
#define RING_RECORD_MAX 80
void ring__append(struct ring *ring, unsigned int group, const struct cuda_record *record);
/* Sends it at once, on the calling thread: what any thread appends later arrives later. */
void rings__send_now(unsigned int group, const struct cuda_record *record);
/* As ring__append() without a copy, for a record of just that size: fill all of what is claimed,
 * then publish. NULL if the ring is full; what is claimed and not published is as if it never was.
 */
void *ring__claim(struct ring *ring, unsigned int group);
void ring__publish(struct ring *ring);
/* The calling thread's id, without a system call where it has a ring. */
uint32_t ring__tid(const struct ring *ring);
/* The runtime call that the calling thread is in, if its record will come; 0 = none. */
void ring__set_runtime_call(struct ring *ring, uint32_t correlation);
uint32_t ring__runtime_call(const struct ring *ring);
/* Counts a launch call of the calling thread; rings__launches() is the sum of all. */
void ring__count_launch(struct ring *ring);
uint64_t rings__launches(void);

/* Sends what is pending in all rings; on any thread. True if one was filled to an eighth: call
 * again soon. */
bool rings__flush(void);

/* Returns memory of sent records to the system. On the agent's thread, when no tool has been
 * attached for a while. */
void rings__trim(void);

#endif
