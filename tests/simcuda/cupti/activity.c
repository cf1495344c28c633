// SPDX-License-Identifier: BSD-2-Clause
// The activity API: records wait until the simulated GPU has finished with them, then go into the
// client's buffers, which are handed back when full or flushed. A worker thread does it when much
// has gathered; the client's flushes and, when the worker lags behind, the launching threads too.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include "tests/simcuda/cupti/tracer.h"

#define SHARDS	   64
#define WAKE_AT	   8192	 /* records that wake the worker */
#define CROWDED_AT 65536 /* from here on launching threads drain for themselves */

struct list {
	struct simcuda_record *records;
	size_t count, room;
};

static struct shard {
	pthread_mutex_t lock;
	struct list fresh; /* guarded by lock */
	struct list held;  /* guarded by out_lock: taken, but not finished on the GPU */
} shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the buffer below */
static uint8_t *buffer;
static size_t buffer_size, buffer_used, buffer_records, buffer_limit;
static _Atomic pthread_t drainer; /* who holds out_lock, to tell a client that calls from inside */

static _Atomic uint64_t kinds;		 /* asked for by the client */
static _Atomic uint64_t api_only[3][16]; /* single calls of the API kinds */
static _Atomic bool api_some;
static _Atomic(CUpti_BufferRequested) requested;
static _Atomic(CUpti_BufferCompleted) completed;
static _Atomic uint64_t pending, written, dropped, dropped_new, given, taken_back;

static pthread_mutex_t worker_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t worker_wake = PTHREAD_COND_INITIALIZER;
static bool worker_started, worker_wanted;

uint64_t activity__kinds(void)
{
	return atomic_load(&kinds);
}

bool activity__any(void)
{
	return atomic_load(&kinds) || atomic_load(&api_some);
}

void activity__counts(uint64_t *records, uint64_t *lost, uint64_t *out)
{
	*records = atomic_load(&written);
	*lost = atomic_load(&dropped);
	*out = atomic_load(&given) - atomic_load(&taken_back);
}

bool activity__api_wanted(uint32_t domain, uint32_t cbid)
{
	uint32_t kind = domain == SIMCUDA_DRIVER ? CUPTI_KIND_DRIVER : CUPTI_KIND_RUNTIME;

	return atomic_load_explicit(&kinds, memory_order_relaxed) >> kind & 1 ||
	       (atomic_load_explicit(&api_some, memory_order_relaxed) && cbid < 1024 &&
		atomic_load(&api_only[domain][cbid / 64]) >> cbid % 64 & 1);
}

static void list__add(struct list *list, const struct simcuda_record *record)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 256;
		list->records = realloc(list->records, list->room * sizeof(*list->records));
		if (!list->records)
			abort();
	}
	list->records[list->count++] = *record;
}

static void drop(void)
{
	atomic_fetch_add(&dropped, 1);
	atomic_fetch_add(&dropped_new, 1);
}

/* Called with out_lock held. */
static void buffer__return(void)
{
	CUpti_BufferCompleted function = atomic_load(&completed);
	uint8_t *full = buffer;

	buffer = NULL;
	if (!full)
		return;
	atomic_fetch_add(&taken_back, 1);
	function(NULL, 0, full, buffer_size, buffer_used);
}

/* Called with out_lock held. A NULL buffer crashes old CUPTIs: here it does so always, and loudly.
 */
static bool buffer__request(void)
{
	CUpti_BufferRequested function = atomic_load(&requested);

	if (!function || !atomic_load(&completed))
		return false;
	buffer_size = buffer_records = buffer_used = buffer_limit = 0;
	function(&buffer, &buffer_size, &buffer_limit);
	if (!buffer) {
		fault__log("null_buffer");
		fprintf(stderr, "simcuda: the buffer callback gave no buffer\n");
		abort();
	}
	if ((uintptr_t)buffer % 8)
		fault__log("unaligned_buffer");
	atomic_fetch_add(&given, 1);
	return true;
}

