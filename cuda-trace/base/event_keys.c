// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/event_keys.h"

#include <stdio.h>

const char *stat_events__copy_key(uint8_t kind)
{
	static const char *const keys[] = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					   "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};

	if (kind == STAT_COPY_SET)
		return "memset";
	if (kind == STAT_COPY_OTHERS)
		return "others";
	return keys[kind < sizeof(keys) / sizeof(keys[0]) ? kind : 0];
}

const char *stat_events__memory_key(uint8_t kind)
{
	static const char *const keys[] = {"unknown",	    "pageable",	     "pinned",
					   "device",	    "array",	     "managed",
					   "device static", "managed static"};

	if (kind == STAT_KIND_OTHERS)
		return "others";
	return keys[kind < sizeof(keys) / sizeof(keys[0]) ? kind : 0];
}

const char *stat_events__sync_key(int type)
{
	static const char *const keys[STAT_SYNC_TYPES] = {"unknown", "event", "stream_wait_event",
							  "stream", "context"};

	return keys[type];
}

const char *stat_events__uvm_key(int counter)
{
	static const char *const keys[STAT_UVM_COUNTERS] = {
		"unknown",   "htod_bytes", "dtoh_bytes", "cpu_faults", "gpu_faults",
		"thrashing", "throttling", "remote_map", "dtod_bytes"};

	return keys[counter];
}

const char *stat_events__overhead_key(int index)
{
	static const char *const keys[] = {"unknown",	      "driver_compiler", "buffer_flush",
					   "instrumentation", "resource",	 "module_load",
					   "lazy_load",	      "queue_full",	 "buffer_request"};

	return keys[index];
}

const char *stat_events__jit_key(int operation)
{
	static const char *const keys[STAT_JIT_KINDS] = {"unknown", "cache_load", "cache_store",
							 "compile"};

	return keys[operation];
}

int stat_events__overhead_index(uint32_t kind)
{
	uint32_t index = kind >> 16 ? (kind >> 16) + 1 : kind;

	return index < 9 ? (int)index : 0;
}

const char *stat_objects__stream_key(uint32_t flag)
{
	static const char *const keys[] = {"unknown", "default", "non-blocking", "null"};

	return keys[flag < 4 ? flag : 0];
}

char *stat_objects__uuid(char out[48], const char *kind, const uint8_t uuid[16])
{
	static const uint8_t dashes[] = {4, 6, 8, 10};
	char *to = out;

	to += snprintf(to, 8, "%.3s-", kind);
	for (uint8_t i = 0, dash = 0; i < 16; i++) {
		if (dash < 4 && i == dashes[dash]) {
			*to++ = '-';
			dash++;
		}
		to += snprintf(to, 3, "%02x", uuid[i]);
	}
	return out;
}
