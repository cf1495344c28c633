/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of one device, from tallies and shapes: of a process for top, of a label set for metrics.
 * Plain data; zeros are the empty sum.
 */
#ifndef CUDA_TRACE_LIVE_LIVE_SUMS_H
#define CUDA_TRACE_LIVE_LIVE_SUMS_H

#include <stdint.h>
#include "bpf/aggregate.h"

struct histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t buckets[AGGREGATE_BUCKETS]; /* b counts values in (2^(b-1), 2^b] */
};

/* Directions of copies: X(enumerator, label) in the order of CUpti_ActivityMemcpyKind's groups */
#define SUMS_DIRECTIONS(X) \
	X(OTHER, "other")  \
	X(H2D, "h2d")      \
	X(D2H, "d2h")      \
	X(D2D, "d2d")      \
	X(H2H, "h2h")      \
	X(P2P, "p2p")

enum sums_direction {
#define SUMS_DIRECTION(name, label) SUMS_##name,
	SUMS_DIRECTIONS(SUMS_DIRECTION)
#undef SUMS_DIRECTION
		SUMS_DIRECTION_COUNT
};

#define SUMS_MEMORY_KINDS      10 /* CUpti_ActivityMemoryKind, others are 0 */
#define SUMS_SYNC_TYPES	       5
#define SUMS_SYNC_STREAM_EVENT 2 /* a stream waits, not the host */
#define SUMS_UVM_COUNTERS      9
#define SUMS_OVERHEAD_KINDS    8

struct sums {
	uint64_t launches; /* of kernels, successful */
	uint64_t launch_errors;
	uint64_t launch_ns;
	struct histogram block_threads;
	struct histogram grid_blocks;
	struct histogram threads;
	uint64_t graph_launches;
	uint64_t graph_errors;
	struct histogram kernels; /* ns */
	uint64_t kernels_max_ns;
	uint64_t busy_ns;	/* of the GPU with kernels of one process; processes add up */
	struct histogram queue; /* ns, of a sample */
	struct {
		uint64_t copies;
		uint64_t bytes;
		struct histogram ns;
	} copies[SUMS_DIRECTION_COUNT];
	uint64_t copies_busy_ns;
	uint64_t memsets;
	uint64_t memset_bytes;
	uint64_t memset_ns;
	struct {
		uint64_t allocations;
		uint64_t allocated; /* bytes */
		uint64_t frees;
		uint64_t freed; /* bytes */
	} memory[SUMS_MEMORY_KINDS];
	struct histogram syncs[SUMS_SYNC_TYPES]; /* ns */
	uint64_t failed[CUDA_GROUP_COUNT];	 /* calls, by family */
	uint64_t errors;			 /* results other than success, each once */
	uint64_t uvm[SUMS_UVM_COUNTERS];
	uint64_t overheads[SUMS_OVERHEAD_KINDS];
	uint64_t overhead_ns[SUMS_OVERHEAD_KINDS];
	uint64_t invalid; /* GPU records without valid times */
};

/* Ignores what is not a sum of a device (names of kernels, result codes); callers use the keys. */
void sums__add_tally(struct sums *sums, const struct tally_key *key, const struct tally *tally);
void sums__add_shape(struct sums *sums, const struct shape *shape);

void histogram__add(struct histogram *histogram, uint64_t sum, const uint32_t *buckets);
void histogram__merge(struct histogram *histogram, const struct histogram *more);
/* The value below which a share (0..1) of the values lies; linear within a bucket; 0 if empty. */
double histogram__quantile(const struct histogram *histogram, double share);

const char *sums__direction_label(enum sums_direction direction);
enum sums_direction sums__direction_of(uint8_t copy_kind);

#endif
