/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches: records that are collected for one probe hit. A batch belongs to one thread. */
#ifndef LIBCUPTI_USDT_EMIT_BATCHES_H
#define LIBCUPTI_USDT_EMIT_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/probes.h"

struct batch {
	uint32_t bytes;
	uint32_t count;
	_Alignas(8) uint8_t records[CUDA_BATCH_MAX];
};

/*
 * A set of batches, one for each group of GPU records, for the time in which a thread decodes one
 * buffer. There are a few sets, reused while they are in the cache; NULL if all are in use: then
 * each record is sent alone. Any thread; never waits.
 */
#define BATCHES_SET 10
int batches__open(void);
struct batch *batches__take(void);
void batches__release(struct batch *set);

/* The group with the same records, but of sample windows only; 0 = none. */
unsigned int batch__sampled(unsigned int group);
/* True if a tool is attached to the batches of a group or to its sampled ones. */
bool batch__heard(unsigned int group);
/* Appends a record of `group`; first sends what is in the batch if the record does not fit. */
void batch__add(struct batch *batch, unsigned int group, const struct cuda_record *record);
void batch__send(struct batch *batch, unsigned int group);
/* Both halves of sending, for who may be cancelled in between: numbered records whose probe is not
 * hit count as lost. The group's sampled records have numbers of their own. */
struct batch_numbers {
	uint64_t sampled, whole;
	uint32_t group, count;
	bool is_sampled, is_whole;
};
struct batch_numbers batch__number(unsigned int group, uint32_t count);
void batch__hit(const struct batch_numbers *numbers, const void *records, uint32_t bytes);
/* `count` records of `size` bytes each, from the caller's own memory: at most CUDA_BATCH_MAX bytes.
 */
void batch__send_in_place(unsigned int group, const void *records, uint32_t size, uint32_t count);

#endif
