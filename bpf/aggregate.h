/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the aggregate program (bpf/aggregate.bpf.c) and its reader (cuda-trace/live/aggregate.c)
 * share: keys and values of its maps, settings and counters. Both are built together: no version
 * here.
 *
 * Lanes instead of per-CPU maps: since Linux 6.0 a uprobe program may be preempted and another may
 * run on the same CPU, so that per-CPU values are not exclusive; and one value a CPU would cost
 * 200 times the memory on a 200-core machine. A batch takes a free lane, which is exclusive until
 * the batch is done, and the lane is part of every key: no atomics, and no update is ever lost.
 *
 * Two generations: the program writes into the maps of one, the reader drains those of the other
 * once no lane is left in it. What is drained is exact, and a key that is no longer used is gone.
 */
#ifndef BPF_AGGREGATE_H
#define BPF_AGGREGATE_H

#include "bpf/event.h"
#include "libcupti-usdt/probes.h"

#define AGGREGATE_LANES	    32
#define AGGREGATE_BUCKETS   40	  /* bucket b counts values in (2^(b-1), 2^b], the last all above */
#define AGGREGATE_TALLIES   16384 /* keys of a generation at most */
#define AGGREGATE_NAMED	    12288 /* of them with a name; the rest is kept for what has none */
#define AGGREGATE_SHAPES    4096
#define AGGREGATE_PROCESSES 4096	/* slots; the first is for those that found none */
#define AGGREGATE_DEVICES   16		/* ordinals below it have their busy time measured */
#define AGGREGATE_CONTEXTS  64		/* context ids below it are tied to their device */
#define AGGREGATE_BLOCKS    16384	/* allocations of the driver source whose size is kept */
#define AGGREGATE_CONTEXT   0x80000000u /* in a key's device: the rest is a context id */
#define AGGREGATE_NAME_REST 0xffffffffu /* stands for names that found no space */
#define AGGREGATE_MARGIN    128		/* the longest record: read behind a batch's end at most */

/* What a tally counts. device is a CUDA ordinal, or where only the context is known its id, and
 * AGGREGATE_CONTEXT is set in it. */
enum tally_kind {
	TALLY_KERNEL = 1,	/* name, device */
	TALLY_GRAPH_LAUNCH = 2, /* context */
	TALLY_QUEUE = 3,	/* launch call to GPU start of a sample of the kernels; device */
	TALLY_MEMCPY = 4,	/* device, detail = CUpti_ActivityMemcpyKind */
	TALLY_MEMSET = 5,	/* device */
	TALLY_ALLOC = 6,	/* device, detail = CUpti_ActivityMemoryKind */
	TALLY_FREE = 7,		/* the same */
	TALLY_SYNC = 8,		/* context, detail = type of struct cuda_sync */
	TALLY_ERROR = 9,	/* context, name = result code, detail = enum cuda_domain */
	/* context, detail = enum cuda_group: calls of the family, once each. Of API_COPY the name
	 * is that of the call, with the driver source the CUpti_ActivityMemcpyKind. */
	TALLY_FAILED = 10,
	TALLY_UVM = 11,	     /* device, detail = counter of struct cuda_uvm; bytes = value */
	TALLY_OVERHEAD = 12, /* detail = kind of struct cuda_overhead, 16 bits shifted away */
	TALLY_COUNT
};

struct tally_key {
	__u32 process; /* slot of the process, 0 = those that found no space */
	__u32 name;
	__u32 device;
	__u8 kind; /* enum tally_kind */
	__u8 detail;
	__u8 lane;
	__u8 pad;
};

struct tally {
	__u64 count;
	__u64 errors;
	__u64 bytes;
	__u64 ns;
	__u64 max_ns;
	__u64 busy_ns; /* of ns, what did not overlap with earlier records of its kind */
	__u32 ns_log2[AGGREGATE_BUCKETS];
};

/* Kernel launches of one context. */
struct shape_key {
	__u32 process;
	__u32 context;
	__u32 lane;
};

struct shape {
	__u64 launches; /* that succeeded */
	__u64 errors;
	__u64 ns;	     /* host time in the calls */
	__u64 block_threads; /* sums, for the histograms below */
	__u64 grid_blocks;
	__u64 threads;
	__u32 block_threads_log2[AGGREGATE_BUCKETS];
	__u32 grid_blocks_log2[AGGREGATE_BUCKETS];
	__u32 threads_log2[AGGREGATE_BUCKETS];
};

struct aggregate_process_key {
	__u64 instance; /* as the agent numbers its loads; of the driver source, from driver_pids */
	__u32 pid;
	__u32 source; /* enum event_source */
};

/* Written by several lanes at once: all but what is only set is changed by atomic operations. */
struct aggregate_process {
	__u32 serial; /* never used twice, unlike the slot */
	__u32 uid;
	__u64 cgroup;
	__u64 start;			  /* ns, when its first batch came */
	__u64 received[CUDA_GROUP_COUNT]; /* records */
	__u64 base[CUDA_GROUP_COUNT];	  /* records emitted before the first batch that came */
	__u64 high[CUDA_GROUP_COUNT];	  /* records emitted up to the last batch that came */
	__u64 kernels_until[AGGREGATE_DEVICES]; /* ns, up to where busy time was counted */
	__u64 copies_until[AGGREGATE_DEVICES];
	/* Bytes of device and managed memory, and the most that it has been. The last: where the
	 * device is not known. */
	__u64 live[AGGREGATE_DEVICES + 1];
	__u64 peak[AGGREGATE_DEVICES + 1];
	__u64 failed_start; /* of the last failed driver call: a runtime call around it is the same
			     */
	__u32 failed_tid;
	__u32 pad2;
	__u16 device_of[AGGREGATE_CONTEXTS]; /* device + 1 of a context, 0 = not seen */
	__u8 gpu_of[AGGREGATE_DEVICES];	     /* GPU + 1 of a device, 0 = not known */
	__u16 share_of[AGGREGATE_DEVICES];   /* line of its share + 1, 0 = not known */
	__u32 seen;			     /* bit of each group that has sent a batch */
	__u32 pad;
	char comm[16]; /* of the main thread */
};

