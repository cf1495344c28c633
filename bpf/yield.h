/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the gate (yield.bpf.c) and the tool share: docs/internals/yield.md. Both are built together.
 */
#ifndef BPF_YIELD_H
#define BPF_YIELD_H

#include <linux/types.h>

/* How long a call of another client waits at most until the agent has left CUPTI: 20 to 50 ms as a
 * rule, 260 ms with eight programs that compute on each CPU. CUPTI refuses a client whose call goes
 * on before the agent has left. */
#define YIELD_HELD_NS 800000000ull
/* A client without a subscription and without kinds that are on has left so long after its last
 * call. */
#define YIELD_QUIET_NS 300000000ull
/* A call that has not returned after that is not waited for any more. */
#define YIELD_CALL_NS 60000000000ull

/* What a function of libcupti means for a client's session: in the cookie of its uprobe. */
enum yield_call {
	YIELD_CLAIM = 1,   /* cuda:cupti_claim: see libcupti-usdt/probes.h */
	YIELD_RELEASE = 2, /* cuda:cupti_release */
	YIELD_SUBSCRIBE = 3,
	YIELD_UNSUBSCRIBE = 4,
	YIELD_BUFFERS = 5,   /* cuptiActivityRegisterCallbacks() */
	YIELD_ENABLE = 6,    /* first argument: the kind */
	YIELD_ENABLE_IN = 7, /* the second one is it: of a context */
	YIELD_DISABLE = 8,
	YIELD_DISABLE_IN = 9,
	YIELD_FLUSH = 10,
	YIELD_FINALIZE = 11,
	YIELD_CLAIM_HINTED = 12, /* cuda:cupti_claim of a library that has a hint */
};

/* A client of CUPTI in a process, beside our agent. Only the gate writes. */
struct yield_client {
	__u64 since;	  /* ns, its first call */
	__u64 last;	  /* ns, its last call, or the return of that */
	__u64 kinds;	  /* that are on, a bit each */
	__u64 tried;	  /* the one that the last call was to switch on */
	__u64 caller;	  /* address to which its first call returns */
	__u64 held_since; /* ns, when its first call began to wait for the agent */
	__u64 held_ns;	  /* how long calls have waited */
	__u32 subscribed;
	__u32 calls; /* that have not returned */
	__u32 tid;   /* of its last call */
	__u32 pad;
};

/* Our agent, while it has CUPTI or is about to get it. The gate writes; the tool only adds what was
 * so before the gate was there. */
struct yield_claim {
	__u64 since;
	__u64 function;	      /* address of cuptiSubscribe() */
	__u64 code, code_end; /* its text: calls from there are its own */
	__u64 hint;	      /* address of the word that makes it yield at once; 0 = unknown */
	__u32 held;	      /* 1: it has CUPTI */
	__u32 tid;	      /* the thread that subscribes and switches kinds */
};

enum yield_event_kind {
	YIELD_EVENT_CLAIM = 1,	/* the agent is about to subscribe: put the gate there */
	YIELD_EVENT_CLIENT = 2, /* a client has come: the agent must leave */
	YIELD_EVENT_CHANGE = 3, /* it may have left */
	YIELD_EVENT_END = 4,	/* the process has ended, or runs another program */
	YIELD_EVENT_FREE = 5,	/* the agent has left */
};

/* Of the ring `yield_calls`: a client of this process waits. */
struct yield_waits {
	__u64 time;
	__u32 pid;
	__u32 pad;
};

struct yield_event {
	__u64 time;
	__u64 function; /* of CLAIM */
	__u32 kind;
	__u32 pid;
};

#endif
