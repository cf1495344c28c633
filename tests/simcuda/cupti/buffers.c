// SPDX-License-Identifier: BSD-2-Clause
// The client's buffers. A record takes its place when the work is launched, in the buffer of the
// launching thread (from 13.0 on, unless switched off) or in one buffer for all. A buffer goes back
// to the client when it is full, by the worker thread, or flushed; but never before the GPU is done
// with all that is in it, unless the flush is forced: a long kernel holds back its neighbours.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "tests/simcuda/cupti/tracer.h"

#define OFFSET_AGE	 10000000  /* ns: for so long is CUPTI's clock not read again */
#define CROWDED		 4	   /* buffers that wait */
#define BUFFER_REQUESTED (7 << 16) /* CUPTI's number of that overhead */

struct buffer {
	struct buffer *next;
	uint8_t *data;
	size_t size, used, records, limit;
	uint64_t last_end; /* when the GPU is done with all of it */
	int64_t offset;
};

/* Where a thread's records go. Never freed: a thread that comes takes over that of one gone. */
struct sink {
	pthread_mutex_t lock; /* guards all but next and taken */
	struct buffer *current, *full, **last_full;
	int64_t offset;
	uint64_t offset_time;
	struct sink *next;
	bool taken; /* guarded by sinks_lock */
};

static pthread_mutex_t sinks_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct sink *) sinks;
static struct sink *shared;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread struct sink *mine;
static __thread bool in_callback;

static pthread_mutex_t deliver_lock =
	PTHREAD_MUTEX_INITIALIZER;				/* one at a time calls the client */
static pthread_mutex_t worker_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the three below */
static pthread_cond_t worker_wake;
static bool worker_started, worker_wanted;

static _Atomic(CUpti_BufferRequested) requested;
static _Atomic(CUpti_BufferCompleted) completed;
static _Atomic uint64_t waiting; /* buffers set aside and not returned yet */
static _Atomic uint64_t written, dropped, dropped_new, given, taken_back;

void buffers__counts(uint64_t *records, uint64_t *lost, uint64_t *out)
{
	*records = atomic_load(&written);
	*lost = atomic_load(&dropped);
	*out = atomic_load(&given) - atomic_load(&taken_back);
}

bool buffers__in_callback(void)
{
	return in_callback;
}

static void drop(void)
{
	atomic_fetch_add(&dropped, 1);
	atomic_fetch_add(&dropped_new, 1);
}

static void worker__wake(void)
{
	pthread_mutex_lock(&worker_lock);
	worker_wanted = true;
	pthread_cond_signal(&worker_wake);
	pthread_mutex_unlock(&worker_lock);
}

/* Called with the sink's lock held. */
static void sink__set_aside(struct sink *sink)
{
	if (!sink->current)
		return;
	atomic_fetch_add(&waiting, 1);
	*sink->last_full = sink->current;
	sink->last_full = &sink->current->next;
	sink->current = NULL;
	worker__wake();
}

static void thread_ends(void *pointer)
{
	struct sink *sink = pointer;

	pthread_mutex_lock(&sink->lock);
	sink__set_aside(sink);
	pthread_mutex_unlock(&sink->lock);
	pthread_mutex_lock(&sinks_lock);
	sink->taken = false;
	pthread_mutex_unlock(&sinks_lock);
	mine = NULL;
}

static struct sink *sink__take(void)
{
	struct sink *sink;

	pthread_mutex_lock(&sinks_lock);
	for (sink = atomic_load(&sinks); sink && sink->taken; sink = sink->next)
		;
	if (!sink) {
		sink = calloc(1, sizeof(*sink));
		if (!sink)
			abort();
		pthread_mutex_init(&sink->lock, NULL);
		sink->last_full = &sink->full;
		sink->next = atomic_load(&sinks);
		atomic_store(&sinks, sink);
	}
	sink->taken = true;
	pthread_mutex_unlock(&sinks_lock);
	return sink;
}

static void prepare(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&worker_wake, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_key_create(&key, thread_ends);
	shared = sink__take();
}

