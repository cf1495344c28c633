// SPDX-License-Identifier: BSD-2-Clause
/* Batches. Called on any thread with a batch that no other thread uses meanwhile. */
#include "libcupti-usdt/batches.h"

#include <string.h>

#include "libcupti-usdt/sites.h"
#include "libcupti-usdt/status.h"

void batch__send(struct batch *batch, unsigned int group)
{
	if (!batch->count)
		return;
	site__batch(group, batch->records, batch->bytes, batch->count,
		    status__emitted(group, batch->count), status__instance());
	batch->bytes = 0;
	batch->count = 0;
}

void batch__add(struct batch *batch, unsigned int group, const struct cuda_record *record)
{
	if (batch->bytes + record->size > sizeof(batch->records))
		batch__send(batch, group);
	memcpy(batch->records + batch->bytes, record, record->size);
	batch->bytes += record->size;
	batch->count++;
}

void batch__send_in_place(unsigned int group, const void *records, uint32_t size, uint32_t count)
{
	site__batch(group, records, size * count, count, status__emitted(group, count),
		    status__instance());
}
