/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI's PC sampling as the agent uses it: own declarations, as in cupti_api.h, which
 * `make check-layout` compares with a toolkit's headers. Each structure says its size first; a
 * newer libcupti takes an older, smaller one. What is used is there since 12.6.
 */
#ifndef LIBCUPTI_USDT_CUPTI_CUPTI_PC_H
#define LIBCUPTI_USDT_CUPTI_CUPTI_PC_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_PC_REASON_NAME 128 /* bytes of a stall reason's name */

/* CUpti_PCSamplingConfigurationAttributeType */
#define CUPTI_PC_PERIOD	       1
#define CUPTI_PC_REASONS       2
#define CUPTI_PC_SCRATCH_BYTES 3
#define CUPTI_PC_BUFFER_BYTES  4
#define CUPTI_PC_MODE	       5
#define CUPTI_PC_START_STOP    6
#define CUPTI_PC_FORMAT	       7
#define CUPTI_PC_DATA	       8
#define CUPTI_PC_WORKER_MS     9

#define CUPTI_PC_CONTINUOUS    1 /* of CUPTI_PC_MODE */
#define CUPTI_PC_PARSED	       1 /* of CUPTI_PC_FORMAT */

/* The size that a structure says: up to its last field. */
#define CUPTI_PC_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

/* Of Enable, Disable, Start, Stop. */
struct cupti_pc_context {
	size_t size;
	void *private;
	void *context;
};

/* GetNumStallReasons, GetStallReasons */
struct cupti_pc_reason_count {
	size_t size;
	void *private;
	void *context;
	size_t *count;
};

struct cupti_pc_reasons {
	size_t size;
	void *private;
	void *context;
	size_t count;
	uint32_t *indexes;
	char **names;
};

/* SetConfigurationAttribute, GetConfigurationAttribute */
struct cupti_pc_attribute {
	int type;
	int status;
	union {
		uint64_t reserved[3];
		uint32_t number;
		size_t bytes;
		void *data;
		struct {
			size_t count;
			uint32_t *indexes;
		} reasons;
	};
};

struct cupti_pc_configuration {
	size_t size;
	void *private;
	void *context;
	size_t count;
	struct cupti_pc_attribute *attributes;
};

/* GetData */
struct cupti_pc_stall {
	uint32_t reason; /* index */
	uint32_t samples;
};

struct cupti_pc_record {
	size_t size;
	uint64_t cubin; /* checksum */
	uint64_t offset;
	uint32_t function_index;
	uint32_t pad;
	char *function;
	size_t stall_count;
	struct cupti_pc_stall *stalls;
	uint32_t correlation;
	uint32_t pad2;
};

struct cupti_pc_data {
	size_t size;
	size_t capacity; /* records that fit */
	uint64_t total;
	uint64_t dropped;
	size_t count;
	size_t remaining;
	uint64_t range;
	struct cupti_pc_record *records;
	uint64_t other; /* samples of kernels that are not the program's */
	uint8_t full;	/* the GPU's buffer was */
	uint8_t pad[7];
};

struct cupti_pc_get {
	size_t size;
	void *private;
	void *context;
	void *data;
};

/* cuptiGetSassToSourceCorrelation */
struct cupti_source_line {
	size_t size;
	const void *cubin;
	const char *function;
	size_t cubin_size;
	uint32_t line;
	uint64_t offset;
	char *file; /* this and the next are the caller's to free */
	char *folder;
};

/* cuptiGetCubinCrc */
struct cupti_cubin_checksum {
	size_t size;
	size_t cubin_size;
	const void *cubin;
	uint64_t checksum;
};

typedef void (*cupti_checksum_callback)(const void *cubin, size_t size, uint64_t *checksum);

#endif
