/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rows refer to: processes with their names, devices, contexts, streams. Inside of the import.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_OBJECTS_H
#define CUDA_TRACE_RECORDING_STORE_OBJECTS_H

#include <stdbool.h>
#include "cuda-trace/base/names.h"
#include "cuda-trace/recording/store_callstacks.h"
#include "cuda-trace/recording/store_rows.h"
#include "cuda-trace/recording/store_text.h"

#define ROWS_CALLS    1024
#define ROWS_CONTEXTS 64
#define ROWS_SHAPES   256

struct store_collectives;

/* StringIds of one name; -1 = not made yet. */
struct rows_name {
	int64_t plain, pretty, brief;
	bool domain_made;	  /* there is a row of NVTX_EVENTS for this domain */
	int64_t category;	  /* the last NVTX category of this name that has one */
	uint32_t category_domain; /* and that one's */
	bool category_made;
};

struct rows_process {
	bool used;
	struct spool_process info;
	int64_t global_pid;
	uint64_t ended;	 /* 0 = not known */
	uint32_t source; /* enum event_source, the last */
	bool has_status;
	struct cuda_status status;
	struct names *texts;
	struct payload_parts *payloads;
	struct rows_name *names;
	size_t name_capacity;
	struct {
		uint32_t context, device;
	} contexts[ROWS_CONTEXTS];
	size_t context_count;
	struct store_collectives *collectives; /* NULL = none came */
};

/* Of a launch: grid, block, shared bytes. */
struct rows_shape {
	uint32_t sizes[7];
	uint32_t id; /* 0 = free */
};

struct rows {
	struct db *db;
	struct store_callstacks *callstacks;
	uint64_t epoch;
	bool gaps; /* kernels are of windows only */
	uint64_t count;
	struct rows_process *processes;
	size_t process_capacity;
	int64_t calls[2][ROWS_CALLS];
	struct rows_shape shapes[ROWS_SHAPES]; /* the last of each hash: others get another id */
	uint32_t shape_count;
	uint64_t *failures; /* open addressing: keys of failed calls, 0 = free */
	size_t failure_capacity, failure_count;
	int64_t *thread_texts; /* StringIds by the number of SPOOL_TEXT; 0 = did not come */
	size_t thread_text_capacity;
	char *threads; /* what is missing of thread states, "" = nothing; NULL = there are none */
};

/* A globalPid. */
int64_t store_objects__global_pid(uint32_t pid);
struct rows_process *store_objects__find(struct rows *rows, uint32_t number);
/* StringIds of a kernel's name; NULL without memory. */
const struct rows_name *store_objects__kernel_name(struct rows *rows, struct rows_process *process,
						   uint32_t id);
/* StringIds id of any other name, not demangled; -errno. */
int64_t store_objects__plain_name(struct rows *rows, const struct rows_process *process,
				  uint32_t id);
/* What is known of a name, made if needed; NULL without memory. */
struct rows_name *store_objects__name(struct rows_process *process, uint32_t id);
int64_t store_objects__device_of(const struct rows_process *process, uint32_t context);
/* The id of a launch's shape, which gets a row; DB_NULL for a graph; -errno. */
int64_t store_objects__shape(struct rows *rows, const struct cuda_launch *launch);
bool store_objects__seen_failure(struct rows *rows, const struct rows_process *process,
				 const struct cuda_api *call);
/* Fills in the arguments of a failed call, from `bytes` on. */
int store_objects__arguments(struct rows *rows, struct rows_process *process,
			     const struct cuda_api *call, union record_row *row);
/* Devices, contexts, streams; other kinds are of a newer version and skipped. */
int store_objects__object(struct rows *rows, struct rows_process *process,
			  const union any_record *record);

#endif
