// SPDX-License-Identifier: BSD-2-Clause
/*
 * Batches. Called on any thread with a batch that no other thread uses meanwhile.
 *
 * CUPTI completes buffers on one thread of its own, and on threads that flush or end a context:
 * few at a time.
 */
#include "libcupti-usdt/emit/batches.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"

unsigned int batch__sampled(unsigned int group)
{
	switch (group) {
	case CUDA_GROUP_KERNEL:
		return CUDA_GROUP_SAMPLED_KERNEL;
	case CUDA_GROUP_MEMCPY:
		return CUDA_GROUP_SAMPLED_MEMCPY;
	case CUDA_GROUP_MEMSET:
		return CUDA_GROUP_SAMPLED_MEMSET;
	}
	return 0;
}

bool batch__heard(unsigned int group)
{
	unsigned int sampled = batch__sampled(group);

	return probe_sites__batch_wanted(group) || (sampled && probe_sites__batch_wanted(sampled));
}

struct batch_numbers batch__number(unsigned int group, uint32_t count)
{
	unsigned int sampled = batch__sampled(group);
	struct batch_numbers numbers = {.group = group, .count = count};

	numbers.is_sampled = sampled && probe_sites__batch_wanted(sampled);
	numbers.is_whole = !sampled || probe_sites__batch_wanted(group);
	if (numbers.is_sampled)
		numbers.sampled = status__emitted(sampled, count);
	if (numbers.is_whole)
		numbers.whole = status__emitted(group, count);
	return numbers;
}

void batch__hit(const struct batch_numbers *numbers, const void *records, uint32_t bytes)
{
	if (numbers->is_sampled)
		probe_sites__batch(batch__sampled(numbers->group), records, bytes, numbers->count,
				   numbers->sampled, status__instance());
	if (numbers->is_whole)
		probe_sites__batch(numbers->group, records, bytes, numbers->count, numbers->whole,
				   status__instance());
}

static void hand_out(unsigned int group, const void *records, uint32_t bytes, uint32_t count)
{
	struct batch_numbers numbers = batch__number(group, count);

	batch__hit(&numbers, records, bytes);
}

#define SETS 4U

static struct batch (*sets)[BATCHES_SET];
static atomic_flag taken[SETS] = {ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT,
				  ATOMIC_FLAG_INIT};

int batches__open(void)
{
	void *memory;

	if (sets)
		return 0;
	memory = memory__map(SETS * sizeof(*sets));
	if (!memory)
		return -ENOMEM;
	sets = memory;
	return 0;
}

struct batch *batches__take(void)
{
	for (unsigned int i = 0; sets && i < SETS; i++)
		if (!atomic_flag_test_and_set_explicit(&taken[i], memory_order_acquire))
			return sets[i];
	return NULL;
}

void batches__release(struct batch *set)
{
	if (set)
		atomic_flag_clear_explicit(&taken[(struct batch(*)[BATCHES_SET])set - sets],
					   memory_order_release);
}

void batch__send(struct batch *batch, unsigned int group)
{
	if (!batch->count)
		return;
	hand_out(group, batch->records, batch->bytes, batch->count);
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
	hand_out(group, records, size * count, count);
}
