// SPDX-License-Identifier: BSD-2-Clause
// Events: the time at which a stream reaches the point where the event was recorded.
#include "tests/simcuda/cuda/driver.h"
#include "tests/simcuda/cupti.h"

struct CUevent_st {
	uint32_t magic;
	uint32_t id;
	unsigned int flags;
	CUcontext context;
	_Atomic uint64_t time; /* 0: not recorded */
};

static _Atomic uint32_t last_id;

static bool event__valid(CUevent event)
{
	return event && event->magic == MAGIC_EVENT;
}

CUresult sim_cuEventCreate(CUevent *handle, unsigned int flags)
{
	CUcontext context;
	CUresult result = context__current(&context);
	CUevent event;

	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	if (result)
		return result;
	event = object__new(sizeof(*event));
	event->magic = MAGIC_EVENT;
	event->id = atomic_fetch_add(&last_id, 1) + 1;
	event->flags = flags;
	event->context = context;
	*handle = event;
	return CUDA_SUCCESS;
}

CUresult sim_cuEventDestroy_v2(CUevent event)
{
	if (!event__valid(event))
		return CUDA_ERROR_INVALID_HANDLE;
	event->magic = 0;
	object__free(event);
	return CUDA_SUCCESS;
}

static void event__report_record(CUevent event, CUstream stream)
{
	struct simcuda_record record = {.kind = CUPTI_KIND_CUDA_EVENT,
					.correlation = thread__correlation(),
					.context = event->context->id,
					.stream = stream->id,
					.sync.event = event->id};

	if (record__wanted(CUPTI_KIND_CUDA_EVENT))
		record__send(&record);
}

CUresult sim_cuEventRecord(CUevent event, CUstream handle)
{
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);
	uint64_t now;

	if (result || !event__valid(event))
		return result ? result : CUDA_ERROR_INVALID_HANDLE;
	now = clock__now();
	pthread_mutex_lock(&stream->lock);
	if (stream->end < now)
		stream->end = now;
	atomic_store(&event->time, stream->end);
	pthread_mutex_unlock(&stream->lock);
	event__report_record(event, stream);
	return CUDA_SUCCESS;
}

CUresult sim_cuEventQuery(CUevent event)
{
	if (!event__valid(event))
		return CUDA_ERROR_INVALID_HANDLE;
	return atomic_load(&event->time) > clock__now() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static void event__report(CUevent event, uint32_t type, uint32_t stream, uint64_t start,
			  CUresult result)
{
	struct simcuda_record record = {.kind = KIND_SYNC, .start = start};

	record.end = clock__now();
	record.sync.type = type;
	record.sync.event = event->id;
	record.sync.result = result;
	record.context = event->context->id;
	record.stream = stream;
	record.correlation = thread__correlation();
	if (record__wanted(KIND_SYNC))
		record__send(&record);
}

CUresult sim_cuEventSynchronize(CUevent event)
{
	uint64_t start = clock__now();
	CUresult result;

	if (!event__valid(event))
		return CUDA_ERROR_INVALID_HANDLE;
	clock__wait_until(atomic_load(&event->time));
	result = wait__result();
	event__report(event, SYNC_EVENT, UINT32_MAX, start, result);
	return result;
}

CUresult sim_cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags)
{
	uint64_t start = clock__now(), time;
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (result || !event__valid(event))
		return result ? result : CUDA_ERROR_INVALID_HANDLE;
	time = atomic_load(&event->time);
	pthread_mutex_lock(&stream->lock);
	if (stream->end < time)
		stream->end = time;
	pthread_mutex_unlock(&stream->lock);
	event__report(event, SYNC_STREAM_WAIT, stream->id, start, CUDA_SUCCESS);
	return CUDA_SUCCESS;
}

CUresult sim_cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	uint64_t from, to;

	if (!ms)
		return CUDA_ERROR_INVALID_VALUE;
	if (!event__valid(start) || !event__valid(end))
		return CUDA_ERROR_INVALID_HANDLE;
	from = atomic_load(&start->time);
	to = atomic_load(&end->time);
	if (!from || !to)
		return CUDA_ERROR_INVALID_HANDLE;
	if (to > clock__now())
		return CUDA_ERROR_NOT_READY;
	*ms = (float)((int64_t)(to - from) / 1e6);
	return CUDA_SUCCESS;
}
