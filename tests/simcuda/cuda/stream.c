// SPDX-License-Identifier: BSD-2-Clause
// Streams as timelines: work gets its start and end when it is put on a stream, and whoever
// synchronises really waits until that time. Nobody does the work.
#include "tests/simcuda/cuda/driver.h"

/* As many pieces of work fit on a stream before the host has to wait, as on a real GPU. */
#define QUEUE_DEPTH 1024

static _Atomic uint32_t last_id = 6;

CUstream stream__new(CUcontext context, unsigned int flags, int priority)
{
	CUstream stream = object__new(sizeof(*stream));

	stream->magic = MAGIC_STREAM;
	stream->id = atomic_fetch_add(&last_id, 1) + 1;
	stream->context = context;
	stream->flags = flags;
	stream->priority = priority;
	pthread_mutex_init(&stream->lock, NULL);
	pthread_mutex_lock(&context->lock);
	stream->next = context->streams;
	stream->link = &context->streams;
	if (context->streams)
		context->streams->link = &stream->next;
	context->streams = stream;
	pthread_mutex_unlock(&context->lock);
	return stream;
}

void stream__free(CUstream stream)
{
	CUcontext context = stream->context;

	pthread_mutex_lock(&context->lock);
	*stream->link = stream->next;
	if (stream->next)
		stream->next->link = stream->link;
	pthread_mutex_unlock(&context->lock);
	stream->magic = 0;
	pthread_mutex_destroy(&stream->lock);
	object__free(stream);
}

void stream__report(CUstream stream)
{
	struct simcuda_record record = {.kind = KIND_STREAM};

	record.context = stream->context->id;
	record.device = stream->context->device;
	record.stream = stream->id;
	record.correlation = thread__correlation();
	record.stream_info.priority = stream->priority;
	record.stream_info.flag = stream->flags & CU_STREAM_NON_BLOCKING ? 2 : 1;
	record__send(&record);
}

CUresult stream__resolve(CUstream handle, CUstream *stream)
{
	CUcontext context;
	CUresult result = context__current(&context);

	if (result)
		return result;
	if (!handle || handle == CU_STREAM_LEGACY)
		*stream = context->null_stream;
	else if (handle == CU_STREAM_PER_THREAD)
		*stream = context->thread_stream;
	else if (handle->magic == MAGIC_STREAM)
		*stream = handle;
	else
		return CUDA_ERROR_INVALID_HANDLE;
	return CUDA_SUCCESS;
}

bool stream__id(CUcontext context, CUstream handle, uint32_t *id)
{
	if (!context || context->magic != MAGIC_CONTEXT)
		return false;
	if (!handle || handle == CU_STREAM_LEGACY)
		handle = context->null_stream;
	else if (handle == CU_STREAM_PER_THREAD)
		handle = context->thread_stream;
	if (handle->magic != MAGIC_STREAM)
		return false;
	*id = handle->id;
	return true;
}

void record__send(struct simcuda_record *record)
{
	const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);

	if (hooks)
		hooks->record(record);
}

void record__place(struct simcuda_record *record, uint32_t kind, CUstream stream)
{
	record->kind = kind;
	record->device = stream->context->device;
	record->context = stream->context->id;
	record->stream = stream->id;
	record->correlation = thread__correlation();
}

/* What CUPTI calls overhead: time that the program lost to something behind the scenes. */
void overhead__report(uint32_t kind, uint64_t start, uint64_t end)
{
	struct simcuda_record record = {.kind = KIND_OVERHEAD, .start = start, .end = end};

	record.overhead.kind = kind;
	record.overhead.tid = thread__current()->tid;
	record.correlation = thread__correlation();
	if (record__wanted(KIND_OVERHEAD))
		record__send(&record);
}

static void context__extend(CUcontext context, uint64_t end)
{
	uint64_t seen = atomic_load_explicit(&context->end, memory_order_relaxed);

	while (seen < end && !atomic_compare_exchange_weak(&context->end, &seen, end))
		;
}

uint64_t stream__next_start(CUstream stream)
{
	uint64_t earliest = clock__now() + settings__get()->latency_ns, end;

	pthread_mutex_lock(&stream->lock);
	end = stream->end;
	pthread_mutex_unlock(&stream->lock);
	return end > earliest ? end : earliest;
}

