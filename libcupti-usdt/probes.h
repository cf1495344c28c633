/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CONTRACT 1: what the guest library emits. Every probe, its arguments and their order, and the
 * layout of the records that batch probes carry. Included by the guest, by bpf/, by cuda-trace/,
 * and shipped to others; libcupti-usdt(7) is the same text for people.
 *
 * Provider "cuda". All times are CLOCK_MONOTONIC nanoseconds (the clock of bpf_ktime_get_ns()).
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
 *     Sent when a name is first seen, again for all names when a further consumer attaches, and
 *     every 30 s. name is NUL-terminated, mangled, cut at CUDA_NAME_MAX - 1 bytes; length is the full one.
 *   cuda:status (const struct cuda_status *, u32 size)
 *     Sent at every change of state, when a consumer attaches, every 30 s, and at the end of
 *     the process (state CUDA_STATE_ENDED): a process that vanishes without it was killed.
 *   cuda:lost   (u32 reason, u64 count, u64 total, u64 instance)
 *   cuda:error  (s32 code, const char *component, const char *message, u64 instance)
 *     The guest's own trouble, never the program's.
 *
 * Readable probes, for bpftrace, perf and systemtap (one hit an event, dearer; fire only while their
 * own semaphore is up; plain scalars and NUL-terminated strings):
 *   cuda:kernel_launch (start, end, correlation, name *, result, stream, grid x, y, z, block x, y, z)
 *   cuda:kernel_exec   (start, end, correlation, name *, device, context, stream, graph,
 *                       graph node, registers, static shared, dynamic shared)
 */
#ifndef LIBCUPTI_USDT_PROBES_H
#define LIBCUPTI_USDT_PROBES_H

#include <linux/types.h>

#define CUDA_PROBES_VERSION 1
#define CUDA_PROVIDER       "cuda"
#define CUDA_GUEST_NAME     "libcupti-usdt.so"

#define CUDA_BATCH_MAX 8192 /* bytes that one batch probe carries at most */
#define CUDA_NAME_MAX  4096 /* bytes of a name that travel at most, NUL included */

/*
 * Groups: the unit of switching on. A group is wanted while a semaphore of one of its probes is up;
 * only then does the guest ask CUPTI for what feeds it. X(enumerator, probe, what it is)
 */
#define CUDA_GROUPS(X)                                                                             \
	X(LAUNCH, launch_batch, "driver-API launch calls")                                         \
	X(KERNEL, kernel_batch, "kernels on the GPU")                                              \
	X(RUNTIME, runtime_batch, "runtime-API launch calls")

enum cuda_group {
#define CUDA_GROUP_ENUMERATOR(name, probe, text) CUDA_GROUP_##name,
	CUDA_GROUPS(CUDA_GROUP_ENUMERATOR)
#undef CUDA_GROUP_ENUMERATOR
		CUDA_GROUP_COUNT
};

enum cuda_record_kind {
	CUDA_RECORD_LAUNCH = 1, /* struct cuda_launch, of a kernel */
	CUDA_RECORD_GRAPH_LAUNCH = 2, /* struct cuda_launch, of a graph: name, grid and block are 0 */
	CUDA_RECORD_KERNEL = 3, /* struct cuda_kernel */
};

enum cuda_domain { CUDA_DOMAIN_DRIVER = 1, CUDA_DOMAIN_RUNTIME = 2 };

struct cuda_record {
	__u16 kind; /* enum cuda_record_kind */
	__u16 size; /* bytes to the next record */
	__u32 correlation; /* ties launch and kernel; per process, wraps at 2^32 */
};

/* One launch call, as the host saw it. */
struct cuda_launch {
	struct cuda_record head;
	__u64 start; /* ns, at the call's entry */
	__u64 end; /* ns, at its return */
	__u64 stream; /* CUstream handle as passed, not the stream id */
	__u32 tid; /* as the process's own pid namespace numbers it */
	__u32 name; /* id of a cuda:name, 0 = none */
	__u32 context; /* context id */
	__s32 result; /* CUresult or cudaError_t, 0 = success */
	__u16 cbid; /* CUPTI's number of the call */
	__u8 domain; /* enum cuda_domain */
	__u8 flags; /* 0 */
	__u32 grid[3];
	__u32 block[3];
	__u32 dynamic_shared; /* bytes */
};

