/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clang-format off */
/*
 * CONTRACT 2: what the eBPF programs hand to the tool: ring-buffer records, settings, counters.
 * Included by bpf/ and cuda-trace/ only. Both are built together, so there is no version here.
 */
#ifndef BPF_EVENT_H
#define BPF_EVENT_H

#include "libcupti-usdt/probes.h"

#define EVENT_COMM_LEN 16
#define PROBE_PROGRAMS 64 /* programs at probes that an object may have */

/* The lower half of a cookie at a probe of the agent: the program's number, and whose hits go on to
 * it. A process may be reached by two links at once while it passes from the one to the other. */
#define PROBE_NUMBER	 0xff
#define PROBE_OF_LINKED	 0x100 /* of a process in the map `linked`, with this number there: */
#define PROBE_LINK(n)	 ((__u32)(n) << 10)
#define PROBE_OF_OTHERS	 0x200 /* of all processes that are not in it; neither bit: of each */

enum event_kind {
	EVENT_BATCH = 1,  /* data: `bytes` of records of `group` */
	EVENT_NAME = 2,	  /* data: the name, NUL-terminated; group = id, count = its full length */
	EVENT_STATUS = 3, /* data: struct cuda_status */
	EVENT_LOST = 4,	  /* group = enum cuda_lost_reason, first = total, count = since the last */
	EVENT_ERROR = 5,  /* group = code, data: component at 0, message at ERROR_COMPONENT_LEN */
	EVENT_EXIT = 6,	  /* a process that had sent something is over: group = enum event_exit,
			   * count = exit status as of wait(2), first = records that it had
			   * not sent; no data */
	EVENT_SELFTEST = 7, /* the tool's own probe was hit; no data */
	EVENT_ALIAS = 8,    /* group = id that means the same name as id `first`; no data */
	EVENT_STACK = 9,    /* data: struct event_stack, as far as it is filled */
	EVENT_CODE = 10,    /* data: struct event_code; comes right behind the first stack that names it */
	EVENT_STACK_COPY = 11, /* data: struct event_stack_copy; comes before the stack of the same launch */
	EVENT_COLLECTIVE = 12, /* data: struct event_collective */
};

enum event_source {
	EVENT_SOURCE_AGENT = 0,
	EVENT_SOURCE_DRIVER = 1, /* seen at libcuda's entry points: no GPU times */
};

/* `first` of an end: its memory was gone. */
#define EVENT_UNSENT_UNKNOWN (~0ull)

/* `first` of records that nobody numbered. */
#define EVENT_UNNUMBERED (~0ull)

/* What an entry point of libcuda is: the lowest byte of its cookie; then a detail (kind of memory,
 * direction of a copy, kind of a wait), then the function's number, and how its arguments lie. */
enum driver_shape {
	DRIVER_LAUNCH = 1,
	DRIVER_LAUNCH_EX = 2,
	DRIVER_GRAPH = 3,
	DRIVER_ALLOC = 4,
	DRIVER_FREE = 5,
	DRIVER_COPY = 6,
	DRIVER_SYNC = 7,
	DRIVER_NAME = 8,
	DRIVER_ALIAS = 9,
	DRIVER_TRIAL = 0xff, /* the tool's own function: its hits are counted */
};

/* Which arguments of the function say what the record needs. */
enum driver_layout {
	DRIVER_PLAIN = 0,     /* as most of this shape have them */
	DRIVER_UNKNOWN = 1,   /* not known: nothing but the result is read */
	DRIVER_FOURTH = 2,    /* bytes: the fourth */
	DRIVER_FIFTH = 3,     /* bytes: the fifth */
	DRIVER_RECTANGLE = 4, /* the first points to a CUDA_MEMCPY2D */
	DRIVER_BOX = 5,	      /* the first points to a CUDA_MEMCPY3D or a CUDA_MEMCPY3D_PEER */
	DRIVER_BATCH = 6,     /* an array of bytes: the third; of so many: the fourth */
	DRIVER_PITCH = 7,     /* bytes of a row come back at the second; rows: the fourth */
	DRIVER_GIVEN = 8,     /* a name comes back at the first, of the handle: the second */
};
#define DRIVER_LAYOUT(layout)	 ((__u64)(layout) << 33)
#define DRIVER_LAYOUT_OF(cookie) ((__u32)((cookie) >> 33) & 0xf)
/* Where those structures have two kinds of memory (32 bits) and, side by side, how far they reach
 * (64 bits each). */
