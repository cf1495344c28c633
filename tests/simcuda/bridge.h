/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the simulated libcuda reports to the simulated libcupti what happens: one table that libcuda
 * exports, as the real one has its export tables. While hooks is NULL, nobody looks, and a call
 * pays one load for it. libcudart reports its calls through the same table.
 */
#ifndef TESTS_SIMCUDA_BRIDGE_H
#define TESTS_SIMCUDA_BRIDGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include "tests/simcuda/cuda.h"

enum simcuda_domain { SIMCUDA_DRIVER = 1, SIMCUDA_RUNTIME = 2 };

/* One API call in progress; lives on the caller's stack, linked to the call that it is made from.
 */
struct simcuda_call {
	uint32_t domain;
	uint32_t cbid;
	const char *name;
	const void *params;
	const char *symbol;
	CUcontext context;
	uint32_t context_id;
	uint32_t correlation;
	int result;
	uint64_t start;
	uint64_t slot; /* what correlationData points to between entry and exit */
	struct simcuda_call *outer;
};

/* One activity, in units of CLOCK_MONOTONIC; kind is CUPTI's number of the activity kind. */
struct simcuda_record {
	uint32_t kind;
	uint32_t correlation;
	uint64_t start, end;
	uint32_t device, context, stream, graph;
	uint64_t graph_node;
	union {
		struct {
			const char *name;	/* lives as long as the process */
			const char *remembered; /* likewise: CUPTI's first at its address */
			uint32_t grid[3], block[3], cluster[3];
			uint32_t static_shared, dynamic_shared, local;
			uint16_t registers;
			uint8_t launch_type;
		} kernel;
		struct {
			uint64_t bytes;
			uint8_t kind, source, target, flags;
			uint32_t source_device, source_context, target_device, target_context;
		} copy;
		struct {
			uint64_t bytes;
			uint32_t value;
			uint16_t flags, memory;
		} set;
		struct {
			uint32_t cbid, pid, tid, result;
		} api;
		struct {
			uint64_t address, bytes, pool, pool_size, pool_used, threshold;
			uint32_t operation, memory, async, pool_type;
		} memory;
		struct {
			uint64_t address, size, used, threshold, keep;
			uint32_t operation, type;
		} pool;
		struct {
			uint32_t type, event, result;
		} sync;
		struct {
			uint32_t kind, tid;
		} overhead;
		struct {
			uint64_t value, address;
			uint32_t kind, source, target, flags;
		} unified;
		struct {
			uint32_t null_stream;
		} context_info;
		struct {
			uint32_t priority, flag;
		} stream_info;
		struct {
			uint64_t cache_size;
			uint32_t entry, operation, tid;
		} jit;
		struct {
			const char *name, *domain; /* live as long as the process */
			uint32_t id, flags, tid, color, category;
		} marker;
	};
};

struct simcuda_hooks {
	void (*enter)(struct simcuda_call *call);
	void (*leave)(struct simcuda_call *call);
	void (*record)(const struct simcuda_record *record);
	/* CUPTI's number of the resource event; handle is the stream, descriptor its extra data. */
	void (*resource)(uint32_t cbid, CUcontext context, CUstream handle, void *descriptor);
	void (*synchronized)(uint32_t cbid, CUcontext context, CUstream stream);
	/* In the middle of a graph's launch, which holds the driver's lock; NULL: not wanted. */
	void (*graph)(void);
	/* In the call that launches it, by itself or in a graph: when it ends. */
	void (*ran)(const char *kernel, uint64_t end);
};

struct simcuda_bridge {
	_Atomic(const struct simcuda_hooks *) hooks;
	_Atomic uint64_t kinds;	      /* bit (1 << kind): somebody wants these records */
	_Atomic uint32_t correlation; /* last one given out */
	_Atomic bool forked;	      /* this is a child: no lock may be taken */

	void (*enter)(const struct simcuda_hooks *hooks, struct simcuda_call *call);
	int (*leave)(const struct simcuda_hooks *hooks, struct simcuda_call *call, int result);
	/* One line into the file that SIMCUDA_LOG names. */
	void (*log)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	void (*wait_no_launch)(uint64_t ms); /* for a moment without one, so long at most */
	void (*wait_no_graph)(void);	     /* for the lock that launches of graphs hold */
	int (*device_count)(void);
	bool (*has_context)(void); /* was there ever one? */
	bool (*context_ids)(CUcontext context, uint32_t *id, uint32_t *device);
	bool (*stream_id)(CUcontext context, CUstream stream, uint32_t *id);
	uint64_t (*graph_node_id)(CUgraphNode node);
	uint32_t (*graph_id)(CUgraph graph);
	uint32_t (*graph_exec_id)(CUgraphExec exec);
	/* Reports what exists already as records of that kind (context 9, stream 37, device 8). */
	void (*dump)(uint32_t kind);
	CUcontext (*current)(void);
	const char *(*intern)(const char *text, size_t length); /* a copy for the process's life */
	const char *(*kernel_name)(const void *kernel);		/* NULL: no kernel */
	void (*break_captures)(void); /* all that are under way will fail */
};

extern struct simcuda_bridge simcuda_bridge __attribute__((visibility("default")));

#endif
