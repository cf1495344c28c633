// SPDX-License-Identifier: BSD-2-Clause
// Contexts, created and primary, and each thread's stack of them.
#include "tests/simcuda/cuda/driver.h"

static struct CUctx_st primaries[16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list and primaries */
/* Held for the whole of what makes or unmakes a primary one: a tracer's thread does that, too. */
static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st *contexts;
static _Atomic uint32_t last_id;

static bool context__alive(CUcontext context)
{
	return context && context->magic == MAGIC_CONTEXT;
}

bool context__ids(CUcontext context, uint32_t *id, uint32_t *device)
{
	if (!context__alive(context))
		return false;
	*id = context->id;
	*device = context->device;
	return true;
}

bool context__was_any(void)
{
	return atomic_load(&last_id) != 0;
}

CUcontext context__peek(void)
{
	struct thread *thread = thread__current();

	return thread->depth ? thread->stack[thread->depth - 1] : NULL;
}

CUresult context__current(CUcontext *context)
{
	*context = context__peek();
	if (!*context)
		return CUDA_ERROR_INVALID_CONTEXT;
	return context__alive(*context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static void context__report(CUcontext context)
{
	struct simcuda_record record = {.kind = KIND_CONTEXT};

	record.context = context->id;
	record.device = context->device;
	record.context_info.null_stream = context->null_stream->id;
	if (record__wanted(KIND_CONTEXT))
		record__send(&record);
}

/* Everything that exists already, as records of that kind. */
void context__dump(uint32_t kind)
{
	pthread_mutex_lock(&lock);
	for (struct CUctx_st *context = contexts; context; context = context->next) {
		if (kind == KIND_CONTEXT)
			context__report(context);
		if (kind != KIND_STREAM)
			continue;
		pthread_mutex_lock(&context->lock);
		for (CUstream stream = context->streams; stream; stream = stream->next)
			stream__report(stream);
		pthread_mutex_unlock(&context->lock);
	}
	pthread_mutex_unlock(&lock);
	if (kind == KIND_DEVICE)
		device__dump();
}

/* Called with the lock held. */
static void context__create(CUcontext context, int device, bool primary)
{
	context->id = atomic_fetch_add(&last_id, 1) + 1;
	context->device = device;
	context->primary = primary;
	context->streams = NULL;
	atomic_store(&context->end, 0);
	pthread_mutex_init(&context->lock, NULL);
	context->magic = MAGIC_CONTEXT;
	context->null_stream = stream__new(context, 0, 0);
	context->thread_stream = stream__new(context, 0, 0);
	context->next = contexts;
	context->link = &contexts;
	if (contexts)
		contexts->link = &context->next;
	contexts = context;
}

static void context__announce(CUcontext context)
{
	const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);

	context__report(context);
	if (hooks)
		hooks->resource(RESOURCE_CONTEXT_CREATED, context, NULL, NULL);
}

static void context__close(CUcontext context)
{
	const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);

	clock__wait_until(atomic_load(&context->end));
	if (hooks)
		hooks->resource(RESOURCE_CONTEXT_DESTROY, context, NULL, NULL);
	pthread_mutex_lock(&lock);
	*context->link = context->next;
	if (context->next)
		context->next->link = context->link;
	pthread_mutex_unlock(&lock);
	while (context->streams)
		stream__free(context->streams);
	context->magic = 0;
	pthread_mutex_destroy(&context->lock);
}

CUresult sim_cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice device)
{
	struct thread *thread = thread__current();
	CUcontext context;

	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (device < 0 || device >= device__count())
		return CUDA_ERROR_INVALID_DEVICE;
	if (thread->depth == 16)
		return CUDA_ERROR_OUT_OF_MEMORY;
	context = object__new(sizeof(*context));
	pthread_mutex_lock(&lock);
	context__create(context, device, false);
	pthread_mutex_unlock(&lock);
	thread->stack[thread->depth++] = context;
	*pctx = context;
	context__announce(context);
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxCreate_v4(CUcontext *pctx, void *params, unsigned int flags, CUdevice device)
{
	return params ? CUDA_ERROR_NOT_SUPPORTED : sim_cuCtxCreate_v2(pctx, flags, device);
}

CUresult sim_cuCtxDestroy_v2(CUcontext context)
{
	struct thread *thread = thread__current();

	if (!context__alive(context) || context->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (context__peek() == context)
		thread->depth--;
	context__close(context);
	object__free(context);
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxPushCurrent_v2(CUcontext context)
{
	struct thread *thread = thread__current();

	if (!context__alive(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (thread->depth == 16)
		return CUDA_ERROR_INVALID_VALUE;
	thread->stack[thread->depth++] = context;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxPopCurrent_v2(CUcontext *pctx)
{
	struct thread *thread = thread__current();

	if (!thread->depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	thread->depth--;
	if (pctx)
		*pctx = thread->stack[thread->depth];
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetCurrent(CUcontext context)
{
	struct thread *thread = thread__current();

	if (!context) {
		if (thread->depth)
			thread->depth--;
		return CUDA_SUCCESS;
	}
	if (!context__alive(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!thread->depth)
		thread->depth = 1;
	thread->stack[thread->depth - 1] = context;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetCurrent(CUcontext *pctx)
{
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	*pctx = context__peek();
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetDevice(CUdevice *device)
{
	CUcontext context;
	CUresult result = context__current(&context);

	if (!result)
		*device = context->device;
	return result;
}

CUresult sim_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
	if (!settings__get()->peer_access)
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	return context__alive(peer) && !flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxSynchronize(void)
{
	const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);
	struct simcuda_record record = {.kind = KIND_SYNC, .sync.type = SYNC_CONTEXT};
	CUcontext context;
	CUresult result = context__current(&context);

	if (result)
		return result;
	record.start = clock__now();
	clock__wait_until(atomic_load(&context->end));
	record.end = clock__now();
	record.context = context->id;
	record.stream = UINT32_MAX;
	record.correlation = thread__correlation();
	record.sync.result = wait__result();
	if (record__wanted(KIND_SYNC))
		record__send(&record);
	if (hooks)
		hooks->synchronized(2, context, NULL);
	return record.sync.result;
}

CUresult sim_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice device)
{
	bool fresh = false;

	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (device < 0 || device >= device__count())
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&primary_lock);
	pthread_mutex_lock(&lock);
	if (primaries[device].magic != MAGIC_CONTEXT) {
		context__create(&primaries[device], device, true);
		fresh = true;
	}
	primaries[device].references++;
	pthread_mutex_unlock(&lock);
	*pctx = &primaries[device];
	if (fresh)
		context__announce(*pctx);
	pthread_mutex_unlock(&primary_lock);
	return CUDA_SUCCESS;
}

/* With the primary lock held. */
static void primary__reset(CUdevice device)
{
	if (context__alive(&primaries[device]))
		context__close(&primaries[device]);
	primaries[device].references = 0;
}

CUresult sim_cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	if (device < 0 || device >= device__count())
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&primary_lock);
	primary__reset(device);
	pthread_mutex_unlock(&primary_lock);
	return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	CUresult result = CUDA_ERROR_INVALID_CONTEXT;

	if (device < 0 || device >= device__count())
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&primary_lock);
	if (context__alive(&primaries[device])) {
		if (--primaries[device].references <= 0)
			primary__reset(device);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&primary_lock);
	return result;
}

CUresult sim_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
	if (device < 0 || device >= device__count())
		return CUDA_ERROR_INVALID_DEVICE;
	*flags = 0;
	*active = context__alive(&primaries[device]);
	return CUDA_SUCCESS;
}