static struct sink *sink__mine(void)
{
	pthread_once(&once, prepare);
	if (settings__get()->version < 1300 || !attribute__get(CUPTI_ATTRIBUTE_PER_THREAD_BUFFER))
		return shared;
	if (!mine) {
		mine = sink__take();
		pthread_setspecific(key, mine);
	}
	return mine;
}

/* A NULL buffer crashes old CUPTIs: here it does so always, and loudly. */
static bool sink__request(struct sink *sink)
{
	CUpti_BufferRequested function = atomic_load(&requested);
	struct buffer *buffer;

	if (!function || !atomic_load(&completed))
		return false;
	buffer = calloc(1, sizeof(*buffer));
	if (!buffer)
		abort();
	in_callback = true;
	function(&buffer->data, &buffer->size, &buffer->limit);
	in_callback = false;
	if (!buffer->data) {
		fault__log("null_buffer");
		fprintf(stderr, "simcuda: the buffer callback gave no buffer\n");
		abort();
	}
	if ((uintptr_t)buffer->data % 8)
		fault__log("unaligned_buffer");
	atomic_fetch_add(&given, 1);
	sink->current = buffer;
	return true;
}

/* Every N-th record gets an end of 0, an end before its start, or a start of 0. */
static bool spoil(struct simcuda_record *record, int64_t offset)
{
	uint64_t every = settings__get()->bad_times, number = atomic_fetch_add(&written, 1) + 1;

	if (!every || number % every)
		return false;
	switch (number / every % 3) {
	case 0:
		record->start = -offset;
		return false;
	case 1:
		return true;
	default:
		record->end = record->start - 1000;
		return false;
	}
}

/* Called with the sink's lock held, when the record fits into its buffer. */
static void sink__append(struct sink *sink, const struct simcuda_record *record)
{
	struct buffer *buffer = sink->current;
	struct simcuda_record own = *record;
	bool endless;

	if (own.start > sink->offset_time + OFFSET_AGE || !sink->offset_time) {
		sink->offset = clock__offset();
		sink->offset_time = own.start;
	}
	if (own.end > buffer->last_end)
		buffer->last_end = own.end;
	buffer->offset = sink->offset;
	endless = spoil(&own, sink->offset);
	buffer->used += record__write(&own, sink->offset, endless, buffer->data + buffer->used);
	buffer->records++;
}

static bool buffer__fits(const struct buffer *buffer, size_t size)
{
	return buffer && buffer->used + size <= buffer->size &&
	       (!buffer->limit || buffer->records < buffer->limit);
}

/* Requesting a buffer takes time, which CUPTI reports as its own. */
static bool sink__request_and_tell(struct sink *sink)
{
	struct simcuda_record record = {.kind = CUPTI_KIND_OVERHEAD, .start = clock__now()};

	if (!sink__request(sink))
		return false;
	record.end = clock__now();
	record.overhead.kind = BUFFER_REQUESTED;
	record.overhead.tid = syscall(SYS_gettid);
	if (activity__kinds() >> CUPTI_KIND_OVERHEAD & 1 &&
	    buffer__fits(sink->current, version__size(CUPTI_KIND_OVERHEAD)))
		sink__append(sink, &record);
	return true;
}

/* Where a record has its start and end, 0: it has none that the GPU has to supply. */
static size_t place_of_times(uint32_t kind)
{
	switch (kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
	case CUPTI_KIND_MEMCPY:
	case CUPTI_KIND_MEMCPY2:
	case CUPTI_KIND_MEMSET:
		return 16;
	case CUPTI_KIND_GRAPH_TRACE:
		return 8;
	}
	return 0;
}

/* Handed out by force: what has not ended has no end, what has not started no start. */
static void buffer__blank(struct buffer *buffer, uint64_t now)
{
	uint64_t there = now + buffer->offset, times[2];
	CUpti_Activity *record = NULL;
	size_t place;

	if (buffer->last_end <= now)
		return;
	while (!cuptiActivityGetNextRecord(buffer->data, buffer->used, &record)) {
		place = place_of_times(record->kind);
		if (!place)
			continue;
		memcpy(times, (uint8_t *)record + place, sizeof(times));
		times[0] = times[0] > there ? 0 : times[0];
		times[1] = times[1] > there ? 0 : times[1];
		memcpy((uint8_t *)record + place, times, sizeof(times));
	}
}