/* The devices of a process, as it numbers them. */
struct aggregate_device_key {
	__u32 process;
	__u32 device;
};

/* Set before load, beside the filters of bpf/filter.h. */
struct aggregate_settings {
	__u32 by_name;	    /* keys carry kernel names */
	__u32 queue_sample; /* one kernel in so many has its queue delay measured: a power of two */
	__u32 groups;	    /* bits (1 << enum cuda_group): what is summed */
	__u32 spans;	    /* aggregate_spans are wanted */
	__u32 shares;	    /* lines of shares that there are; 0 = not wanted */
};

/*
 * How long driver launches took, those made while kernels were not stamped and those made while
 * they were: sixteen steps in a power of two, as log2 buckets would hide what is being looked for.
 * Spans below 16 ns have a step each. Of each lane; counts wrap, and only their growth matters.
 */
#define AGGREGATE_SPAN_BITS 4
#define AGGREGATE_SPANS	    (64 << AGGREGATE_SPAN_BITS)

struct aggregate_spans {
	__u32 launches[2][AGGREGATE_SPANS]; /* [1]: stamped */
};

/* What the driver source allocated, by address: a free does not say how much it frees. */
struct driver_block_key {
	__u64 address;
	__u32 serial; /* of the process */
	__u32 pad;
};

struct driver_block {
	__u64 bytes;
	__u32 kind; /* CUpti_ActivityMemoryKind */
	__u32 pad;
};

/*
 * GPUs have numbers here that are no process's: CUDA_VISIBLE_DEVICES gives each process its own.
 * Each GPU has two lines of points in time, see bpf/gpu_busy.h: those in which it was busy (a
 * kernel, copy or memset of any process ran), and those in which it copied.
 */
#define AGGREGATE_POINT_BITS	 15 /* ns: a point stands for so long */
#define AGGREGATE_BUSY_LINE(gpu) (2 * (gpu))
#define AGGREGATE_COPY_LINE(gpu) (2 * (gpu) + 1)
#define AGGREGATE_LINES		 (2 * AGGREGATE_DEVICES)

/*
 * Who of the processes was busy at these points, for their shares of a GPU: bpf/gpu_shares.h. Each
 * process has a line for each GPU that it uses; those that found none are in one line for each GPU,
 * which come first. Words are twice as many: behind those of young work come those of old work.
 */
#define AGGREGATE_SHARES    (AGGREGATE_DEVICES + 256)
#define AGGREGATE_AGES	    2	 /* lines of words that a share has */
#define AGGREGATE_WORDS	    4096 /* of one line: a power of two */
#define AGGREGATE_WORD_BITS 5	 /* points in a word: the upper half says which turn of the ring */
#define AGGREGATE_TURN_BITS 32	 /* ns: the ring in time */

/* Whose a line is: 0 = nobody's. */
#define AGGREGATE_SHARE_OWNER(serial, slot, gpu) \
	((__u64)(serial) << 32 | (__u64)(slot) << 8 | ((gpu) + 1))
#define AGGREGATE_SHARE_GPU(owner)    ((__u32)((owner)&0xff) - 1)
#define AGGREGATE_SHARE_SLOT(owner)   ((__u32)(owner) >> 8)
#define AGGREGATE_SHARE_SERIAL(owner) ((__u32)((owner) >> 32))

/* Records that could not be distinguished or counted at all. */
struct aggregate_counters {
	__u64 received[CUDA_GROUP_COUNT];
	__u64 unreadable[CUDA_GROUP_COUNT]; /* lost: memory could not be read */
	__u64 busy[CUDA_GROUP_COUNT];	    /* lost: every lane was taken */
	__u64 driver_calls;		    /* received from the driver source */
	__u64 driver_busy;		    /* of them lost: every lane was taken */
	__u64 driver_unknown; /* not lost: counted, but their arguments were not understood */
	__u64 unsized;	      /* not lost: allocations whose frees will be without a size */
	__u64 full;	      /* lost: no key was left, not even for the rest */
	__u64 folded;	      /* not lost: counted under AGGREGATE_NAME_REST */
	__u64 others;	      /* not lost: of processes without a slot, counted under slot 0 */
	__u64 halves;	      /* of the queue sample, kept for their other half */
	__u64 pairs;	      /* of these, those whose other half came */
	__u64 devices;	      /* tellings of devices that found no space */
	__u64 failures;	      /* calls that failed and whose key has their name */
	__u64 invalid;	      /* records whose times make no sense: counted, without a time */
};

/* One lane's state; .taken is the lock. 64 bytes, so that lanes do not share a cache line. */
struct aggregate_lane {
	__u64 taken;
	__u64 uses;
	__u64 batches; /* of these; the others are calls of the driver source */
	__u64 ns;      /* spent in the program */
	__u64 pad[4];
};

_Static_assert(sizeof(struct tally_key) == 16, "no hidden padding");
_Static_assert(sizeof(struct tally) == 48 + 4 * AGGREGATE_BUCKETS, "no hidden padding");
_Static_assert(sizeof(struct shape) == 48 + 12 * AGGREGATE_BUCKETS, "no hidden padding");
_Static_assert(sizeof(struct aggregate_process_key) == 16, "no hidden padding");
_Static_assert(sizeof(struct aggregate_lane) == 64, "a cache line");

#endif
