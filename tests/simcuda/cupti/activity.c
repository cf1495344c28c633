// SPDX-License-Identifier: BSD-2-Clause
// The activity API: which kinds are on, and what a client may ask about records and flushes. The
// records themselves are in buffers.c.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "tests/simcuda/cupti/tracer.h"

static _Atomic uint64_t kinds;		 /* requested by the client */
static _Atomic uint64_t api_only[3][16]; /* single calls of the API kinds */
static _Atomic bool api_some;

uint64_t activity__kinds(void)
{
	return atomic_load(&kinds);
}

bool activity__any(void)
{
	return atomic_load(&kinds) || atomic_load(&api_some);
}

bool activity__api_wanted(uint32_t domain, uint32_t cbid)
{
	uint32_t kind = domain == SIMCUDA_DRIVER ? CUPTI_KIND_DRIVER : CUPTI_KIND_RUNTIME;

	return atomic_load_explicit(&kinds, memory_order_relaxed) >> kind & 1 ||
	       (atomic_load_explicit(&api_some, memory_order_relaxed) && cbid < 1024 &&
		atomic_load(&api_only[domain][cbid / 64]) >> cbid % 64 & 1);
}

static bool comes_from_gpu(uint32_t kind)
{
	return kind == CUPTI_KIND_CONCURRENT_KERNEL || kind == CUPTI_KIND_KERNEL ||
	       kind == CUPTI_KIND_MEMCPY || kind == CUPTI_KIND_MEMCPY2 ||
	       kind == CUPTI_KIND_MEMSET || kind == CUPTI_KIND_GRAPH_TRACE;
}

void hooks__record(const struct simcuda_record *record)
{
	if (settings__get()->no_records && comes_from_gpu(record->kind))
		return;
	if (record->kind == CUPTI_KIND_UNIFIED && !unified__wanted(record->unified.kind))
		return;
	if (!atomic_load(&bridge__get()->forked))
		buffers__add(record);
}

/* Before 13.0: switching takes a lock of its own and then the driver's, a launch of a graph the
 * driver's and then this one. */
static pthread_mutex_t switching = PTHREAD_MUTEX_INITIALIZER;

bool activity__is_inverted(void)
{
	return settings__get()->inversion_ms && settings__get()->version < 1300;
}

void activity__graph(void)
{
	pthread_mutex_lock(&switching);
	pthread_mutex_unlock(&switching);
}

static void invert(void)
{
	if (!activity__is_inverted())
		return;
	pthread_mutex_lock(&switching);
	sleep_ms(settings__get()->inversion_ms);
	bridge__get()->wait_no_graph();
	pthread_mutex_unlock(&switching);
}

CUptiResult cuptiActivityEnable(uint32_t kind)
{
	uint64_t now = atomic_load(&kinds);
	CUptiResult result = CUPTI_SUCCESS;

	if (!bridge__get())
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (kind >= 64 || !version__size(kind))
		return CUPTI_ERROR_INVALID_KIND;
	if (kind == CUPTI_KIND_UNIFIED && unified__ready())
		return unified__ready();
	if (kind == CUPTI_KIND_KERNEL)
		fault__log("kernel_kind_serialises");
	if ((kind == CUPTI_KIND_CONCURRENT_KERNEL && now >> CUPTI_KIND_KERNEL & 1) ||
	    (kind == CUPTI_KIND_KERNEL && now >> CUPTI_KIND_CONCURRENT_KERNEL & 1))
		result = CUPTI_ERROR_NOT_COMPATIBLE;
	else if (kind == CUPTI_KIND_CONCURRENT_KERNEL && pc_sampling__is_enabled())
		result = CUPTI_ERROR_NOT_COMPATIBLE;
	else
		atomic_fetch_or(&kinds, 1ULL << kind);
	buffers__start();
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
	invert();
	if (settings__get()->disable == FAULT_RACE && comes_from_gpu(kind) &&
	    pc_sampling__sees_launch()) {
		fault__log("disable_races");
		abort();
	}
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
	buffers__start();
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
	if (buffers__in_callback()) {
		fault__log("flush_in_buffer_callback");
		return CUPTI_ERROR_INVALID_OPERATION;
	}
	if (settings->flush == FAULT_RACE && attribute__get(CUPTI_ATTRIBUTE_PER_THREAD_BUFFER)) {
		fault__log("flush_races");
		abort();
	}
	if (flag & 1)
		bridge__get()->log("flush forced");
	buffers__flush(flag & 1);
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
