/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `stat` knows of devices, contexts, streams and memory pools: of one process while it lives,
 * and of all of them.
 */
#ifndef CUDA_TRACE_STAT_STAT_OBJECTS_H
#define CUDA_TRACE_STAT_STAT_OBJECTS_H

#include "cuda-trace/base/event_keys.h"
#include "cuda-trace/capture/process.h"

#define STAT_MAX_DEVICES  64
#define STAT_MAX_CONTEXTS 128
#define STAT_MAX_STREAMS  128 /* kinds of streams */
#define STAT_MAX_POOLS	  64

struct stat_device {
	char name[64];		   /* untrusted */
	struct cuda_device record; /* of the process that reported it first: its ordinal */
	uint32_t processes;	   /* that have it */
};

struct stat_context {
	uint32_t pid;
	struct cuda_context record;
};

struct stat_streams {
	uint32_t pid;
	uint32_t context;
	int32_t priority;
	uint32_t flag;
	uint64_t count;
};

struct stat_pool {
	uint32_t pid;
	uint32_t device;
	uint64_t address;
	uint64_t peak_size; /* bytes */
	uint64_t peak_used; /* bytes */
	uint64_t threshold; /* bytes */
	uint64_t trims;
	bool imported;
	bool destroyed;
};

/* What finds no line is counted in *_left_out. */
struct stat_objects {
	struct stat_device devices[STAT_MAX_DEVICES];
	struct stat_context contexts[STAT_MAX_CONTEXTS];
	struct stat_streams streams[STAT_MAX_STREAMS];
	struct stat_pool pools[STAT_MAX_POOLS];
	uint32_t device_count, context_count, stream_count, pool_count;
	uint64_t devices_left_out, contexts_left_out, streams_left_out, pools_left_out;
};

/* Takes any record. *objects: NULL until one of these has come, to be freed. */
void stat_objects__record(struct stat_objects **objects, const struct process *process,
			  const struct cuda_record *record);
/* Adds those of a process that ends; accepts NULL. */
void stat_objects__merge(struct stat_objects **sum, const struct stat_objects *of);

#endif
