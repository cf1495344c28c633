/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches: records gathered until one probe hit carries them. A batch belongs to one thread. */
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
 * Batches of all groups that GPU records belong to, for as long as a thread decodes one buffer.
 * There are a few, used again while they are warm; NULL when all are taken: a batch that is NULL
 * sends each record alone. Any thread; never waits.
 */
#define BATCHES_SET 9
int batches__open(void);
struct batch *batches__take(void);
void batches__release(struct batch *set);

/* The group that is sent the same records for those who want them of windows only; 0 = none. */
unsigned int batch__sampled(unsigned int group);
/* Somebody listens to the batches of a group or to its sampled ones. */
bool batch__heard(unsigned int group);
/* Appends a record of `group`; first sends what is in the batch if the record does not fit. */
void batch__add(struct batch *batch, unsigned int group, const struct cuda_record *record);
void batch__send(struct batch *batch, unsigned int group);
/* `count` records of `size` bytes each, from the caller's own memory: at most CUDA_BATCH_MAX bytes.
 */
void batch__send_in_place(unsigned int group, const void *records, uint32_t size, uint32_t count);

#endif