/* Called with out_lock held. */
static void emit(struct simcuda_record *record, int64_t offset, bool unfinished)
{
	size_t size = version__size(record->kind);
	uint64_t bad = settings__get()->bad_times, number;

	if (atomic_load(&dropped) < settings__get()->drop) {
		drop();
		return;
	}
	if (buffer &&
	    (buffer_used + size > buffer_size || (buffer_limit && buffer_records == buffer_limit)))
		buffer__return();
	if (!buffer && !buffer__request()) {
		drop();
		return;
	}
	if (buffer_used + size > buffer_size) {
		drop();
		buffer__return();
		return;
	}
	number = atomic_fetch_add(&written, 1) + 1;
	if (bad && number % bad == 0) {
		record->start = number / bad % 3 == 0 ? (uint64_t)-offset : record->start;
		record->end = number / bad % 3 == 2 ? record->start - 1000 : record->end;
		unfinished = unfinished || number / bad % 3 == 1;
	}
	buffer_used += record__write(record, offset, unfinished, buffer + buffer_used);
	buffer_records++;
}

/* Called with out_lock held. Keeps in held what the GPU has not finished at that time. */
static void list__drain(struct list *list, struct list *keep, uint64_t now, int64_t offset,
			bool force)
{
	size_t kept = 0, gone = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (list->records[i].end <= now || force) {
			emit(&list->records[i], offset, list->records[i].end > now);
			gone++;
		} else if (keep == list) {
			list->records[kept++] = list->records[i];
		} else {
			list__add(keep, &list->records[i]);
		}
	}
	list->count = kept;
	atomic_fetch_sub(&pending, gone);
}

static void drain(bool force, bool give_back)
{
	static struct list taken; /* guarded by out_lock */
	int64_t offset;
	uint64_t now;

	pthread_mutex_lock(&out_lock);
	atomic_store(&drainer, pthread_self());
	offset = clock__offset();
	now = clock__now();
	for (int i = 0; i < SHARDS; i++) {
		struct list swap = taken;

		list__drain(&shards[i].held, &shards[i].held, now, offset, force);
		pthread_mutex_lock(&shards[i].lock);
		taken = shards[i].fresh;
		shards[i].fresh = swap;
		pthread_mutex_unlock(&shards[i].lock);
		list__drain(&taken, &shards[i].held, now, offset, force);
	}
	if (give_back)
		buffer__return();
	atomic_store(&drainer, 0);
	pthread_mutex_unlock(&out_lock);
}

static void *worker(void *nothing)
{
	prctl(PR_SET_NAME, "simcupti");
	pthread_mutex_lock(&worker_lock);
	for (;;) {
		while (!worker_wanted)
			pthread_cond_wait(&worker_wake, &worker_lock);
		worker_wanted = false;
		pthread_mutex_unlock(&worker_lock);
		drain(false, false);
		pthread_mutex_lock(&worker_lock);
	}
	return nothing;
}