/* Takes those out that may go back; *next becomes the time when a further one may. */
static struct buffer *sink__collect(struct sink *sink, uint64_t now, bool flush, bool force,
				    uint64_t *next)
{
	struct buffer *ready = NULL, **last = &ready, **at = &sink->full;

	pthread_mutex_lock(&sink->lock);
	if (flush && sink->current && sink->current->used &&
	    (force || sink->current->last_end <= now))
		sink__set_aside(sink);
	while (*at) {
		struct buffer *buffer = *at;

		if (!force && buffer->last_end > now) {
			if (!*next || buffer->last_end < *next)
				*next = buffer->last_end;
			at = &buffer->next;
			continue;
		}
		*at = buffer->next;
		buffer->next = NULL;
		atomic_fetch_sub(&waiting, 1);
		*last = buffer;
		last = &buffer->next;
	}
	sink->last_full = at;
	pthread_mutex_unlock(&sink->lock);
	return ready;
}

/* Returns when it should be called again, 0: when a buffer has become full. */
static uint64_t deliver(bool flush, bool force)
{
	CUpti_BufferCompleted function = atomic_load(&completed);
	uint64_t next = 0, now;

	pthread_mutex_lock(&deliver_lock);
	now = clock__now();
	for (struct sink *sink = atomic_load(&sinks); sink; sink = sink->next) {
		struct buffer *buffer = sink__collect(sink, now, flush, force, &next);

		while (buffer) {
			struct buffer *following = buffer->next;

			buffer__blank(buffer, now);
			atomic_fetch_add(&taken_back, 1);
			in_callback = true;
			function(NULL, 0, buffer->data, buffer->size, buffer->used);
			in_callback = false;
			free(buffer);
			buffer = following;
		}
	}
	pthread_mutex_unlock(&deliver_lock);
	return next;
}

void buffers__add(const struct simcuda_record *record)
{
	size_t size = version__size(record->kind);
	struct sink *sink = sink__mine();
	bool full;

	if (atomic_load(&dropped) < settings__get()->drop) {
		drop();
		return;
	}
	pthread_mutex_lock(&sink->lock);
	full = sink->current && !buffer__fits(sink->current, size);
	if (full)
		sink__set_aside(sink);
	if (!sink->current && !sink__request_and_tell(sink)) {
		drop();
	} else if (!buffer__fits(sink->current, size)) {
		drop();
		sink__set_aside(sink);
	} else {
		sink__append(sink, record);
	}
	pthread_mutex_unlock(&sink->lock);
	/* As fast as this launches, no worker could keep up: the launching thread takes its turn.
	 */
	if (full && atomic_load_explicit(&waiting, memory_order_relaxed) > CROWDED)
		deliver(false, false);
}

void buffers__flush(bool force)
{
	deliver(true, force);
}

static void *worker(void *nothing)
{
	uint64_t next = 0;

	prctl(PR_SET_NAME, "simcupti");
	pthread_mutex_lock(&worker_lock);
	for (;;) {
		struct timespec until = {next / 1000000000, next % 1000000000};
		int timeout = 0;

		while (!worker_wanted && !timeout)
			timeout = next ? pthread_cond_timedwait(&worker_wake, &worker_lock, &until)
				       : pthread_cond_wait(&worker_wake, &worker_lock);
		worker_wanted = false;
		pthread_mutex_unlock(&worker_lock);
		next = deliver(false, false);
		pthread_mutex_lock(&worker_lock);
	}
	return nothing;
}

void buffers__start(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_once(&once, prepare);
	pthread_mutex_lock(&worker_lock);
	if (!worker_started) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		pthread_attr_init(&attributes);
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
		worker_started = !pthread_create(&thread, &attributes, worker, NULL);
		pthread_attr_destroy(&attributes);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	pthread_mutex_unlock(&worker_lock);
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BufferRequested request,
					   CUpti_BufferCompleted complete)
{
	if (!request || !complete)
		return CUPTI_ERROR_INVALID_PARAMETER;
	atomic_store(&requested, request);
	atomic_store(&completed, complete);
	state__log("register_callbacks");
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *number)
{
	if (!number)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*number = atomic_exchange(&dropped_new, 0);
	return CUPTI_SUCCESS;
}