void stream__push(CUstream stream, uint64_t ns, struct simcuda_record *record)
{
	uint64_t now = clock__now(), allowed = ns * QUEUE_DEPTH + 100000, earliest, end;

	pthread_mutex_lock(&stream->lock);
	end = stream->end;
	earliest = now + settings__get()->latency_ns;
	if (!record->start)
		record->start = end > earliest ? end : earliest;
	record->end = record->start + ns;
	stream->end = record->end;
	context__extend(stream->context, record->end);
	pthread_mutex_unlock(&stream->lock);
	if (record->kind && record__wanted(record->kind))
		record__send(record);
	if (end > now + allowed) {
		clock__wait_until(end - allowed);
		overhead__report(OVERHEAD_QUEUE_FULL, now, clock__now());
	}
}

static CUresult stream__create(CUstream *handle, unsigned int flags, int priority)
{
	const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);
	CUcontext context;
	CUresult result = context__current(&context);

	if (!handle || flags & ~1U)
		return CUDA_ERROR_INVALID_VALUE;
	if (result)
		return result;
	*handle = stream__new(context, flags, priority);
	if (record__wanted(KIND_STREAM))
		stream__report(*handle);
	if (hooks)
		hooks->resource(RESOURCE_STREAM_CREATED, context, *handle, NULL);
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamCreate(CUstream *handle, unsigned int flags)
{
	return stream__create(handle, flags, 0);
}

CUresult sim_cuStreamCreateWithPriority(CUstream *handle, unsigned int flags, int priority)
{
	return stream__create(handle, flags, priority > 0 ? 0 : priority < -5 ? -5 : priority);
}

CUresult sim_cuStreamDestroy_v2(CUstream handle)
{
	const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);

	if ((uintptr_t)handle <= 2 || handle->magic != MAGIC_STREAM)
		return CUDA_ERROR_INVALID_HANDLE;
	if (hooks)
		hooks->resource(RESOURCE_STREAM_DESTROY, handle->context, handle, NULL);
	stream__free(handle);
	return CUDA_SUCCESS;
}

static uint64_t stream__end(CUstream stream)
{
	uint64_t end;

	pthread_mutex_lock(&stream->lock);
	end = stream->end;
	pthread_mutex_unlock(&stream->lock);
	return end;
}

CUresult wait__result(void)
{
	static _Atomic uint64_t waits;
	uint64_t every = settings__get()->fail_wait;

	return every && atomic_fetch_add(&waits, 1) % every == every - 1 ? CUDA_ERROR_LAUNCH_FAILED
									 : CUDA_SUCCESS;
}

CUresult sim_cuStreamSynchronize(CUstream handle)
{
	const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);
	struct simcuda_record record = {.sync.type = SYNC_STREAM};
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (result)
		return result;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	record__place(&record, KIND_SYNC, stream);
	record.start = clock__now();
	clock__wait_until(stream__end(stream));
	record.end = clock__now();
	record.sync.result = wait__result();
	if (record__wanted(KIND_SYNC))
		record__send(&record);
	if (hooks)
		hooks->synchronized(1, stream->context, handle);
	return record.sync.result;
}

CUresult sim_cuStreamQuery(CUstream handle)
{
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (result)
		return result;
	return stream__end(stream) > clock__now() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult sim_cuStreamGetPriority(CUstream handle, int *priority)
{
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (!result)
		*priority = stream->priority;
	return result;
}

CUresult sim_cuStreamGetFlags(CUstream handle, unsigned int *flags)
{
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (!result)
		*flags = stream->flags;
	return result;
}

static atomic_uint breaks;

void stream__break_captures(void)
{
	atomic_fetch_add(&breaks, 1);
}

/* NULL: a new graph. */
static CUresult begin_capture(CUstream handle, CUgraph graph)
{
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (result)
		return result;
	if (!handle || handle == CU_STREAM_LEGACY)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	stream->capture = graph ? graph : graph__new();
	stream->breaks = atomic_load(&breaks);
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamBeginCapture_v2(CUstream handle, int mode)
{
	return begin_capture(handle, NULL);
}

CUresult sim_cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph,
					 const CUgraphNode *dependencies, const void *data,
					 size_t count, int mode)
{
	return graph__id(graph) ? begin_capture(handle, graph) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (result)
		return result;
	if (!stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	*graph = stream->capture;
	stream->capture = NULL;
	if (stream->breaks == atomic_load(&breaks))
		return CUDA_SUCCESS;
	*graph = NULL;
	return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult sim_cuStreamIsCapturing(CUstream handle, int *status)
{
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (!result)
		*status = stream->capture != NULL;
	return result;
}
