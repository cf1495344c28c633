/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tool's side of the aggregate eBPF program: open, add files, collect, close. The program adds
 * batches up in the kernel; collect() returns what was added since the last call, exactly once.
 * Used by live.c; one thread at a time.
 */
#ifndef CUDA_TRACE_LIVE_AGGREGATE_H
#define CUDA_TRACE_LIVE_AGGREGATE_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/aggregate.h"
#include "bpf/event.h"

struct aggregate;
struct driver_source;
struct left_out;

struct aggregate_options {
	struct stream_settings filter;
	int pids;	 /* the map of filter.by_pid; -1 = own */
	uint32_t groups; /* bits (1 << enum cuda_group) */
	bool by_name;
	bool spans;		   /* aggregate__spans() is wanted */
	bool shares;		   /* aggregate__shares() is wanted */
	uint32_t queue_sample;	   /* a power of two; 0 = default */
	int driver_pids;	   /* the session's map of that name; -1 = only agents */
	const char *comm;	   /* which processes the driver source traces; NULL = any */
	int64_t uid;		   /* the same; -1 = any */
	struct left_out *left_out; /* of the session */
};

/* Called from aggregate__collect(): first every live process and device, then the sums. */
struct aggregate_sink {
	void *context;
	void (*process)(void *context, uint32_t slot, const struct aggregate_process_key *key,
			const struct aggregate_process *process);
	void (*device)(void *context, uint32_t slot, const struct cuda_device *device);
	void (*tally)(void *context, const struct tally_key *key, const struct tally *tally);
	void (*shape)(void *context, const struct shape_key *key, const struct shape *shape);
};

/* The program's own counters. */
struct aggregate_state {
	struct aggregate_counters counters;
	uint64_t batches;
	uint64_t program_ns; /* spent in the traced programs' threads */
	uint64_t keys;	     /* in use at the last collect */
	/* Since the start: how long each GPU was busy, and copied, with all processes. */
	uint64_t gpu_busy_ns[AGGREGATE_DEVICES], gpu_copy_ns[AGGREGATE_DEVICES];
};

/* NULL after an error, which is printed on stderr (one line). */
struct aggregate *aggregate__open(const struct aggregate_options *options);
/* Attaches the batch probes of one library file; 0 or -errno (said). */
int aggregate__add_file(struct aggregate *aggregate, const char *path);
/* No process maps it any more. */
void aggregate__drop_file(struct aggregate *aggregate, const char *path);
/* 0; -EAGAIN: a batch has been in progress for too long, the next call returns what it adds. */
int aggregate__collect(struct aggregate *aggregate, const struct aggregate_sink *sink);
/* The process has ended, and its last sums were collected after that: frees its slot. */
void aggregate__forget(struct aggregate *aggregate, uint32_t slot,
		       const struct aggregate_process_key *key, uint32_t serial);
/* The driver source that feeds it, for the session, which owns it from then on; NULL = none. */
struct driver_source *aggregate__release_driver(struct aggregate *aggregate);
void aggregate__state(const struct aggregate *aggregate, struct aggregate_state *state);
/* All launches since the start, by how long they took: of all lanes, wrapping. */
void aggregate__spans(const struct aggregate *aggregate, struct aggregate_spans *sum);
/* The program's memory for the shares of GPUs, as bpf/gpu_shares.h has it. */
struct aggregate_shares {
	uint64_t *words; /* NULL = not wanted */
	const uint64_t *busy_words;
	uint64_t *owners, *taken;
	const uint64_t *points, *gpu_points, *late;
};
struct aggregate_shares aggregate__shares(const struct aggregate *aggregate);
/* Detaches; the agents become dormant. collect() still works, for the rest. */
void aggregate__detach(struct aggregate *aggregate);
void aggregate__close(struct aggregate *aggregate);

#endif
