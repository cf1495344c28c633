/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the simulated libcuda.so.1: the objects behind the handles and what its files share.
 * All of it runs on any thread of the program.
 */
#ifndef TESTS_SIMCUDA_CUDA_DRIVER_H
#define TESTS_SIMCUDA_CUDA_DRIVER_H

#include <pthread.h>
#include "tests/simcuda/bridge.h"

/* CUPTI's numbers of the activity kinds and resource events that libcuda reports. */
enum {
	KIND_MEMCPY = 1,
	KIND_MEMSET = 2,
	KIND_SERIAL_KERNEL = 3,
	KIND_DEVICE = 8,
	KIND_CONTEXT = 9,
	KIND_KERNEL = 10,
	KIND_OVERHEAD = 17,
	KIND_MEMCPY_PEER = 22,
	KIND_UNIFIED = 25,
	KIND_STREAM = 37,
	KIND_SYNC = 38,
	KIND_MEMORY = 49,
	KIND_POOL = 50,
	KIND_GRAPH = 51,
	KIND_JIT = 52,
};
/* A thread of any kernel has so many. */
#define REGISTERS 16

enum {
	RESOURCE_CONTEXT_CREATED = 1,
	RESOURCE_CONTEXT_DESTROY = 2,
	RESOURCE_STREAM_CREATED = 3,
	RESOURCE_STREAM_DESTROY = 4,
	RESOURCE_INIT_FINISHED = 5,
	RESOURCE_MODULE_LOADED = 6,
	RESOURCE_MODULE_UNLOAD = 7,
	RESOURCE_MODULE_PROFILED = 8,
	RESOURCE_GRAPH_CREATED = 9,
	RESOURCE_GRAPH_DESTROY = 10,
	RESOURCE_GRAPH_CLONED = 11,
	RESOURCE_NODE_CREATED = 13,
	RESOURCE_NODE_DESTROY = 14,
	RESOURCE_EXEC_CREATE = 17, /* is about to be */
	RESOURCE_EXEC_CREATED = 18,
	RESOURCE_EXEC_DESTROY = 19,
	RESOURCE_NODE_CLONED = 20,
};
enum { SYNC_EVENT = 1, SYNC_STREAM_WAIT = 2, SYNC_STREAM = 3, SYNC_CONTEXT = 4 };
enum {
	MEMORY_PAGEABLE = 1,
	MEMORY_PINNED = 2,
	MEMORY_DEVICE = 3,
	MEMORY_MANAGED = 5,
	MEMORY_STATIC = 6
};

enum { OVERHEAD_FUNCTION_LOADING = 5 << 16, OVERHEAD_QUEUE_FULL = 6 << 16 };

/* First word of every object: a handle of another kind, or a stale one, is distinguished from a
 * good one. */
enum {
	MAGIC_CONTEXT = 0x43545831,
	MAGIC_STREAM = 0x53545231,
	MAGIC_EVENT = 0x45565431,
	MAGIC_MODULE = 0x4d4f4431,
	MAGIC_FUNCTION = 0x46554e31,
	MAGIC_GRAPH = 0x47524131,
	MAGIC_NODE = 0x4e4f4431,
	MAGIC_EXEC = 0x45584531,
	MAGIC_POOL = 0x504f4f31,
};

struct settings {
	uint64_t kernel_ns; /* 0: by grid and block */
	uint64_t latency_ns;
	uint64_t wake_ns;
	uint64_t graph_ms;
	uint64_t graph_fault; /* so many launches of graphs with kernels timed end in 719 */
	uint64_t launch_ns, return_ns;
	uint64_t record_ns; /* more for a launch while CUPTI wants kernels */
	uint64_t copy_bytes_per_us;
	uint64_t memory_bytes;
	int devices;
	bool peer_access;
	int version;
	uint64_t fail_launch; /* every N-th launch fails, 0: none */
	uint64_t fail_wait;   /* every N-th wait of the host fails, 0: none */
	uint64_t gone_after;  /* so many launches the driver ends, 0: when the process does */
	int fork_in_init;
	uint64_t starve; /* CUPTI's first subscription waits for launches */
	int names_reused;
};

struct CUstream_st {
	uint32_t magic;
	uint32_t id;
	CUcontext context;
	unsigned int flags;
	int priority;
	pthread_mutex_t lock;
	uint64_t end;	     /* ns: when the last work put on it is done */
	CUgraph capture;     /* not NULL: calls become nodes */
	unsigned int breaks; /* of captures, before this one began */
	struct CUstream_st *next, **link;
};

struct CUctx_st {
	uint32_t magic;
	uint32_t id;
	int device;
	bool primary;
	int references;
	_Atomic uint64_t end; /* the latest end of all its streams */
	pthread_mutex_t lock; /* guards streams */
	struct CUstream_st *streams;
	CUstream null_stream, thread_stream;
	struct CUctx_st *next, **link;
};

struct CUfunc_st {
	uint32_t magic;
	const char *name;	     /* interned */
	const char *shown;	     /* the same, as callbacks have it */
	uint32_t place;		     /* of shown; 0: its own */
	const struct kernel *kernel; /* what is known of it, or NULL */
	CUmodule module;
	unsigned int static_shared, max_dynamic_shared;
	_Atomic bool loaded; /* the first launch loads it */
	struct CUfunc_st *next;
};