#define DRIVER_RECTANGLE_FROM	16
#define DRIVER_RECTANGLE_TO	72
#define DRIVER_RECTANGLE_EXTENT 112
#define DRIVER_BOX_FROM		32
#define DRIVER_BOX_TO		120
#define DRIVER_BOX_EXTENT	176

/* In a cookie: a launch that is reported at its entry, not when it returns. */
#define DRIVER_REPORTED_AT_ENTRY (1ull << 32)
/* In a cookie: of a link on one process, which has this bit in driver_pids then; a link of all processes on the same
 * library leaves it alone. */
#define DRIVER_OWN_LINK	     (1ull << 37)
#define DRIVER_HAS_OWN_LINK  (1ull << 63)
/* In a cookie where such a launch fails: with what; 0 = as the register of results says there. */
#define DRIVER_RESULT(code)    ((__u64)(code) << 40)
#define DRIVER_RESULT_OF(cookie) ((__u32)((cookie) >> 40) & 0xffff)
/* In the flags of a struct cuda_launch: was reported before, and has failed. */
#define DRIVER_LAUNCH_FAILED 0x40 /* beside CUDA_LAUNCH_...: without ..._RANGES, 0x7c is free */

/* A launch of the driver source that is not one of a graph. */
struct driver_launch {
	struct cuda_launch launch;
	__u64 kernel; /* its handle; the name's id is made of it; 0 = not known */
};

#define DRIVER_INSTANCE	     1		 /* such a process has no agent that could number itself */
#define DRIVER_FUNCTION_NAME 0xfff00000u /* + function's number: id of its name */

enum event_exit {
	EVENT_EXIT_END = 0,
	EVENT_EXIT_EXEC = 1, /* the process lives on with another program */
};

#define ERROR_COMPONENT_LEN 64
#define ERROR_MESSAGE_LEN   256

#define STACK_ADDRESSES	    127
#define STACK_PYTHON_FRAMES 80

enum stack_python {
	STACK_PYTHON_NONE = 0,	  /* no interpreter that is known */
	STACK_PYTHON_WALKED = 1,  /* all frames, which may be none */
	STACK_PYTHON_CUT = 2,	  /* there are more */
	STACK_PYTHON_STRANGE = 3, /* the thread is none of the interpreter's */
	STACK_PYTHON_BROKEN = 4,  /* a frame could not be read: what is there came before it */
};

struct stack_python_frame {
	__u64 code;	   /* address of the code object; 0 = no frame: the one before it is an entry */
	__u64 key;	   /* of its contents: another object may get the same address */
	__s32 instruction; /* bytes from the code's first one; below 0 = not begun */
	__u32 entry;	   /* 1: the outermost one of a call of the evaluation loop */
};

/* Innermost frames first. */
struct event_stack {
	__u32 correlation;
	__u32 tid;     /* as the process's own pid namespace numbers it */
	__u32 context; /* context id */
	__u32 period;  /* one in so many launches is sampled */
	__u16 depth;   /* addresses */
	__u16 frames;  /* of Python */
	__u32 python;  /* enum stack_python */
	__u64 start;   /* ns, of a call that created or changed nodes of a graph; 0 = a launch */
	__u64 end;     /* ns, of that call */
	__u64 addresses[STACK_ADDRESSES];
	struct stack_python_frame python_frames[STACK_PYTHON_FRAMES];
};

#define STACK_COPY_MAX	    262144 /* bytes: cuBLAS and cuDNN use 100 KiB and more */
#define STACK_COPY_FARTHEST (64ul << 20) /* an end that is farther away is another stack's */

/* The registers and the used part of a thread's stack, at a launch. x86-64 only. */
struct event_stack_copy {
	__u32 correlation;
	__u32 tid;     /* as in struct event_stack */
	__u64 address; /* of the instruction */
	__u64 stack_pointer;
	__u64 saved[6]; /* rbx, rbp, r12 to r15 */
	__u32 bytes;	/* of the stack, from the stack pointer on */
	__u32 is_of_graph; /* the call created or changed nodes of a graph */
	__u8 stack[];
};

