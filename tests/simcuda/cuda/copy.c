// SPDX-License-Identifier: BSD-2-Clause
// Copies and fills: done at once and for real, timed on the stream as a GPU would take.
#include <string.h>
#include "tests/simcuda/cuda/driver.h"

/* CUPTI's kinds of copy. */
enum { COPY_HTOD = 1, COPY_DTOH = 2, COPY_DTOD = 8, COPY_HTOH = 9, COPY_PTOP = 10 };

uint64_t copy__duration(size_t bytes)
{
	return 1000 + bytes * 1000 / settings__get()->copy_bytes_per_us;
}

static bool on_device(int memory)
{
	return memory == MEMORY_DEVICE || memory == MEMORY_MANAGED;
}

/* To the host, and from there to the other one: two records of one call. */
static void push_staged(CUstream stream, struct simcuda_record *record)
{
	record->kind = KIND_MEMCPY;
	record->copy.kind = COPY_DTOH;
	stream__push(stream, copy__duration(record->copy.bytes), record);
	record->copy.kind = COPY_HTOD;
	record->device = record->copy.target_device;
	stream__push(stream, copy__duration(record->copy.bytes), record);
}

/* wait: the host returns when the copy is done; kind 0: to be found from the addresses */
static CUresult copy(uint64_t target, uint64_t source, size_t bytes, CUstream handle, bool wait,
		     bool async, int kind)
{
	struct simcuda_record record = {0};
	uint32_t target_device = 0, source_device = 0;
	int to = memory__kind(target, &target_device), from = memory__kind(source, &source_device);
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (result)
		return result;
	if (!bytes)
		return CUDA_SUCCESS;
	if (((kind == COPY_HTOD || kind == COPY_DTOD) && !on_device(to)) ||
	    ((kind == COPY_DTOH || kind == COPY_DTOD) && !on_device(from)))
		return CUDA_ERROR_INVALID_VALUE;
	if (!kind)
		kind = on_device(to) ? (on_device(from) ? COPY_DTOD : COPY_HTOD)
				     : (on_device(from) ? COPY_DTOH : COPY_HTOH);
	if (kind == COPY_DTOD && target_device != source_device)
		kind = COPY_PTOP;
	record__place(&record, kind == COPY_PTOP ? KIND_MEMCPY_PEER : KIND_MEMCPY, stream);
	record.copy.bytes = bytes;
	record.copy.kind = kind;
	record.copy.source = from;
	record.copy.target = to;
	record.copy.flags = async;
	record.copy.source_device = source_device;
	record.copy.target_device = target_device;
	if (stream->capture)
		return graph__add_copy(stream->capture, &record, (void *)(uintptr_t)target,
				       (const void *)(uintptr_t)source, NULL);
	memmove((void *)(uintptr_t)target, (const void *)(uintptr_t)source, bytes);
	if (kind == COPY_PTOP && !settings__get()->peer_access)
		push_staged(stream, &record);
	else
		stream__push(stream, copy__duration(bytes), &record);
	if (wait)
		clock__wait_until(record.end);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
	return copy(target, source, bytes, NULL, true, false, 0);
}

CUresult sim_cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream)
{
	return copy(target, source, bytes, stream, false, true, 0);
}

CUresult sim_cuMemcpyHtoD_v2(CUdeviceptr target, const void *source, size_t bytes)
{
	return copy(target, (uintptr_t)source, bytes, NULL, true, false, COPY_HTOD);
}

CUresult sim_cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes,
				  CUstream stream)
{
	return copy(target, (uintptr_t)source, bytes, stream, false, true, COPY_HTOD);
}

CUresult sim_cuMemcpyDtoH_v2(void *target, CUdeviceptr source, size_t bytes)
{
	return copy((uintptr_t)target, source, bytes, NULL, true, false, COPY_DTOH);
}

CUresult sim_cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes, CUstream stream)
{
	return copy((uintptr_t)target, source, bytes, stream, false, true, COPY_DTOH);
}

CUresult sim_cuMemcpyDtoD_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
	return copy(target, source, bytes, NULL, false, false, COPY_DTOD);
}

CUresult sim_cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
				  CUstream stream)
{
	return copy(target, source, bytes, stream, false, true, COPY_DTOD);
}

CUresult sim_cuMemcpyPeer(CUdeviceptr target, CUcontext to, CUdeviceptr source, CUcontext from,
			  size_t bytes)
{
	return copy(target, source, bytes, NULL, false, false, COPY_DTOD);
}

CUresult sim_cuMemcpyPeerAsync(CUdeviceptr target, CUcontext to, CUdeviceptr source, CUcontext from,
			       size_t bytes, CUstream stream)
{
	return copy(target, source, bytes, stream, false, true, COPY_DTOD);
}

void copy__fill(void *target, unsigned int value, size_t element, size_t elements)
{
	unsigned char *at = target;

	if (element == 1)
		memset(target, value, elements);
	else
		for (size_t i = 0; i < elements; i++)
			memcpy(at + i * element, &value, element);
}

static CUresult fill(CUdeviceptr target, unsigned int value, size_t element, size_t elements,
		     CUstream handle, bool async)
{
	struct simcuda_record record = {0};
	uint32_t device = 0;
	int memory = memory__kind(target, &device);
	CUstream stream;
	CUresult result = stream__resolve(handle, &stream);

	if (result)
		return result;
	if (!on_device(memory) && memory != MEMORY_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	if (!elements)
		return CUDA_SUCCESS;
	record__place(&record, KIND_MEMSET, stream);
	record.set.bytes = element * elements;
	record.set.value = value;
	record.set.flags = async;
	record.set.memory = memory;
	if (stream->capture)
		return graph__add_set(stream->capture, &record, (void *)(uintptr_t)target, element,
				      NULL);
	copy__fill((void *)(uintptr_t)target, value, element, elements);
	stream__push(stream, copy__duration(element * elements), &record);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemsetD8_v2(CUdeviceptr target, unsigned char value, size_t elements)
{
	return fill(target, value, 1, elements, NULL, false);
}

CUresult sim_cuMemsetD16_v2(CUdeviceptr target, unsigned short value, size_t elements)
{
	return fill(target, value, 2, elements, NULL, false);
}

CUresult sim_cuMemsetD32_v2(CUdeviceptr target, unsigned int value, size_t elements)
{
	return fill(target, value, 4, elements, NULL, false);
}

CUresult sim_cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t elements,
			     CUstream stream)
{
	return fill(target, value, 1, elements, stream, true);
}

CUresult sim_cuMemsetD32Async(CUdeviceptr target, unsigned int value, size_t elements,
			      CUstream stream)
{
	return fill(target, value, 4, elements, stream, true);
}