/* A kernel that the simulation knows by name: its parameters, its effect, its duration. */
struct kernel {
	const char *name;
	unsigned int parameters;
	unsigned int sizes[4];
	void (*run)(void **parameters, uint64_t threads);
	uint64_t (*duration)(void **parameters);
};

struct thread {
	CUcontext stack[16];
	int depth;
	struct simcuda_call *call; /* innermost API call in progress */
	uint32_t tid;
	struct thread *next, **link;
};

struct launch {
	CUfunction function;
	unsigned int grid[3], block[3], cluster[3];
	unsigned int shared;
	uint8_t type;
	void **parameters;
	bool of_body; /* the GPU launches it, so no call of the program's does */
};

#define SIM_IMPLEMENTATION(cbid, name, ...) CUresult sim_##name(SIM_PARAMETERS(__VA_ARGS__));
#define SIM_IMPLEMENTATION_BARE(cbid, name) CUresult sim_##name(void);
DRIVER_CALLS(SIM_IMPLEMENTATION)
DRIVER_CALLS_BARE(SIM_IMPLEMENTATION_BARE)

const struct settings *settings__get(void);
void energy_log__kernel(const char *kernel, int device, uint64_t start, uint64_t end);
void log__line(const char *format, ...) __attribute__((format(printf, 1, 2)));

void *object__new(size_t size);
void object__free(void *object);

uint64_t clock__now(void);
void clock__wait_until(uint64_t time);

struct thread *thread__current(void);
void starving__enter(void);
void starving__leave(void);
void starving__wait(uint64_t ms);
void graph__wait_lock(void);
uint32_t thread__correlation(void);

CUresult init__error(uint32_t cbid);
void call__enter(const struct simcuda_hooks *hooks, struct simcuda_call *call);
int call__leave(const struct simcuda_hooks *hooks, struct simcuda_call *call, int result);

int device__count(void);
void device__dump(void);

CUresult context__current(CUcontext *context);
CUcontext context__peek(void);
bool context__was_any(void);
bool context__ids(CUcontext context, uint32_t *id, uint32_t *device);
void context__dump(uint32_t kind);
void context__destroy(CUcontext context);

CUresult stream__resolve(CUstream handle, CUstream *stream);
/* What a wait of the host ends with: see SIMCUDA_FAIL_WAIT. */
CUresult wait__result(void);
CUstream stream__new(CUcontext context, unsigned int flags, int priority);
void stream__free(CUstream stream);
bool stream__id(CUcontext context, CUstream handle, uint32_t *id);
void stream__report(CUstream stream);
void stream__break_captures(void);
/* Puts work of that many ns on the stream and reports the record, whose times it fills in. */
void overhead__report(uint32_t kind, uint64_t start, uint64_t end);
/* When work that is put on it now would start. */
uint64_t stream__next_start(CUstream stream);
/* record->start is kept unless it is 0. */
void stream__push(CUstream stream, uint64_t ns, struct simcuda_record *record);

/* Is this kind of record wanted just now? */
static inline bool record__wanted(uint32_t kind)
{
	return atomic_load_explicit(&simcuda_bridge.kinds, memory_order_relaxed) >> kind & 1;
}
void record__send(struct simcuda_record *record);
void record__place(struct simcuda_record *record, uint32_t kind, CUstream stream);

const char *name__intern(const char *text, size_t length);
const struct kernel *kernel__find(const char *name);
uint64_t kernel__duration(const struct launch *launch);
/* A kernel of the simulated NCCL, which lasts until all ranks have come: the caller waits for that.
 * False: it is another one. */
/* Of the simulated NCCL: its only parameter is the address of a struct nccl_meeting. */
bool launch__is_collective(const struct launch *launch);
bool kernel__meets(const struct launch *launch, uint64_t start, uint64_t *ns);
void kernel__run(const struct launch *launch);
bool function__valid(CUfunction function);
const char *function__name(const void *function);
const char *function__shown(const void *function);
/* The first whose records were wanted of all that were shown there. */
const char *function__remembered(CUfunction function);
/* From now on launches find no driver (x86-64). */
void wrapper__end(void);
/* Is it the turn of one that fails? */
bool launch__fails(void);
CUresult launch__check(const struct launch *launch);
void launch__push(CUstream stream, const struct launch *launch, uint32_t graph, uint64_t node);

int memory__kind(uint64_t address, uint32_t *device);
/* A variable of a module that was loaded; nobody frees it. */
void memory__report_static(uint64_t address, size_t bytes);
bool memory__touch(uint64_t address, size_t bytes);

CUresult graph__add_kernel(CUgraph graph, const struct launch *launch, CUgraphNode *node);
CUresult graph__add_copy(CUgraph graph, const struct simcuda_record *record, void *target,
			 const void *source, CUgraphNode *node);
CUresult graph__add_set(CUgraph graph, const struct simcuda_record *record, void *target,
			size_t element, CUgraphNode *node);
CUgraph graph__new(void);
uint64_t graph__node_id(CUgraphNode node);
uint32_t graph__id(CUgraph graph);
uint32_t graph__exec_id(CUgraphExec exec);

void copy__fill(void *target, unsigned int value, size_t element, size_t count);
uint64_t copy__duration(size_t bytes);

#endif
