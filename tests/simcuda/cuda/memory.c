// SPDX-License-Identifier: BSD-2-Clause
// Memory: device memory is host memory of the same size, so that copies can be done for real. A
// sorted table knows every range and what it is.
#include <stdlib.h>
#include <string.h>
#include "tests/simcuda/cuda/driver.h"

struct range {
	uint64_t start, bytes;
	CUmemoryPool pool; /* of stream-ordered memory, else NULL */
	uint32_t device;
	uint8_t kind;	 /* MEMORY_PINNED, MEMORY_DEVICE, MEMORY_MANAGED */
	bool registered; /* the program's own memory: not ours to free */
	bool on_gpu;	 /* managed memory: where its pages are */
};

struct CUmemPoolHandle_st {
	uint32_t magic;
	int device;
	uint64_t used, size;
};

#define POOL_STEP (32ULL << 20) /* a pool grows by this much, as the real one does */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all of these */
static struct range *ranges;
static size_t count, capacity;
static uint64_t device_bytes[16];
static struct CUmemPoolHandle_st defaults[16];

/* Index of the first range that starts above the address. Called with the lock held. */
static size_t range__after(uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct range *range__of(uint64_t address)
{
	size_t at = range__after(address);

	if (!at || address - ranges[at - 1].start >= ranges[at - 1].bytes)
		return NULL;
	return &ranges[at - 1];
}

static void range__insert(const struct range *range)
{
	size_t at = range__after(range->start);

	if (count == capacity) {
		capacity = capacity ? 2 * capacity : 64;
		ranges = realloc(ranges, capacity * sizeof(*ranges));
		if (!ranges)
			abort();
	}
	memmove(ranges + at + 1, ranges + at, (count - at) * sizeof(*ranges));
	ranges[at] = *range;
	count++;
}

static void range__remove(struct range *range)
{
	size_t at = range - ranges;

	memmove(ranges + at, ranges + at + 1, (count - at - 1) * sizeof(*ranges));
	count--;
}

/* What memory is this? Ordinary memory of the program is pageable. */
int memory__kind(uint64_t address, uint32_t *device)
{
	struct range *range;
	int kind = MEMORY_PAGEABLE;

	pthread_mutex_lock(&lock);
	range = range__of(address);
	if (range) {
		kind = range->kind;
		*device = range->device;
	}
	pthread_mutex_unlock(&lock);
	return kind;
}

/* cleared: managed memory starts out as zero */
static CUresult memory__new(struct range *range, size_t bytes, bool cleared)
{
	uint64_t limit = settings__get()->memory_bytes;
	void *block;

	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (range->kind == MEMORY_DEVICE && device_bytes[range->device] + bytes > limit) {
		pthread_mutex_unlock(&lock);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (posix_memalign(&block, 256, bytes)) {
		pthread_mutex_unlock(&lock);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (cleared)
		memset(block, 0, bytes);
	range->start = (uintptr_t)block;
	range->bytes = bytes;
	range__insert(range);
	if (range->kind == MEMORY_DEVICE)
		device_bytes[range->device] += bytes;
	if (range->pool) {
		range->pool->used += bytes;
		while (range->pool->size < range->pool->used)
			range->pool->size += POOL_STEP;
	}
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

static void memory__report(const struct range *range, uint32_t operation, CUstream stream)
{
	struct simcuda_record record = {.kind = KIND_MEMORY};

	if (!record__wanted(KIND_MEMORY))
		return;
	record.start = record.end = clock__now();
	record.correlation = thread__correlation();
	context__ids(context__peek(), &record.context, &record.device);
	if (range->kind != MEMORY_STATIC)
		record.device = range->device;
	record.stream = stream ? stream->id : UINT32_MAX;
	record.memory.operation = operation;
	record.memory.memory = range->kind;
	record.memory.address = range->start;
	record.memory.bytes = range->bytes;
	record.memory.async = stream != NULL;
	if (range->pool) {
		record.memory.pool_type = 1;
		record.memory.pool = (uintptr_t)range->pool;
		record.memory.pool_size = range->pool->size;
		record.memory.pool_used = range->pool->used;
	}
	record__send(&record);
}

void memory__report_static(uint64_t address, size_t bytes)
{
	struct range range = {.start = address, .bytes = bytes, .kind = MEMORY_STATIC};

	memory__report(&range, 1, NULL);
}

static CUresult memory__allocate(uint64_t *address, size_t bytes, int kind)
{
	struct range range = {.kind = kind};
	CUcontext context;
	CUresult result = context__current(&context);

	if (!address)
		return CUDA_ERROR_INVALID_VALUE;
	if (!result) {
		range.device = context->device;
		result = memory__new(&range, bytes, kind == MEMORY_MANAGED);
	}
	if (result)
		return result;
	*address = range.start;
	memory__report(&range, 1, NULL);
	return CUDA_SUCCESS;
}

/* kinds: bits (1 << MEMORY_...) that this call may free */
static CUresult memory__free(uint64_t address, unsigned int kinds, CUstream stream)
{
	struct range *found, range;

	pthread_mutex_lock(&lock);
	found = range__of(address);
	if (!found || found->start != address || !(kinds >> found->kind & 1) || found->registered) {
		pthread_mutex_unlock(&lock);
		return CUDA_ERROR_INVALID_VALUE;
	}
	range = *found;
	range__remove(found);
	if (range.kind == MEMORY_DEVICE)
		device_bytes[range.device] -= range.bytes;
	if (range.pool)
		range.pool->used -= range.bytes;
	pthread_mutex_unlock(&lock);
	memory__report(&range, 2, stream);
	free((void *)(uintptr_t)address);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemGetInfo_v2(size_t *left, size_t *total)
{
	CUcontext context;
	CUresult result = context__current(&context);

	if (result)
		return result;
	*total = settings__get()->memory_bytes;
	pthread_mutex_lock(&lock);
	*left = *total - device_bytes[context->device];
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
	return memory__allocate((uint64_t *)address, bytes, MEMORY_DEVICE);
}

CUresult sim_cuMemFree_v2(CUdeviceptr address)
{
	CUcontext context = context__peek();

	if (!address)
		return CUDA_SUCCESS;
	if (context)
		clock__wait_until(atomic_load(&context->end));
	return memory__free(address, 1 << MEMORY_DEVICE | 1 << MEMORY_MANAGED, NULL);
}

CUresult sim_cuMemAllocHost_v2(void **address, size_t bytes)
{
	return memory__allocate((uint64_t *)address, bytes, MEMORY_PINNED);
}

CUresult sim_cuMemHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	return memory__allocate((uint64_t *)address, bytes, MEMORY_PINNED);
}

CUresult sim_cuMemFreeHost(void *address)
{
	return memory__free((uintptr_t)address, 1 << MEMORY_PINNED, NULL);
}

CUresult sim_cuMemHostRegister_v2(void *address, size_t bytes, unsigned int flags)
{
	struct range range = {(uintptr_t)address, bytes, .kind = MEMORY_PINNED, .registered = true};
	CUresult result = CUDA_SUCCESS;

	if (!address || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (range__of(range.start))
		result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	else
		range__insert(&range);
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult sim_cuMemHostUnregister(void *address)
{
	struct range *found;
	CUresult result = CUDA_SUCCESS;

	pthread_mutex_lock(&lock);
	found = range__of((uintptr_t)address);
	if (!found || !found->registered)
		result = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	else
		range__remove(found);
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult sim_cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags)
{
	if (flags != 1 && flags != 2)
		return CUDA_ERROR_INVALID_VALUE;
	return memory__allocate((uint64_t *)address, bytes, MEMORY_MANAGED);
}

static void unified__report(const struct range *range, uint32_t kind, uint64_t value)
{
	struct simcuda_record record = {.kind = KIND_UNIFIED};

	record.start = clock__now();
	record.end = record.start + copy__duration(range->bytes);
	record.device = range->device;
	record.unified.kind = kind;
	record.unified.value = value;
	record.unified.address = range->start;
	record.unified.source = kind == 2 ? range->device : 0;
	record.unified.target = kind == 2 ? 0 : range->device;
	record__send(&record);
}

/* Moves managed memory to where it is used; true if this is managed memory. */
static bool memory__move(uint64_t address, bool to_gpu, bool fault)
{
	struct range *found, range;
	bool moved = false, managed;

	pthread_mutex_lock(&lock);
	found = range__of(address);
	managed = found && found->kind == MEMORY_MANAGED;
	if (managed) {
		moved = found->on_gpu != to_gpu;
		found->on_gpu = to_gpu;
		range = *found;
	}
	pthread_mutex_unlock(&lock);
	if (moved && record__wanted(KIND_UNIFIED)) {
		if (fault) {
			/* The host had touched it before: one record a fault, with the
			 * instruction that did it for a value, as the real one says. */
			unified__report(&range, 3, (uintptr_t)memory__move);
			unified__report(&range, 4, 1);
		}
		unified__report(&range, to_gpu ? 1 : 2, range.bytes);
	}
	return managed;
}

/* A kernel uses this memory. */
bool memory__touch(uint64_t address, size_t bytes)
{
	return memory__move(address, true, true);
}

CUresult sim_cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
				   unsigned int flags, CUstream handle)
{
	struct simcuda_record record = {0};
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (result)
		return result;
	if (!memory__move(address, location.type == CU_MEM_LOCATION_DEVICE, false))
		return CUDA_ERROR_INVALID_VALUE;
	stream__push(stream, copy__duration(bytes), &record);
	return CUDA_SUCCESS;
}

static CUmemoryPool pool__default(int device)
{
	defaults[device].magic = MAGIC_POOL;
	defaults[device].device = device;
	return &defaults[device];
}

CUresult sim_cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
	if (!pool || device < 0 || device >= device__count())
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	*pool = pool__default(device);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

static void pool__report(CUmemoryPool pool, uint32_t operation, size_t keep)
{
	struct simcuda_record record = {.kind = KIND_POOL};

	if (!record__wanted(KIND_POOL))
		return;
	record.start = record.end = clock__now();
	record.correlation = thread__correlation();
	record.device = pool->device;
	record.pool.operation = operation;
	record.pool.type = 1;
	record.pool.address = (uintptr_t)pool;
	record.pool.size = pool->size;
	record.pool.used = pool->used;
	record.pool.keep = keep;
	record__send(&record);
}

CUresult sim_cuMemPoolCreate(CUmemoryPool *handle, const CUmemPoolProps *properties)
{
	CUmemoryPool pool;

	if (!handle || !properties || properties->location.type != CU_MEM_LOCATION_DEVICE ||
	    properties->location.id >= device__count())
		return CUDA_ERROR_INVALID_VALUE;
	pool = object__new(sizeof(*pool));
	pool->magic = MAGIC_POOL;
	pool->device = properties->location.id;
	*handle = pool;
	pool__report(pool, 1, 0);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolDestroy(CUmemoryPool pool)
{
	if (!pool || pool->magic != MAGIC_POOL || pool == &defaults[pool->device])
		return CUDA_ERROR_INVALID_VALUE;
	pool__report(pool, 2, 0);
	pool->magic = 0;
	object__free(pool);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	if (!pool || pool->magic != MAGIC_POOL)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	while (pool->size >= pool->used + POOL_STEP && pool->size >= keep + POOL_STEP)
		pool->size -= POOL_STEP;
	pthread_mutex_unlock(&lock);
	pool__report(pool, 3, keep);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
				     CUstream handle)
{
	struct range range = {.kind = MEMORY_DEVICE};
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (!address || (pool && pool->magic != MAGIC_POOL))
		return CUDA_ERROR_INVALID_VALUE;
	if (result)
		return result;
	range.device = stream->context->device;
	range.pool = pool;
	if (!pool) {
		pthread_mutex_lock(&lock);
		range.pool = pool__default(range.device);
		pthread_mutex_unlock(&lock);
	}
	result = memory__new(&range, bytes, false);
	if (result)
		return result;
	*address = range.start;
	memory__report(&range, 1, stream);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream handle)
{
	return sim_cuMemAllocFromPoolAsync(address, bytes, NULL, handle);
}

CUresult sim_cuMemFreeAsync(CUdeviceptr address, CUstream handle)
{
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	return result ? result : memory__free(address, 1 << MEMORY_DEVICE, stream);
}
