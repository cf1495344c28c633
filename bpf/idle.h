/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What idle.bpf.c reports of the threads of watched processes: when each was off the CPU and why,
 * and samples of where it was on the CPU. All times are bpf_ktime_get_ns(). Included by bpf/ and
 * cuda-trace/ only.
 */
#ifndef BPF_IDLE_H
#define BPF_IDLE_H

#include <linux/types.h>
#include "bpf/event.h"

#define IDLE_COMM_LEN	 16
#define IDLE_FILE_LEN	 32
#define IDLE_TABLE_MAX	 1024 /* bytes of a function's table of lines */
#define IDLE_SYSCALLS	 512
#define IDLE_STACK_DEPTH 16
#define IDLE_BITS	 65536 /* of process numbers: a first, cheap filter */

enum idle_kind { IDLE_WAIT = 1, IDLE_SAMPLE = 2 };

enum idle_state {
	IDLE_RUNNABLE = 1, /* another task has the CPU */
	IDLE_BLOCKED = 2,
	IDLE_DISK = 3, /* blocked, and the Linux kernel counts it as I/O */
	IDLE_GIL = 4,  /* blocked, on a futex within the state of its Python interpreter */
};

struct idle_task {
	__u32 pid; /* as the tool numbers it */
	__u32 tid; /* as its own pid namespace numbers it; 0 = not known */
	char comm[IDLE_COMM_LEN];
};

/* The innermost frame of Python; code 0 = none is known. */
struct idle_frame {
	__u64 code, key; /* see struct stack_python_frame */
	__s32 instruction;
	__u32 pad;
};

struct idle_code_key {
	__u32 pid; /* as the tool numbers it */
	__u32 pad;
	__u64 code;
};

/* A struct event_code and its table. */
struct idle_code {
	__u64 words[(sizeof(struct event_code) + IDLE_TABLE_MAX) / sizeof(__u64)];
};

/* A wait. Short ones of the same kind in a row are one, of which off_ns is less than its length. */
struct idle_wait {
	__u32 kind; /* enum idle_kind */
	__u32 pid;
	__u32 tid;
	__s32 syscall; /* -1 = none: a page fault, or an interrupt */
	__u64 start;
	__u64 end;
	__u64 off_ns;
	__u64 delay_ns; /* of off_ns: runnable, but another task had the CPU */
	__s32 stack;	/* in the map `stacks`; negative = none was taken */
	__s32 file;	/* descriptor; -1 = none */
	__u32 mode;	/* of that file: type bits of its inode */
	__u16 state;	/* enum idle_state */
	__u16 count;
	struct idle_task other;	  /* who woke it; of a runnable one, who ran instead */
	struct idle_task rival;	  /* who had the CPU when it was woken; comm "" = nobody */
	char name[IDLE_FILE_LEN]; /* of the file, without folders; untrusted */
	struct idle_frame frame;
};

struct idle_sample {
	__u32 kind; /* enum idle_kind */
	__u32 pid;
	__u32 tid;
	__s32 stack;
	__u64 time;
	struct idle_frame frame;
};

/* Per thread, while it lives. */
struct idle_thread {
	struct idle_wait open; /* the last wait, not reported yet; kind 0 = none */
	struct idle_wait now;  /* the present one; kind 0 = the thread runs */
	__u64 woken;	       /* when; 0 = not yet */
	__u64 next_stack;      /* no stack before */
	__u64 ran;	       /* ns on a CPU, when the present wait began */
};

struct idle_counters {
	__u64 waits;	    /* seen */
	__u64 reported;	    /* records */
	__u64 repaired;	    /* waits whose end was not reported: the time on the CPU shows it */
	__u64 ring_full;    /* records that were lost */
	__u64 threads_full; /* waits of threads that found no place in the map */
	__u64 unfollowed;   /* children that found none */
};

_Static_assert(sizeof(struct idle_wait) == 168, "no hidden padding");
_Static_assert(sizeof(struct idle_sample) == 48, "no hidden padding");

#endif
