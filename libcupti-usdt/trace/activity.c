// SPDX-License-Identifier: BSD-2-Clause
/*
 * Activity buffers, as CUPTI requests them and hands them back. Several may come back at once. What
 * still comes after a detach is dropped, and is no loss, as nobody requested it.
 */
#include "libcupti-usdt/trace/activity.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "libcupti-usdt/emit/batches.h"
#include "libcupti-usdt/trace/activity_buffers.h"
#include "libcupti-usdt/base/launch_state.h"
#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/trace/activity_records.h"
#include "libcupti-usdt/trace/flusher.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"

static _Atomic(uint64_t) records_seen;
static uint8_t thread_buffers; /* the attribute, as it is to be restored; 0 = as it is */

uint64_t activity__records(void)
{
	return atomic_load_explicit(&records_seen, memory_order_relaxed);
}

/*
 * One buffer for all threads. Where each thread has its own, as is the default since 13.0, a flush
 * takes buffers in which threads are just writing: CUPTI writes on into memory that another thread
 * has by then, and reads from there where the next record belongs. Programs of 32 launching threads
 * died of that on 16 CPUs (H100, 13.0 Update 1; docs/internals/agent.md).
 */
int activity__open(void)
{
	const struct cupti *cupti = cupti_api__get();
	uint8_t found = 0, no = 0;
	size_t size = sizeof(found);

	if (cupti->ActivityGetAttribute && cupti->ActivitySetAttribute &&
	    !cupti->ActivityGetAttribute(CUPTI_ATTRIBUTE_THREAD_BUFFERS, &size, &found) && found) {
		thread_buffers = found;
		cupti->ActivitySetAttribute(CUPTI_ATTRIBUTE_THREAD_BUFFERS, &size, &no);
	}
	return cupti->ActivityRegisterCallbacks(activity__requested, activity__completed);
}

/* The program's own profiler finds the attribute as it was. Not with a buffer still out: changing
 * it then is undefined, and the end of a later session does it. */
void activity__close(void)
{
	size_t size = sizeof(thread_buffers);

	if (!thread_buffers || activity_buffers__are_out())
		return;
	cupti_api__get()->ActivitySetAttribute(CUPTI_ATTRIBUTE_THREAD_BUFFERS, &size,
					       &thread_buffers);
	thread_buffers = 0;
}

void activity__requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	int saved = errno;

	*buffer = activity_buffers__take(size);
	*max_records = 0; /* as many as fit */
	if (activity_buffers__run_low())
		flusher__ask();
	errno = saved;
}

static void count_dropped(void *context, uint32_t stream)
{
	size_t dropped = 0;

	if (!cupti_api__get()->ActivityGetNumDroppedRecords(context, stream, &dropped) && dropped)
		status__lost(CUDA_LOST_CUPTI_DROPPED, dropped);
}

/* Counts the records, and takes them where somebody hears them. */
static uint64_t read_buffer(uint8_t *buffer, size_t valid, bool heard)
{
	const struct cupti *cupti = cupti_api__get();
	struct batch *batches = heard ? batches__take() : NULL;
	uint64_t count = 0;
	void *record = NULL;

	while (!cupti->ActivityGetNextRecord(buffer, valid, &record)) {
		count++;
		if (heard)
			activity_records__record(batches, record);
	}
	activity_records__send(batches);
	batches__release(batches);
	return count;
}

void activity__completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	/* What a detach flushes out was requested by nobody, and is no loss. */
	bool wanted = probe_sites__wanted() != 0, discard = activity_buffers__is_discard(size);
	uint64_t count;
	int saved = errno;

	if (!launch_state__is_listening()) {
		/* Forked child, or the program has ended for us. The buffer is not released. */
		errno = saved;
		return;
	}
	count = read_buffer(buffer, valid, wanted && !discard);
	if (discard && wanted)
		status__lost(CUDA_LOST_POOL_EMPTY, count);
	else
		atomic_fetch_add_explicit(&records_seen, count, memory_order_relaxed);
	count_dropped(context, stream);
	activity_buffers__release(buffer);
	errno = saved;
}