static void worker__start(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;

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

static void worker__wake(void)
{
	pthread_mutex_lock(&worker_lock);
	worker_wanted = true;
	pthread_cond_signal(&worker_wake);
	pthread_mutex_unlock(&worker_lock);
}

static bool comes_from_gpu(uint32_t kind)
{
	return kind == CUPTI_KIND_CONCURRENT_KERNEL || kind == CUPTI_KIND_KERNEL ||
	       kind == CUPTI_KIND_MEMCPY || kind == CUPTI_KIND_MEMCPY2 ||
	       kind == CUPTI_KIND_MEMSET || kind == CUPTI_KIND_GRAPH_TRACE;
}

void hooks__record(const struct simcuda_record *record)
{
	struct shard *shard = &shards[record->stream % SHARDS];
	uint64_t waiting;

	if (settings__get()->no_records && comes_from_gpu(record->kind))
		return;
	if (record->kind == CUPTI_KIND_UNIFIED && !unified__wanted(record->unified.kind))
		return;
	pthread_mutex_lock(&shard->lock);
	list__add(&shard->fresh, record);
	pthread_mutex_unlock(&shard->lock);
	waiting = atomic_fetch_add(&pending, 1) + 1;
	if (waiting >= CROWDED_AT && waiting % 4096 == 0)
		drain(false, false);
	else if (waiting >= WAKE_AT && waiting % 1024 == 0)
		worker__wake();
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

CUptiResult cuptiActivityEnable(uint32_t kind)
{
	uint64_t now = atomic_load(&kinds);
	CUptiResult result = CUPTI_SUCCESS;

	if (!bridge__get())
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (kind >= 64 || !version__size(kind))
		return CUPTI_ERROR_INVALID_KIND;
	if (kind == CUPTI_KIND_KERNEL)
		fault__log("kernel_kind_serialises");
	if ((kind == CUPTI_KIND_CONCURRENT_KERNEL && now >> CUPTI_KIND_KERNEL & 1) ||
	    (kind == CUPTI_KIND_KERNEL && now >> CUPTI_KIND_CONCURRENT_KERNEL & 1))
		result = CUPTI_ERROR_NOT_COMPATIBLE;
	else
		atomic_fetch_or(&kinds, 1ULL << kind);
	worker__start();
	hooks__update();
	state__log("enable_kind");
	return result;
}

CUptiResult cuptiActivityEnableAndDump(uint32_t kind)
{
	CUptiResult result = cuptiActivityEnable(kind);

	if (!result)
		bridge__get()->dump(kind);
	return result;
}

CUptiResult cuptiActivityDisable(uint32_t kind)
{
	if (kind >= 64 || !version__size(kind))
		return CUPTI_ERROR_INVALID_KIND;
	atomic_fetch_and(&kinds, ~(1ULL << kind));
	hooks__update();
	state__log("disable_kind");
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableContext(CUcontext context, uint32_t kind)
{
	return cuptiActivityEnable(kind);
}

CUptiResult cuptiActivityDisableContext(CUcontext context, uint32_t kind)
{
	return cuptiActivityDisable(kind);
}

void activity__off(void)
{
	atomic_store(&kinds, 0);
	atomic_store(&api_some, false);
}

static CUptiResult enable_api(uint32_t domain, uint32_t cbid, uint8_t enable)
{
	uint64_t some = 0;

	if (cbid >= 1024)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (enable)
		atomic_fetch_or(&api_only[domain][cbid / 64], 1ULL << cbid % 64);
	else
		atomic_fetch_and(&api_only[domain][cbid / 64], ~(1ULL << cbid % 64));
	for (int d = 1; d <= 2; d++)
		for (int i = 0; i < 16; i++)
			some |= atomic_load(&api_only[d][i]);
	atomic_store(&api_some, some != 0);
	worker__start();
	hooks__update();
	state__log("enable_api");
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
	return enable_api(SIMCUDA_DRIVER, cbid, enable);
}

CUptiResult cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
	return enable_api(SIMCUDA_RUNTIME, cbid, enable);
}

/* In a forked child the worker is gone, and the real one waits for it for ever. */
CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	const struct settings *settings = settings__get();
	struct timespec slow = {settings->flush_ms / 1000, settings->flush_ms % 1000 * 1000000};

	if (!bridge__get())
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (atomic_load(&bridge__get()->forked)) {
		fault__log("flush_in_child");
		for (;;)
			pause();
	}
	while (settings->flush == FAULT_HANG)
		pause();
	if (settings->flush == FAULT_SLOW)
		nanosleep(&slow, NULL);
	if (pthread_equal(atomic_load(&drainer), pthread_self())) {
		fault__log("flush_in_buffer_callback");
		return CUPTI_ERROR_INVALID_OPERATION;
	}
	drain(flag & 1, true);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlush(CUcontext context, uint32_t stream, uint32_t flag)
{
	return cuptiActivityFlushAll(flag);
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *from, size_t valid, CUpti_Activity **record)
{
	uint8_t *next;

	if (!from || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	next = *record ? (uint8_t *)*record + version__size((*record)->kind) : from;
	if (next < from || next >= from + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (!version__size(((CUpti_Activity *)next)->kind))
		return CUPTI_ERROR_INVALID_KIND;
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *number)
{
	if (!number)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*number = atomic_exchange(&dropped_new, 0);
	return CUPTI_SUCCESS;
}
