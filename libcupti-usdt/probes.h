/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * CONTRACT 1: what the agent, libcupti-usdt.so, emits. Every probe, its arguments and their order,
 * and the layout of the records that batch probes carry. Included by the agent, bpf/, cuda-trace/,
 * and shipped to others; libcupti-usdt(7) is the same text for people.
 *
 * Provider "cuda". All times are nanoseconds of the machine's CLOCK_MONOTONIC (the clock of
 * bpf_ktime_get_ns()), also in processes whose time namespace has another one.
 * Integers are host-endian. A consumer steps through a batch by head.size and skips kinds that it
 * does not know, so that records may grow at their end and kinds may be added without a new version.
 * A change of meaning, order or offset raises CUDA_PROBES_VERSION.
 *
 * Batch probes (the cheap way; one hit carries many records):
 *   cuda:launch_batch (records *, u32 bytes, u32 count, u64 first, u64 instance)
 *   cuda:kernel_batch (the same)
 *   ... one <group>_batch for each group below, see CUDA_GROUPS.
 *     first     how many records of this group the process had emitted before this batch: a gap
 *               between what arrived and what was numbered is a loss
 *     instance  identifies this load of the library; a process that execs gets a new one
 *   Records are sent when a batch is full, and every 100 ms at the latest.
 *
 * Names and state (rare; every consumer of batches wants them too):
 *   cuda:name   (u64 instance, u32 id, const char *name, u32 length)
 *     Sent when a name is first seen, and again for all names: when a consumer attaches (see
 *     cuda:hello_0), and every second or so while somebody listens (every few, if there are
 *     thousands). name is NUL-terminated, mangled, cut at CUDA_NAME_MAX - 1 bytes; length is not.
 *   cuda:status (const struct cuda_status *, u32 size)
 *     Sent at every change of state, whenever all names are, and at the end of the process
 *     (state CUDA_STATE_ENDED): a process that vanishes without it was killed.
 *   cuda:lost   (u32 reason, u64 count, u64 total, u64 instance)
 *   cuda:error  (s32 code, const char *component, const char *message, u64 instance)
 *     An error of the library itself, never the program's. code: CUptiResult, -errno, or
 *     enum cuda_agent_error from 10000 on.
 *   cuda:sandboxed (u64 instance)
 *     a listener keeps the library asleep in this process for good, and makes sure that it makes no
 *     system call: to be listened to before anything else, in this process alone, where there are
 *     more seccomp filters than it had at its start
 *   cuda:start  (u64 instance, u32 milliseconds), cuda:watched (u64 instance)
 *     The library was loaded; fire once. A consumer that means some processes listens to start in all
 *     of them, which switches nothing on, and then to what it wants in this one alone, to watched
 *     last: the program waits for it inside cuInit(), so many milliseconds at most.
 *   cuda:cubin  (u64 checksum, const void *image, u64 bytes, u64 instance)
 *     A module was loaded, while somebody listens to PC samples. image is there until the probe
 *     returns: whoever wants it copies it. checksum is the cubin of samples.
 *   cuda:cupti_wanted (u64 instance, u32 socket, u32 driver)
 *     The process's file system has no libcupti: a consumer may send an open one (SCM_RIGHTS) by this
 *     descriptor of the process, within 300 ms. driver: as cuDriverGetVersion() has it.
 *   cuda:cupti_claim, cuda:cupti_release, cuda:yield: see YIELDING in libcupti-usdt(7)
 *   cuda:sample_on_<MS> (u64 instance), cuda:sample_every_<MS> (u64 instance)
 *     Switches, not events; see CUDA_SAMPLE_ON. They fire once, when a cycle begins.
 *   cuda:nvtx_open (u64 instance)
 *     A switch, not an event; see CUDA_RECORD_NVTX_OPEN. Fires when the library begins to see ranges.
 *   cuda:hello_0 ... cuda:hello_7 (u64 instance)
 *     For consumers that come while others are listening: the kernel raises a semaphore once
 *     a probe and process, however many consumers attach to it, so a second one at cuda:name and
 *     cuda:status is not noticed. It attaches to one of these as well, any one; if no other consumer
 *     is attached to the same one, names and status are sent again, and then all eight fire.
 *   cuda:flush (u64 instance)
 *     A request, not an event: as its semaphore rises, all that has been recorded is sent, also what
 *     CUPTI would keep for longer. Then the status is sent, with the time from which on more may come
 *     (flushed), and it fires. For consumers that are about to go: while nobody else listens, what
 *     is launched from then on gets no times as long as the semaphore is up, for 2 s at most; and if
 *     work goes on for 90 ms, CUPTI hands out buffers in which it is unfinished, which is lost then.
 *
 * Readable probes, for bpftrace, perf and systemtap (cost more: one hit an event; fire only while their
 * own semaphore is up; plain scalars and NUL-terminated strings):
 *   cuda:kernel_launch (start, end, correlation, name *, result, stream, grid x, y, z, block x, y, z)
 *   cuda:runtime_launch (the same, of the runtime API's call)
 *   cuda:kernel_exec   (start, end, correlation, name *, device, stream, context, graph, graph
 *                       node, registers, static shared, dynamic shared)
 *   cuda:memcpy        (start, end, correlation, bytes, copy kind, device, stream, source kind,
 *                       destination kind, source device, destination device, flags)
 *   cuda:memset        (start, end, correlation, bytes, device, stream, value, memory kind,
 *                       context, flags, graph, graph node)
 *   cuda:memory        (time, operation, kind, address, bytes, device, correlation, context,
 *                       stream, asynchronous, pool address, pool bytes in use)
 *   cuda:memory_pool   (time, operation, address, size, bytes in use, device, type, release
 *                       threshold, correlation)
 *   cuda:sync          (start, end, correlation, type, stream, result, context, event)
 *   cuda:event_record  (correlation, event, stream, context)
 *   cuda:graph_exec    (start, end, correlation, device, stream, graph, context)
 *   cuda:graph_instantiate (start, end, correlation, name * of the call, result, context)
 *   cuda:graph_node    (time, node, original node, graph, thread)
 *   cuda:api_<family>  (start, end, correlation, name *, result, domain, cbid, context)
 *   cuda:api_error     (the same, of calls that failed, then what they requested: flags as in struct
 *                       cuda_api, bytes or address, copy kind or value or device, kernel name *)
 *   cuda:overhead      (start, end, correlation, kind, object kind, object, object's thread)
 *   cuda:jit           (start, end, correlation, entry, operation, device, cache bytes, cache path *)
 *   cuda:uvm           (start, end, counter, value, source, destination, address, stream)
 *   cuda:nvtx          (start, end, kind, text *, domain *, color, category, range)
 *   cuda:device        (device, name *, major, minor, memory bytes, multiprocessors, PCI bus id *)
 *   cuda:context       (context, device, null stream, parent context, green, multiprocessors)
 *   cuda:stream        (stream, context, priority, flag)
 *   cuda:counters      (number, correlation, kernel name *, metric name *, value x 1000, device,
 *                       value as the bits of a double, context, stream, passes)
 *   cuda:sass          (number, kernel name *, offset, file *, line, executed, threads, threads that
 *                       were not predicated off, sectors, ideal sectors, wavefronts, ideal ones)
 *   cuda:pc_samples    (time, function *, line, reason *, samples, file *, offset, cubin, device,
 *                       context)
 *   cuda:stack_1 ... cuda:stack_10000 (a launching thread at its launch: see stack_probes.h)
 */
/* clang-format on */
#ifndef LIBCUPTI_USDT_PROBES_H
#define LIBCUPTI_USDT_PROBES_H

#include <linux/types.h>

#define CUDA_PROBES_VERSION 1
#define CUDA_PROVIDER	    "cuda"
#define CUDA_AGENT_NAME	    "libcupti-usdt.so"

#define CUDA_BATCH_MAX	    8192 /* bytes that one batch probe carries at most */
#define CUDA_NAME_MAX	    4096 /* bytes of a name that travel at most, NUL included */
#define CUDA_HELLOS	    8	 /* probes hello_0 ... */

/* Groups: the unit of switching on. A group is wanted while a semaphore of one of its probes is up;
 * only then does the agent enable what feeds it in CUPTI. X(enumerator, probe, what it is) */
#define CUDA_GROUPS(X)                                                                        \
	X(LAUNCH, launch_batch, "driver-API launch calls")                                    \
	X(KERNEL, kernel_batch, "kernels on the GPU")                                         \
	X(RUNTIME, runtime_batch, "runtime-API launch calls")                                 \
	X(MEMCPY, memcpy_batch, "copies on the GPU")                                          \
	X(MEMSET, memset_batch, "memsets on the GPU")                                         \
	X(MEMORY, memory_batch, "allocations, frees and memory pools")                        \
	X(SYNC, sync_batch, "the host waiting for streams, events, contexts")                 \
	X(GRAPH, graph_batch, "graph launches as a whole on the GPU")                         \
	X(GRAPH_NODES, graph_nodes_batch, "kernels of graphs one by one")                     \
	X(OVERHEAD, overhead_batch, "CUPTI overhead, blocked launches, module loads, JIT")    \
	X(UVM, uvm_batch, "unified memory: migrations and faults")                            \
	X(NVTX, nvtx_batch, "NVTX ranges and marks")                                          \
	X(OBJECT, object_batch, "devices, contexts, streams")                                 \
	X(API_ERROR, api_error_batch, "calls of either API that failed")                      \
	CUDA_API_FAMILIES(X)                                                                  \
	X(SAMPLED_KERNEL, sampled_kernel_batch, "kernels on the GPU, of windows")             \
	X(SAMPLED_MEMCPY, sampled_memcpy_batch, "copies on the GPU, of windows")              \
	X(SAMPLED_MEMSET, sampled_memset_batch, "memsets on the GPU, of windows")             \
	X(DEVICE, device_batch, "devices, from the driver: nothing of CUPTI is on for it")    \
	X(COUNTERS, counters_batch, "hardware counters of single kernels")                    \
	X(PC_SAMPLES, pc_samples_batch, "samples of program counters on the GPU, of windows") \
	X(MEMORY_ERROR, memory_error_batch, "of API_ERROR those of API_MEMORY and API_COPY")

/*
 * Calls of the driver and the runtime API, by family, which their names decide. A call that is in
 * several groups (a launch in LAUNCH and API_LAUNCH) is in each of their batches.
 */
#define CUDA_API_FAMILIES(X)                                                                 \
	X(API_LAUNCH, api_launch_batch, "calls that launch kernels, graphs, host functions") \
	X(API_MEMORY, api_memory_batch, "calls that allocate, free, map memory")             \
	X(API_COPY, api_copy_batch, "calls that copy, set, prefetch memory")                 \
	X(API_SYNC, api_sync_batch, "calls that wait")                                       \
	X(API_STREAM, api_stream_batch, "calls on streams")                                  \
	X(API_EVENT, api_event_batch, "calls on events")                                     \
	X(API_MODULE, api_module_batch, "calls on modules, libraries, functions")            \
	X(API_GRAPH, api_graph_batch, "calls on graphs")                                     \
	X(API_CONTEXT, api_context_batch, "calls on contexts and devices")                   \
	X(API_OTHER, api_other_batch, "all other calls, and frequent ones that only ask")

/*
 * Graphs: while GRAPH is wanted, CUPTI times a graph launch as a whole and hands out no kernels,
 * copies or memsets of graphs, for anybody. GRAPH_NODES takes precedence over it: graph_batch is
 * silent then, and the nodes come by kernel_batch, memcpy_batch, memset_batch with graph and
 * graph_node set. graph_nodes_batch has which node was created when, and by which thread; while a
 * stack probe (stack_probes.h) is listened to, which gets their stacks, also the calls that added
 * one or updated a graph (struct cuda_api), unless api_graph_batch has them.
 */

/*
 * Sampling. While only a sampled_*_batch is listened to, that kind is on in CUPTI in windows:
 * on for sample_on_<MS> in every sample_every_<MS>, at a random place in each period (10 in 1000 if
 * no such probe is listened to). A tool attaches to one of each, before its sampled_*_batch. The
 * agent uses the widest that is requested: the longest window, the shortest period; and all the
 * time where kernel_batch and its like, or a readable probe, request the same kind.
 */
#define CUDA_SAMPLE_ON(X, a) \
	X(1, a)              \
	X(2, a) X(5, a) X(10, a) X(20, a) X(30, a) X(50, a) X(100, a) X(200, a) X(500, a) X(1000, a)
#define CUDA_SAMPLE_EVERY(X, a) \
	X(100, a) X(200, a) X(500, a) X(1000, a) X(2000, a) X(5000, a) X(10000, a) X(20000, a)
#define CUDA_SAMPLE_MS 10, 1000 /* the default */

enum cuda_group {
#define CUDA_GROUP_ENUMERATOR(name, probe, text) CUDA_GROUP_##name,
	CUDA_GROUPS(CUDA_GROUP_ENUMERATOR)
#undef CUDA_GROUP_ENUMERATOR
		CUDA_GROUP_COUNT
};

/*
 * Kinds of records. X(enumerator, number, structure, its times). Times: SPAN start and end, MOMENT
 * time, TIMELESS none. Those that are not alone in the batch that has their name:
 *   MEMORY_POOL in memory_batch; EVENT_RECORD in api_event_batch; JIT in overhead_batch;
 * GRAPH_INSTANTIATE, a driver call, in graph_batch; DEVICE, CONTEXT and STREAM in object_batch; API
 * in api_<family>_batch and api_error_batch; PC_... in pc_samples_batch: PC_WINDOW after its
 * samples, PC_IMAGE before samples or SASS; COUNTERS... and SASS in counters_batch. GRAPH_LAUNCH is
 * a launch of a graph: name, grid and block are 0; but while PC samples and nodes of graphs are
 * collected, grid[0] is the id of the executable graph, as in struct cuda_graph_node. GRAPH_ORIGIN
 * is in graph_nodes_batch while PC samples are collected, too, and GRAPH_CHANGE while stacks are.
 * NVTX_OPEN says in nvtx_batch that a range begins, while a tool is attached to cuda:nvtx_open; it
 * and NVTX are sent at once then, in batches of one, so that whatever begins after them arrives
 * after them.
 * NVTX_PAYLOAD in nvtx_batch is a part of a payload, before the NVTX of the same thread that it
 * belongs to.
 */
#define CUDA_RECORDS(X)                                        \
	X(LAUNCH, 1, cuda_launch, SPAN)                        \
	X(GRAPH_LAUNCH, 2, cuda_launch, SPAN)                  \
	X(KERNEL, 3, cuda_kernel, SPAN)                        \
	X(MEMCPY, 4, cuda_memcpy, SPAN)                        \
	X(MEMSET, 5, cuda_memset, SPAN)                        \
	X(MEMORY, 6, cuda_memory, MOMENT)                      \
	X(MEMORY_POOL, 7, cuda_memory_pool, MOMENT)            \
	X(SYNC, 8, cuda_sync, SPAN)                            \
	X(GRAPH, 9, cuda_graph, SPAN)                          \
	X(API, 10, cuda_api, SPAN)                             \
	X(OVERHEAD, 11, cuda_overhead, SPAN)                   \
	X(JIT, 12, cuda_jit, SPAN)                             \
	X(UVM, 13, cuda_uvm, SPAN)                             \
	X(NVTX, 14, cuda_nvtx, SPAN)                           \
	X(DEVICE, 15, cuda_device, TIMELESS)                   \
	X(CONTEXT, 16, cuda_context, TIMELESS)                 \
	X(STREAM, 17, cuda_stream, TIMELESS)                   \
	X(PC_SAMPLE, 18, cuda_pc_sample, MOMENT)               \
	X(PC_WINDOW, 19, cuda_pc_window, SPAN)                 \
	X(PC_IMAGE, 20, cuda_pc_image, TIMELESS)               \
	X(GRAPH_INSTANTIATE, 21, cuda_api, SPAN)               \
	X(EVENT_RECORD, 22, cuda_event_record, TIMELESS)       \
	X(GRAPH_NODE, 23, cuda_graph_node, SPAN)               \
	X(NVTX_OPEN, 24, cuda_nvtx, SPAN)                      \
	X(NVTX_PAYLOAD, 25, cuda_nvtx_payload, TIMELESS)       \
	X(GRAPH_ORIGIN, 26, cuda_graph_origin, SPAN)           \
	X(GRAPH_CHANGE, 27, cuda_graph_change, SPAN)           \
	X(COUNTERS, 32, cuda_counters, SPAN)                   \
	X(COUNTERS_METRIC, 33, cuda_counters_metric, TIMELESS) \
	X(COUNTERS_STATE, 34, cuda_counters_state, MOMENT)     \
	X(SASS, 35, cuda_sass, TIMELESS)

enum cuda_record_kind {
#define CUDA_RECORD_ENUMERATOR(name, number, structure, times) CUDA_RECORD_##name = number,
	CUDA_RECORDS(CUDA_RECORD_ENUMERATOR)
#undef CUDA_RECORD_ENUMERATOR
};

enum cuda_domain { CUDA_DOMAIN_DRIVER = 1, CUDA_DOMAIN_RUNTIME = 2 };

struct cuda_record {
	__u16 kind;	   /* enum cuda_record_kind */
	__u16 size;	   /* bytes to the next record */
	__u32 correlation; /* ties launch and kernel; per process, wraps at 2^32 */
};
#include "nvtx_records.h" /* beside this one, wherever that is; so is the next */
#include "graph_records.h"

#define CUDA_LAUNCH_TIMED  1
#define CUDA_LAUNCH_HELD   128 /* its time contains how long the agent held it (switch_barrier.c) */
#define CUDA_LAUNCH_RANGES 2   /* NVTX was listened to: flags >> 2 & 31 pushed ranges were open */
/* One launch call, as the host saw it. */
struct cuda_launch {
	struct cuda_record head;
	__u64 start;   /* ns, at the call's entry */
	__u64 end;     /* ns, at its return */
	__u64 stream;  /* CUstream handle as passed, not the stream id */
	__u32 tid;     /* as the process's own pid namespace numbers it */
	__u32 name;    /* id of a cuda:name, 0 = none */
	__u32 context; /* context id */
	__s32 result;  /* CUresult or cudaError_t, 0 = success */
	__u16 cbid;    /* CUPTI's number of the call */
	__u8 domain;   /* enum cuda_domain */
	__u8 flags;    /* CUDA_LAUNCH_TIMED: CUPTI stamped kernels as it returned; ..._RANGES */
	__u32 grid[3], block[3];
	__u32 dynamic_shared; /* bytes */
};

/* One kernel, as the GPU stamped it. */
struct cuda_kernel {
	struct cuda_record head;
	__u64 start; /* ns; converted from the GPU's clock, so some us may lie before the launch */
	__u64 end;   /* ns */
	__u64 graph_node; /* 0 = not from a graph */
	__u32 device;	  /* CUDA ordinal in the process */
	__u32 context;	  /* context id */
	__u32 stream;	  /* stream id */
	__u32 name;	  /* id of a cuda:name, 0 = none */
	__u32 grid[3], block[3];
	__u32 static_shared;	/* bytes */
	__u32 dynamic_shared;	/* bytes */
	__u32 local_per_thread; /* bytes */
	__u32 graph;		/* 0 = not from a graph */
	__u16 registers;	/* a thread */
	__u8 launch_type; /* CUPTI's: 0 regular, 1 cooperative, 2 cooperative on several devices */
	__u8 pad;
	__u32 pad2;
};

/* One copy, as the GPU (or the host, for pageable memory) did it. */
struct cuda_memcpy {
	struct cuda_record head;
	__u64 start; /* ns */
	__u64 end;   /* ns */
	__u64 bytes;
	__u64 graph_node; /* 0 = not from a graph */
	__u32 device;
	__u32 context;
	__u32 stream;		       /* stream id */
	__u32 graph;		       /* 0 = not from a graph */
	__u32 src_device, src_context; /* differ from the above in peer copies only, as the next */
	__u32 dst_device, dst_context;
	__u8 copy_kind; /* CUpti_ActivityMemcpyKind: 1 HtoD, 2 DtoH, 8 DtoD, 9 HtoH, 10 PtoP ... */
	__u8 src_kind;	/* CUpti_ActivityMemoryKind: 1 pageable, 2 pinned, 3 device, 4 array, 5
			   managed */
	__u8 dst_kind;
	__u8 flags;   /* bit 0: asynchronous */
	__u32 copies; /* how many copies this record stands for: 1, more for a batch copy */
};

struct cuda_memset {
	struct cuda_record head;
	__u64 start; /* ns */
	__u64 end;   /* ns */
	__u64 bytes;
	__u64 graph_node;
	__u32 device;
	__u32 context;
	__u32 stream; /* stream id */
	__u32 graph;
	__u32 value;
	__u16 memory_kind; /* CUpti_ActivityMemoryKind */
	__u16 flags;	   /* bit 0: asynchronous */
};

/* One allocation or free that succeeded. */
struct cuda_memory {
	struct cuda_record head;
	__u64 time; /* ns */
	__u64 address;
	__u64 bytes;
	__u64 pc;	 /* of the caller, as CUPTI has it */
	__u64 pool;	 /* address of the memory pool, 0 = none */
	__u64 pool_size; /* bytes, of a pool of this process */
	__u64 pool_used; /* bytes */
	__u32 device;
	__u32 context;
	__u32 stream;	/* stream id, of asynchronous ones */
	__u32 name;	/* symbol of a device variable: id of a cuda:name, 0 = none */
	__u8 operation; /* 1 allocated, 2 freed */
	__u8 kind;	/* CUpti_ActivityMemoryKind */
	__u8 asynchronous;
	__u8 pool_type; /* 0 none, 1 local, 2 imported */
	__u32 pad;
};

struct cuda_memory_pool {
	struct cuda_record head;
	__u64 time; /* ns */
	__u64 address;
	__u64 size;	 /* bytes */
	__u64 used;	 /* bytes; 0 where libcupti does not tell */
	__u64 threshold; /* bytes kept back at release */
	__u64 keep;	 /* bytes to keep, of a trim */
	__u32 device;
	__u8 operation; /* 1 created, 2 destroyed, 3 trimmed */
	__u8 type;	/* 1 local, 2 imported */
	__u16 pad;
};

/* One wait of the host (or of a stream, type 2). */
struct cuda_sync {
	struct cuda_record head;
	__u64 start;	  /* ns */
	__u64 end;	  /* ns */
	__u64 event_sync; /* ties an event wait to the event's record, 0 = unknown */
	__u32 context;
	__u32 stream; /* stream id, ~0 = none */
	__u32 event;  /* event id, ~0 = none */
	__s32 result; /* where libcupti reports it (12.8 and later), else 0 */
	__u8 type;    /* 1 event, 2 stream waits for event, 3 stream, 4 context or device */
	__u8 pad[7];
};

/* An event was put into a stream: a struct cuda_sync of type 1 or 2 with its number waits for it.
 */
struct cuda_event_record {
	struct cuda_record head; /* correlation: of the call, as cuEventRecord() */
	__u32 context;
	__u32 stream; /* stream id */
	__u32 event;  /* event id */
	__u32 pad;
};

#define CUDA_API_NESTED	   1 /* the runtime call's own record follows, maybe in another batch */
#define CUDA_API_BYTES	   2 /* this and the next: which of the arguments below are known */
#define CUDA_API_ADDRESS   4
#define CUDA_API_COPY_KIND 8
#define CUDA_API_VALUE	   16
#define CUDA_API_DEVICE	   32
#define CUDA_API_LAUNCH	   64

/* One call of the driver or the runtime API. */
struct cuda_api {
	struct cuda_record head; /* a driver call inside a runtime call: see start and end */
	__u64 start;		 /* ns, at the call's entry */
	__u64 end;		 /* ns, at its return */
	__u32 tid;		 /* as the process's own pid namespace numbers it */
	__u32 name;		 /* of the function: id of a cuda:name */
	__u32 context;
	__s32 result; /* CUresult or cudaError_t, 0 = success */
	__u16 cbid;   /* CUPTI's number of the call */
	__u8 domain;  /* enum cuda_domain */
	__u8 flags;   /* CUDA_API_NESTED: inside a runtime call of the same correlation */
	__u32 group;  /* enum cuda_group of its family */
	union {	      /* of a call that failed: its arguments, as far as they say something */
		struct {
			__u64 bytes, address;
			__u32 value, device, copy_kind, pad; /* as in struct cuda_memcpy */
		} call;
		struct { /* grid and block: all 0 = not known; kernel: id of a cuda:name */
			__u32 grid[3], block[3], dynamic_shared, kernel;
		} launch;
	} arguments;
};

/* Time that CUPTI itself or the driver spent. */
struct cuda_overhead {
	struct cuda_record head;
	__u64 start;	   /* ns */
	__u64 end;	   /* ns */
	__u32 kind;	   /* CUpti_ActivityOverheadKind: 1 driver's compiler, 1<<16 buffer flush,
			    * 2<<16 instrumentation, 3<<16 resources, 4<<16 module load by the runtime,
			    * 5<<16 lazy function load, 6<<16 the GPU's queue was full */
	__u32 object_kind; /* 1 process, 2 thread, 3 device, 4 context, 5 stream */
	__u32 object[3];   /* process, thread; or device, context, stream */
	__u32 pad;
};

struct cuda_jit {
	struct cuda_record head;
	__u64 start;	    /* ns */
	__u64 end;	    /* ns */
	__u64 operation_id; /* ties the operations on one module */
	__u64 cache_bytes;
	__u32 device;
	__u32 tid;	  /* 0 where libcupti does not tell */
	__u32 cache_path; /* id of a cuda:name, 0 = none */
	__u8 entry;	  /* 1 PTX to cubin, 2 NVVM IR to PTX */
	__u8 operation;	  /* 1 cache load, 2 cache store, 3 compile */
	__u16 pad;
};

struct cuda_uvm {
	struct cuda_record head;
	__u64 start; /* ns */
	__u64 end;   /* ns, 0 for what is a moment */
	__u64 value; /* bytes, or number of faults */
	__u64 address;
	__u32 source;	   /* device, or fault access type; ~0 = host */
	__u32 destination; /* device; ~0 = host */
	__u32 stream;
	__u32 flags;   /* CUPTI's: cause of a migration, access type, throttled */
	__u32 counter; /* 1 HtoD bytes, 2 DtoH bytes, 3 CPU faults, 4 GPU faults, 5 thrashing,
			* 6 throttling, 7 remote map, 8 DtoD bytes */
	__u32 pad;
};

struct cuda_device {
	struct cuda_record head;
	__u64 memory; /* bytes */
	__u32 device; /* CUDA ordinal in the process */
	__u32 name;   /* id of a cuda:name */
	__u8 uuid[16];
	__u8 mig_uuid[16];
	char pci[16]; /* "0000:01:00.0", or "" */
	__u32 major;  /* compute capability */
	__u32 minor;
	__u32 multiprocessors;
	__u32 core_clock; /* kHz */
	__u32 mig;	  /* 1: gpu_instance and compute_instance tell */
	__u32 gpu_instance, compute_instance;
	__u32 pad;
};

struct cuda_context {
	struct cuda_record head;
	__u32 context;
	__u32 device;
	__u32 null_stream;     /* stream id of the context's default stream */
	__u32 parent;	       /* context id, of a green context */
	__u32 multiprocessors; /* of a green context */
	__u32 green;	       /* 1 if it is one */
};

struct cuda_stream {
	struct cuda_record head; /* correlation: of the call that made it */
	__u32 context;
	__u32 stream; /* stream id */
	__s32 priority;
	__u32 flag; /* 1 default, 2 non-blocking, 3 null, 0 unknown */
};

/*
 * Hardware counters. The environment of the process, or a request (counter_request.h), says what
 * is collected; other processes are not touched, and nothing is collected while counters_batch is
 * not listened to. A kernel that is counted runs alone, once for each pass, and other launches
 * wait.
 */
#define CUDA_COUNTERS_METRICS 256 /* at most */

/* One kernel, or one launch of a graph: a struct cuda_counter for each metric follows. */
struct cuda_counters {
	struct cuda_record head;
	__u64 start;  /* ns, the launch call, with all passes */
	__u64 end;    /* ns */
	__u64 stream; /* CUstream handle as passed */
	__u32 number; /* of those that were counted in this process, from 1 on */
	__u32 name;   /* id of a cuda:name; of a graph 0 */
	__u32 device; /* CUDA ordinal in the process */
	__u32 context;
	__u32 grid[3], block[3]; /* of a graph 0, and so is all up to registers */
	__u32 dynamic_shared;	 /* bytes */
	__u32 static_shared;	 /* bytes; registers 0 = both are not known */
	__u32 registers;	 /* a thread */
	__u32 passes;
	__u32 count; /* of values that follow */
	__u32 graph; /* id of the executable graph that was launched, as kernels have it; 0 = none
		      */
};
#define CUDA_COUNTERS_SOME_GRAPH 0xffffffffU /* no id: it is not known */

struct cuda_counter {
	__u32 metric; /* id of a cuda:name */
	__u32 pad;
	double value;
};
/* What a metric is; once for each, before the first kernel. */
struct cuda_counters_metric {
	struct cuda_record head;
	__u32 metric;	   /* id of a cuda:name */
	__u32 unit;	   /* id of a cuda:name, 0 = none: of the counter below a rollup */
	__u32 description; /* id of a cuda:name, 0 = none */
	__u32 type;	   /* CUpti_MetricType: 0 counter, 1 ratio, 2 throughput */
};
enum cuda_counters_outcome {
	CUDA_COUNTERS_WAITING = 0, /* none of the requested kernels has come yet */
	CUDA_COUNTERS_ON = 1,	   /* kernels are counted */
	CUDA_COUNTERS_DONE = 2,	   /* as many as requested, or, with a result, can be */
	CUDA_COUNTERS_FAILED = 3,  /* result, function and metric say why */
};
#define CUDA_COUNTERS_NO_END 1000 /* no CUptiResult: the counted kernel did not end within 60 s */
#define CUDA_COUNTERS_HELD   1001 /* likewise, and CUPTI waits for it: its launch does not return */
#define CUDA_COUNTERS_SILENT 1002 /* likewise: kernels ran, CUPTI said so, and had no values */
#define CUDA_COUNTERS_WORN   1003 /* likewise: once too often in a process with graphs */
#define CUDA_COUNTERS_PASSES \
	1004 /* likewise: graphs, of which none is launched for a second pass */
/* When the metrics are known, at each change of the outcome, and every second or so. */
struct cuda_counters_state {
	struct cuda_record head;
	__u64 time;	/* ns */
	__u64 launches; /* of kernels, since the group was switched on */
	__u64 matched;	/* of the requested kernels, or graphs */
	__u64 counted;
	__u64 missed;	/* matched, but CUPTI brought no values, or other launches were under way */
	__u64 graphs;	/* launches of graphs: none is counted, or, if requested, they are */
	__u32 outcome;	/* enum cuda_counters_outcome */
	__s32 result;	/* CUptiResult, 0 = none, or one of those above */
	__u32 function; /* id of a cuda:name: which call failed, 0 = none */
	__u32 metric;	/* id of a cuda:name: which metric it was about, 0 = none */
	__u32 chip;	/* id of a cuda:name */
	__u32 device;	/* CUDA ordinal in the process */
	__u32 metrics;	/* that are collected */
	__u32 passes;
	__u32 running; /* seconds that the kernel which is counted right now has taken */
	__u32 pad;
};

/* Of each instruction, by CUPTI's SASS metrics. X(enumerator, metric). Only ever appended to. */
#define CUDA_SASS_METRICS(X)                                                         \
	X(EXECUTED, "smsp__sass_inst_executed")                                      \
	X(THREADS, "smsp__sass_thread_inst_executed")                                \
	X(THREADS_ON, "smsp__sass_thread_inst_executed_pred_on")                     \
	X(SECTORS, "smsp__sass_sectors_mem_global")                                  \
	X(SECTORS_IDEAL, "smsp__sass_sectors_mem_global_ideal")                      \
	X(WAVEFRONTS, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared")             \
	X(WAVEFRONTS_IDEAL, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal") \
	X(SECTORS_LOCAL, "smsp__sass_sectors_mem_local")                             \
	X(BRANCH_DIVERGENT, "smsp__sass_branch_targets_threads_divergent")           \
	X(BRANCH_UNIFORM, "smsp__sass_branch_targets_threads_uniform")

enum cuda_sass_metric {
#define CUDA_SASS_ENUMERATOR(name, metric) CUDA_SASS_##name,
	CUDA_SASS_METRICS(CUDA_SASS_ENUMERATOR)
#undef CUDA_SASS_ENUMERATOR
		CUDA_SASS_COUNT
};

/* An instruction of a counted kernel, after its struct cuda_counters, which has no values then. */
struct cuda_sass {
	struct cuda_record head;
	__u64 cubin;  /* checksum of the module's image */
	__u64 offset; /* of the instruction, in its function */
	__u64 values[CUDA_SASS_COUNT];
	__u32 number;	/* of the struct cuda_counters */
	__u32 function; /* id of a cuda:name, mangled: the kernel, or one that it calls */
	__u32 file;	/* id of a cuda:name: path of the source, 0 = unknown */
	__u32 line;	/* in file, 0 = unknown */
	__u32 known;	/* bits (1 << enum cuda_sass_metric): the GPU has that metric */
	__u32 pad;
};

/* So many times the GPU found a warp at this instruction, for this reason. correlation is 0. */
struct cuda_pc_sample {
	struct cuda_record head;
	__u64 time;	/* ns, when the samples were fetched from CUPTI: after the window's end */
	__u64 cubin;	/* checksum of the module's image, 0 = unknown */
	__u64 offset;	/* of the instruction, in its function */
	__u32 function; /* id of a cuda:name, mangled */
	__u32 reason;	/* id of a cuda:name: what the warp waited for, in CUPTI's words */
	__u32 samples, device, context; /* context id */
	__u32 file, line, pad;		/* id of a cuda:name: the source's path; 0 = unknown */
};

/* Where a copy of a module's image is in the process, while samples or struct cuda_sass last. */
struct cuda_pc_image {
	struct cuda_record head;
	__u64 cubin, address, size, plain; /* checksum as in samples; bytes; 1: without lines */
};

/* What a window, or a part of it, came to in one context. */
struct cuda_pc_window {
	struct cuda_record head;
	__u64 start, end;      /* ns, when sampling was on */
	__u64 total;	       /* samples, those dropped and those of others included */
	__u64 dropped, other;  /* by the GPU, which was too slow; of other programs' kernels */
	__u32 device, context; /* context id */
	__u32 overflows; /* 1: CUPTI's buffer was full or the context ended: samples are missing */
	__u32 period;	 /* a multiprocessor is looked at each 2^period cycles, 0 = unknown */
	__u64 held;	 /* ns that launches were held for it since the last one, of all contexts */
};

/* Why records were lost inside the process. X(enumerator, stable key, text) */
#define CUDA_LOST_REASONS(X)                                                                      \
	X(CUPTI_DROPPED, "cupti_dropped", "CUPTI ran out of buffers")                             \
	X(POOL_EMPTY, "pool_empty", "the injection library's buffer pool was empty")              \
	X(INVALID, "invalid", "CUPTI delivered a record without valid times")                     \
	X(UNFINISHED, "unfinished", "the program ended before the GPU had finished")              \
	X(NAMES_FULL, "names_full",                                                               \
	  "the injection library's name table was full (names, not events)")                      \
	X(THREADS_FULL, "threads_full", "no batch was left for a thread")                         \
	X(PROFILED, "profiled",                                                                   \
	  "launches without times, and copies unseen: PC samples were taken")                     \
	X(RANGES_FULL, "ranges_full",                                                             \
	  "more NVTX ranges were open than the injection library keeps")                          \
	X(NAMELESS_NODES, "nameless_nodes", "CUPTI has no id for a node of a graph")              \
	X(PAYLOADS, "nvtx_payloads",                                                              \
	  "payloads of NVTX events: too large, too many at once, or of an unknown schema")        \
	X(OTHER_LEFT, "other_left",                                                               \
	  "launches without times, and copies unseen: another tool left, which looked like this " \
	  "one")

enum cuda_lost_reason {
#define CUDA_LOST_ENUMERATOR(name, key, text) CUDA_LOST_##name,
	CUDA_LOST_REASONS(CUDA_LOST_ENUMERATOR)
#undef CUDA_LOST_ENUMERATOR
		CUDA_LOST_COUNT
};

enum cuda_state {
	CUDA_STATE_DORMANT = 0, /* nothing of CUPTI is on */
	CUDA_STATE_ACTIVE = 1,
	CUDA_STATE_YIELDED = 2, /* another CUPTI client holds the process */
	CUDA_STATE_INERT = 3,	/* for good; reason says why */
	CUDA_STATE_ENDED = 4,	/* the process is about to end, all was flushed that could be */
};

enum cuda_inert_reason {
	CUDA_INERT_NONE = 0,
	CUDA_INERT_NO_CUPTI = 1,   /* no usable libcupti found; search says what was tried */
	CUDA_INERT_OFF = 2,	   /* switched off by environment */
	CUDA_INERT_SECURE = 3,	   /* setuid, setgid or file capabilities */
	CUDA_INERT_FORKED = 4,	   /* CUDA does not work in a forked child */
	CUDA_INERT_FATAL = 5,	   /* CUPTI reported a fatal state, or went away */
	CUDA_INERT_UNSUITABLE = 6, /* libcupti refused: a version with a known fault */
	CUDA_INERT_SANDBOXED =
		7, /* it has forbidden itself system calls since cuInit() (seccomp) */
};

/* Codes of cuda:error beside CUptiResult (below 10000) and -errno. */
enum cuda_agent_error {
	CUDA_AGENT_SILENT = 10000,    /* launches go on, but no GPU record has come for 5 s */
	CUDA_AGENT_NO_THREAD = 10001, /* the agent's own thread could not be started */
	CUDA_AGENT_REFUSED = 10002,   /* libcupti found but not used: message says why */
	CUDA_AGENT_LACKS = 10003,     /* libcupti lacks what a group needs */
	CUDA_AGENT_STARVED = 10004,   /* CUPTI waits for a lock that launches hold, for 3 s now */
	CUDA_AGENT_REQUEST = 10005,   /* a request to count made no sense */
};

struct cuda_status {
	__u32 version; /* CUDA_PROBES_VERSION */
	__u32 size;    /* of this structure */
	__u64 instance;
	__u64 time;	      /* ns */
	__u32 pid;	      /* as the process's own pid namespace numbers it */
	__u32 state;	      /* enum cuda_state */
	__u32 reason;	      /* enum cuda_inert_reason */
	__u32 groups;	      /* bit (1 << enum cuda_group): switched on now */
	__u32 cupti_version;  /* cuptiGetVersion(), 0 = none */
	__u32 driver_version; /* cuDriverGetVersion(), 0 = unknown */
	__u32 prime_us;	      /* what priming took at start, 0 = not primed */
	__u32 activations;    /* times that the agent went active */
	__u64 emitted[32];    /* records by enum cuda_group since load */
	__u64 lost[16];	      /* records by enum cuda_lost_reason since load */
	char cupti_path[256]; /* the libcupti in use, or "" */
	char holder[64];      /* who holds CUPTI where that can be known, or "" */
	char message[128];    /* last trouble in words, or "" */
	char search[1024];    /* one line for each place tried: "path: what came of it\n" */
	__u32 switch_us;      /* what CUPTI took for the last switching on or off */
	__u32 resident_kib;   /* the agent's own memory, libcupti's apart; 0 = none mapped */
	__u64 sample_start;   /* ns, when the first period began; 0 = nothing is sampled */
	__u64 sample_open_ns; /* of the time since: in windows */
	__u32 sample_windows; /* since sample_start, the one that is open included */
	__u16 sample_on_ms, sample_every_ms; /* the cycle in force */
	__u64 request; /* address of its struct cuda_request, 0 = none: see counter_request.h */
	__u64 began;   /* ns, when its wait for watched was over: who was there missed nothing */
	__u64 subscribing; /* ns, when the first subscription began that is under way; 0 = none */
	__u64 ledger;	   /* address of its struct cuda_ledger (cuda-trace's own), 0 = none */
	__u64 yielded_since, yielded_ns; /* when it began to yield, 0 = it does not; and before */
	__u32 yields, pad;		 /* times that it became so, since load */
	__u64 flushed; /* ns: all that had ended by then is sent; of the last request (cuda:flush)
			*/
	__u64 interpreter; /* address of its struct cuda_interpreter (cuda-trace's own), 0 = none */
};

#endif
