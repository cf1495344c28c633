/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of `stat` beside kernels and launches: copies, memory, waits, graphs, errors. One of a
 * process while it lives, and one of all of them.
 */
#ifndef CUDA_TRACE_STAT_STAT_EVENTS_H
#define CUDA_TRACE_STAT_STAT_EVENTS_H

#include "cuda-trace/base/event_keys.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/stat/stat_errors.h"

/* The last line of each is for all that find no other one. */
#define STAT_MAX_COPIES	 49
#define STAT_MAX_MEMORY	 33 /* of a process: device and kind of memory */
#define STAT_MAX_RANGES	 65

#define STAT_NAME_OTHERS UINT32_MAX

struct stat_span {
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
};

struct stat_copy {
	uint8_t kind; /* CUpti_ActivityMemcpyKind, STAT_COPY_SET, STAT_COPY_OTHERS */
	uint8_t from; /* CUpti_ActivityMemoryKind */
	uint8_t to;
	uint64_t bytes;
	struct stat_span span;
	/* With --sample all of the above but min_ns and max_ns are estimates. */
	uint64_t sampled; /* copies that came */
	double count_error2, bytes_error2, ns_error2;
};

struct stat_memory {
	uint32_t pid; /* in the sum of all processes; 0 = those that found no space there */
	char comm[EVENT_COMM_LEN];
	uint32_t device; /* UINT32_MAX = of none, or several */
	uint8_t kind;	 /* CUpti_ActivityMemoryKind, STAT_KIND_OTHERS */
	uint64_t allocs;
	uint64_t frees;
	uint64_t bytes; /* allocated */
	uint64_t live_bytes;
	uint64_t peak_bytes;
	uint64_t live_count;
};

struct stat_range {
	uint32_t name; /* id, while the process lives */
	char text[96]; /* untrusted */
	struct stat_span span;
};

struct stat_events {
	struct stat_copy copies[STAT_MAX_COPIES];
	uint32_t copy_count;
	struct stat_span syncs[STAT_SYNC_TYPES];
	struct stat_span graphs;	 /* whole graphs on the GPU */
	struct stat_span instantiations; /* of graphs, on the host; failed ones too */
	struct stat_span overhead[9]; /* by kind: low numbers as they are, 1 << 16 … as 2 … */
	struct stat_span jit[STAT_JIT_KINDS];
	uint64_t uvm[STAT_UVM_COUNTERS];	       /* values: bytes or faults */
	struct stat_span uvm_spans[STAT_UVM_COUNTERS]; /* records; those of faults have no length */
	struct stat_errors errors;
	struct stat_range *ranges; /* STAT_MAX_RANGES; NULL until one comes */
	uint32_t range_count;
	uint64_t memcpys;
	uint64_t memcpy_bytes;
	uint64_t memsets;
	uint64_t allocs;
	uint64_t frees;
	uint64_t live_bytes;
	uint64_t waits; /* of the host */
	uint64_t wait_ns;
	uint64_t untracked; /* allocations beyond what is kept: not in live_bytes */
};

struct stat_heap; /* addresses that are allocated, of a process */

struct stat_heap *stat_heap__new(void);
void stat_heap__free(struct stat_heap *heap);

/* True: the record was one of these. */
bool stat_events__record(struct stat_events *events, struct stat_heap *heap,
			 const struct process *process, const struct cuda_record *record);
/* Which line of `copies` a copy or memset belongs to; -1 = other records. */
int stat_events__copy_line(struct stat_events *events, const struct cuda_record *record);
/* Adds those of a process that ends to the sum. */
void stat_events__merge(struct stat_events *sum, struct stat_events *of, struct process *process);

void stat_events__free(struct stat_events *events);

void stat_span__add(struct stat_span *span, uint64_t ns);
void stat_span__merge(struct stat_span *to, const struct stat_span *from);

#endif