/* One kernel, as the GPU stamped it. */
struct cuda_kernel {
	struct cuda_record head;
	__u64 start; /* ns; converted from the GPU's clock, so some us may lie before the launch */
	__u64 end; /* ns */
	__u64 graph_node; /* 0 = not from a graph */
	__u32 device; /* CUDA ordinal in the process */
	__u32 context; /* context id */
	__u32 stream; /* stream id */
	__u32 name; /* id of a cuda:name, 0 = none */
	__u32 grid[3];
	__u32 block[3];
	__u32 static_shared; /* bytes */
	__u32 dynamic_shared; /* bytes */
	__u32 local_per_thread; /* bytes */
	__u32 graph; /* 0 = not from a graph */
	__u16 registers; /* a thread */
	__u8 launch_type; /* CUPTI's: 0 regular, 1 cooperative, 2 cooperative on several devices */
	__u8 pad;
	__u32 pad2;
};

/* Why records were lost inside the process. X(enumerator, stable key, text) */
#define CUDA_LOST_REASONS(X)                                                                       \
	X(CUPTI_DROPPED, "cupti_dropped", "CUPTI ran out of buffers")                              \
	X(POOL_EMPTY, "pool_empty", "the guest's buffer pool was empty")                           \
	X(INVALID, "invalid", "CUPTI delivered a record without valid times")                      \
	X(UNFINISHED, "unfinished", "the program ended before the GPU had finished")               \
	X(NAMES_FULL, "names_full", "the guest's name table was full (names, not events)")         \
	X(THREADS_FULL, "threads_full", "no batch was left for a thread")

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
	CUDA_STATE_INERT = 3, /* for good; reason says why */
	CUDA_STATE_ENDED = 4, /* the process is about to end, all was flushed that could be */
};

enum cuda_inert_reason {
	CUDA_INERT_NONE = 0,
	CUDA_INERT_NO_CUPTI = 1, /* no usable libcupti found; search says what was tried */
	CUDA_INERT_OFF = 2, /* switched off by environment */
	CUDA_INERT_SECURE = 3, /* setuid, setgid or file capabilities */
	CUDA_INERT_FORKED = 4, /* CUDA does not work in a forked child */
	CUDA_INERT_FATAL = 5, /* CUPTI reported a fatal state, or went away */
	CUDA_INERT_UNSUITABLE = 6, /* libcupti refused: a version with a known fault */
};

struct cuda_status {
	__u32 version; /* CUDA_PROBES_VERSION */
	__u32 size; /* of this structure */
	__u64 instance;
	__u64 time; /* ns */
	__u32 pid; /* as the process's own pid namespace numbers it */
	__u32 state; /* enum cuda_state */
	__u32 reason; /* enum cuda_inert_reason */
	__u32 groups; /* bit (1 << enum cuda_group): switched on now */
	__u32 cupti_version; /* cuptiGetVersion(), 0 = none */
	__u32 driver_version; /* cuDriverGetVersion(), 0 = unknown */
	__u32 prime_us; /* what priming took at start, 0 = not primed */
	__u32 activations; /* times that the guest went active */
	__u64 emitted[16]; /* records by enum cuda_group since load */
	__u64 lost[16]; /* records by enum cuda_lost_reason since load */
	char cupti_path[256]; /* the libcupti in use, or "" */
	char holder[64]; /* who holds CUPTI where that can be known, or "" */
	char message[128]; /* last trouble in words, or "" */
	char search[1024]; /* one line for each place tried: "path: what came of it\n" */
};

#ifdef __cplusplus
#define CUDA_ASSERT static_assert
#else
#define CUDA_ASSERT _Static_assert
#endif
CUDA_ASSERT(sizeof(struct cuda_record) == 8, "wire layout");
CUDA_ASSERT(sizeof(struct cuda_launch) == 80, "wire layout");
CUDA_ASSERT(sizeof(struct cuda_kernel) == 96, "wire layout");
CUDA_ASSERT(sizeof(struct cuda_status) == 1784, "wire layout");
CUDA_ASSERT(CUDA_GROUP_COUNT <= 16 && CUDA_LOST_COUNT <= 16, "room in struct cuda_status");

#endif