#define CODE_FILE_LEN  512
#define CODE_NAME_LEN  256
#define CODE_TABLE_MAX 16384

/* A Python code object. Texts as CPython keeps them: 1, 2 or 4 bytes a character. */
struct event_code {
	__u64 code;
	__u64 key;
	__u32 version; /* of CPython: struct cuda_python */
	__s32 first_line;
	__u32 file_bytes, name_bytes;
	__u32 file_width, name_width; /* bytes a character; 0 = unreadable */
	__u32 table_bytes;	      /* of table; fewer than there are if that is too long */
	__u32 unused;
	__u8 file[CODE_FILE_LEN];
	__u8 name[CODE_NAME_LEN];
	__u8 table[]; /* co_linetable, before 3.10 co_lnotab */
};

/* Functions of NCCL whose entries are observed: cookies of the links. */
enum nccl_function {
	NCCL_ALL_REDUCE = 1,
	NCCL_BROADCAST = 2,
	NCCL_REDUCE = 3,
	NCCL_ALL_GATHER = 4,
	NCCL_REDUCE_SCATTER = 5,
	NCCL_ALL_TO_ALL = 6,
	NCCL_GATHER = 7,
	NCCL_SCATTER = 8,
	NCCL_SEND = 9,
	NCCL_RECV = 10,
	NCCL_OPERATIONS = 11, /* these have a communicator, a count and a stream */
	NCCL_GROUP_START = 11,
	NCCL_GROUP_END = 12,
	NCCL_INIT_RANK = 13, /* a communicator was made: its entry and its return */
	NCCL_INIT_SCALABLE = 14,
	NCCL_INIT_ALL = 15,
	NCCL_SPLIT = 16,
	/* No function: an operation on a communicator that was made before anybody looked. Comes
	 * before the first one that is observed. */
	NCCL_FOUND = 17,
	NCCL_FUNCTIONS = 18,
};

/* Where a collective's number counts from. */
enum nccl_numbering {
	NCCL_UNNUMBERED = 0,
	NCCL_FROM_CREATION = 1, /* the same number in all ranks */
	NCCL_FROM_FOUND = 2,	/* from the first one that was observed of this rank */
};

/* One call. Fields that the function does not have are 0. */
struct event_collective {
	__u64 time;	/* ns, at its entry */
	__u64 comm;	/* the communicator's address in the process */
	__u64 id;	/* made and found communicators: the same in all of its ranks */
	__u64 parent;	/* of a split: the address of the communicator that was split */
	__u64 count;	/* elements */
	__u64 stream;	/* CUstream handle */
	__u64 sequence; /* of collectives: the number of this one on the communicator, from 0, if
			 * `known`. Of a split: its number */
	__u32 tid;	/* as the process's own pid namespace numbers it */
	__u16 function; /* enum nccl_function */
	__u8 known;   /* enum nccl_numbering; 1 for a made communicator */
	__u8 depth;   /* groups that are open around it: 0 = it launches by itself */
	__s32 type;   /* ncclDataType_t */
	__s32 reduce; /* ncclRedOp_t */
	__s32 peer;   /* root, or the other rank of a send or receive */
	__s32 rank;   /* of a made communicator; -1 = its parent's rank is not known */
	__s32 size;   /* likewise; 0 = not known: maybe of a split */
	__s32 color;  /* of a split */
};

struct event {
	__u32 kind; /* enum event_kind */
	__u32 group;
	__u64 time;	/* bpf_ktime_get_ns() */
	__u64 instance; /* as the agent numbers its loads */
	__u64 first;	/* see cuda:launch_batch */
	__u64 cgroup;	/* bpf_get_current_cgroup_id() */
	__u32 pid;	/* thread group, in the tool's initial pid namespace */
	__u32 tid;	/* the thread that fired the probe: not always the one that launched */
	__u32 uid;
	__u32 count;
	__u32 bytes;		   /* of data */
	__u32 source;		   /* enum event_source */
	char comm[EVENT_COMM_LEN]; /* of the process (its main thread), not of the thread */
	__u8 data[];
};

_Static_assert(sizeof(struct event) == 80, "no hidden padding");
_Static_assert(sizeof(struct event_stack) == 2976, "no hidden padding");
_Static_assert(sizeof(struct event_stack_copy) == 80, "no hidden padding");
_Static_assert(sizeof(struct event_code) == 816, "no hidden padding");
_Static_assert(sizeof(struct event_collective) == 88, "no hidden padding");

enum start_kind {
	START_AGENT = 1,	 /* the agent was loaded */
	START_WITHOUT_FIRST = 2, /* its first thread is gone, and others go on: see arguments.h */
	START_EXEC = 3,		 /* a followed process runs another program: maybe another loader */
	START_LIBCUDA = 4,	 /* it has loaded a libcuda, and waits for LOAD_ANSWERED */
	START_INITIALIZED = 5,	 /* its first cuInit() has returned, and it waits likewise */
	START_OTHER = 6,	 /* cuInit() of a process that is not followed; it does not wait */
	START_CUPTI_WANTED = 7,	 /* its file system has no libcupti, and it waits for one */
};

/* probe_value() of the program `start` where it is at cuda:cupti_wanted; at cuda:start it is 0. */
#define PROBE_CUPTI_WANTED 1

/* What the tool must answer at once, in a ring of its own, `starts`. */
struct event_start {
	__u64 time; /* bpf_ktime_get_ns() */
	__u32 kind; /* enum start_kind */
	__u32 pid;
	__u32 milliseconds; /* START_AGENT: how long the process waits for the answer */
	__u32 socket;	    /* START_CUPTI_WANTED: its descriptor to send it by, */
	__u32 driver;	    /* and its driver's version */
	__u32 cpu;	    /* where the thread ran that this is about */
};

_Static_assert(sizeof(struct event_start) == 32, "no hidden padding");

/* How long a thread waits for the tool at most; see library_loads.h. */
#define LOAD_LONGEST_NS 2000000000ull

enum load_state { LOAD_RUNS = 0, LOAD_WAITS = 1, LOAD_ANSWERED = 2 };

struct library_load {
	__u64 tail; /* the loader's last object that was looked at */
	__u64 tail_dynamic;
	__u64 libcuda;	 /* the loader's object of the last one that was found; 0 = not known */
	__u32 state;	 /* enum load_state */
	__u32 libraries; /* copies of libcuda that were loaded */
	__u32 initialized;
	__u32 pad;
};

/* What is kept; set before load, read-only for the program. A zero field does not filter. */
struct stream_settings {
	__u8 by_pid;  /* only processes in the map `pids`, and what they fork while we look */
	__u8 by_comm; /* only processes whose comm equals `comm` */
	__u8 by_uid;
	__u8 by_cgroup; /* only processes below the cgroup with id `cgroup` */
	__u32 uid;
	__u64 cgroup;
	__u32 cgroup_level; /* depth of that cgroup, for bpf_get_current_ancestor_cgroup_id() */
	__u32 self;	    /* the tool's own pid: its self-test probe is answered */
	__u32 pid_namespace; /* where the tool lives, if not in the first: processes have those numbers */
	__u32 by_link; /* processes may have links of their own: those in the map `linked` */
	char comm[EVENT_COMM_LEN];
};

/* Per-CPU, summed by the tool: what could not be handed over. Records, not batches. */
struct stream_counters {
	__u64 received[CUDA_GROUP_COUNT];
	__u64 ring_full[CUDA_GROUP_COUNT];  /* records that found no space in the ring buffer */
	__u64 unreadable[CUDA_GROUP_COUNT]; /* records whose memory could not be read */
	__u64 ring_full_other;		    /* names, states and so on */
	__u64 unreadable_other;
	__u64 ring_full_collectives; /* calls of NCCL: never sent again */
	__u64 stacks;		 /* handed over */
	__u64 stacks_ring_full;	 /* that found no space, or their code objects did not */
	__u64 stack_ns;		 /* spent on stacks, without the trap into the kernel */
	__u64 stacks_unreadable; /* without one readable frame */
	__u64 unfollowed; /* forked children that found no space in the map `pids` */
	__u64 driver_unknown; /* calls of libcuda that were counted, their arguments unread */
	__u64 starts_full;    /* events that found no space in `starts` */
};

#endif
