/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of NCCL's exported functions, with their arguments, as events in the ring buffer. The
 * cookie is the function (enum nccl_function) and, in its upper half, where a communicator keeps
 * its rank (nccl_layout.h). Collectives are numbered here and not in the tool, so that a lost event
 * shifts nothing: ranks call the collectives of a communicator in one order. Included once, by
 * stream.bpf.c.
 */
#ifndef BPF_NCCL_H
#define BPF_NCCL_H

#include "bpf/driver.h"

#define NCCL_ID_WORDS  16 /* ncclUniqueId: 128 bytes */
#define NCCL_CLIQUE    16 /* communicators of one ncclCommInitAll() that are reported */
#define NCCL_MAX_RANKS (1 << 20)

struct nccl_key {
	__u64 comm;
	__u32 pid;
	__u32 pad;
};

struct nccl_comm {
	__u64 id;
	__u64 hash; /* NCCL's own; 0 = it was not known yet */
	__u64 sequence;
	__u64 splits;
	__s32 rank;
	__u32 numbering; /* enum nccl_numbering */
};

/* As struct ncclComm has them side by side. */
struct nccl_identity {
	__u64 hash; /* the same in all ranks */
	__s32 rank, size;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct nccl_key);
	__type(value, struct nccl_comm);
} nccl_comms SEC(".maps");

/* Of a thread: open groups, and the call that is making a communicator. */
struct nccl_thread {
	__u64 identified;
	struct parcel parcel;
	__u64 result; /* where the new communicator's address will be; 0 = no such call is open */
	struct event_collective made;
	__u32 depth;
	__u32 tid; /* in the process's own namespace */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct nccl_thread);
} nccl_threads SEC(".maps");

/* This thread, as the process's own namespace numbers it. */
static __always_inline __u32 own_thread_number(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u64 level = BPF_CORE_READ(pid, level);
	struct upid *at = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			  level * bpf_core_type_size(struct upid);

	return BPF_CORE_READ(at, nr);
}

static __always_inline struct nccl_thread *this_nccl_thread(void)
{
	struct nccl_thread *thread = bpf_task_storage_get(&nccl_threads, bpf_get_current_task_btf(),
							  NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u64 now = bpf_jiffies64();

	if (!thread || now - thread->identified < IDENTITY_TICKS)
		return thread;
	if (!identify(&thread->parcel))
		return NULL;
	thread->tid = own_thread_number();
	thread->identified = now;
	return thread;
}

/* The n-th argument of integer class, from 0. */
static __always_inline __u64 nccl_argument(struct pt_regs *ctx, const int n)
{
	switch (n) {
	case 0:
		return PT_REGS_PARM1(ctx);
	case 1:
		return PT_REGS_PARM2(ctx);
	case 2:
		return PT_REGS_PARM3(ctx);
	case 3:
		return PT_REGS_PARM4(ctx);
	case 4:
		return PT_REGS_PARM5(ctx);
	}
#if DRIVER_REGISTERS == 8
	return ((const struct user_pt_regs *)ctx)->regs[n];
#else
	__u64 value = 0;

	if (n == 5)
		return ctx->r9;
	stack_arguments(ctx, &value, n, 1);
	return value;
#endif
}

/* False: it is lost, and counted. */
static __always_inline bool send_collective(struct nccl_thread *thread,
					    const struct event_collective *call)
{
	struct stream_counters *counter = this_cpu_counters();
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e) + sizeof(*call), 0);

	if (!e) {
		if (counter)
			count_up(&counter->ring_full_collectives, 1);
		return false;
	}
	thread->parcel.kind = EVENT_COLLECTIVE;
	thread->parcel.group = call->function;
	thread->parcel.instance = DRIVER_INSTANCE;
	thread->parcel.first = EVENT_UNNUMBERED;
	thread->parcel.count = 1;
	thread->parcel.bytes = sizeof(*call);
	address_at(e, &thread->parcel, call->time);
	e->source = EVENT_SOURCE_AGENT;
	__builtin_memcpy(e->data, call, sizeof(*call));
	bpf_ringbuf_submit(e, wake_flags());
	return true;
}

/* 64 bits that stand for the words; never 0. */
static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* Who the communicator is, as it says itself. False: it cannot be read, or makes no sense. */
static __always_inline bool identify_comm(__u64 comm, __u32 rank_at, struct nccl_identity *own)
{
	const void *at = (void *)(comm + rank_at - offsetof(struct nccl_identity, rank));

	return rank_at && !bpf_probe_read_user(own, sizeof(*own), at) && own->hash &&
	       own->rank >= 0 && own->rank < own->size && own->size <= NCCL_MAX_RANKS;
}

/* The user is in it: nobody pretends to be a rank of another one's. */
static __always_inline __u64 id_of_comm(const struct nccl_thread *thread, __u64 hash)
{
	__u64 id = mix(mix(2, thread->parcel.uid), hash);

	return id ? id : 1;
}

/* One that was made before anybody looked. If the tool does not hear of it, the next call tries. */
static __always_inline struct nccl_comm *find_comm(struct nccl_thread *thread,
						   const struct nccl_key *key, __u64 time,
						   const struct nccl_identity *own)
{
	const struct nccl_comm comm = {.id = id_of_comm(thread, own->hash),
				       .hash = own->hash,
				       .rank = own->rank,
				       .numbering = NCCL_FROM_FOUND};
	/* The tool needs it before the call. */
	const struct event_collective found = {.time = time - 1,
					       .function = NCCL_FOUND,
					       .comm = key->comm,
					       .id = comm.id,
					       .rank = own->rank,
					       .size = own->size,
					       .tid = thread->tid};

	if (!send_collective(thread, &found))
		return NULL;
	bpf_map_update_elem(&nccl_comms, key, &comm, BPF_ANY);
	return bpf_map_lookup_elem(&nccl_comms, key);
}

/* Another one may have its address by now, whose creation was not seen. */
static __always_inline struct nccl_comm *comm_of(struct nccl_thread *thread, __u64 address,
						 __u64 time, __u32 rank_at)
{
	const struct nccl_key key = {.comm = address, .pid = thread->parcel.pid};
	struct nccl_comm *comm = bpf_map_lookup_elem(&nccl_comms, &key);
	struct nccl_identity own = {};

	if (!identify_comm(address, rank_at, &own))
		return comm;
	if (comm && !comm->hash)
		comm->hash = own.hash;
	return comm && comm->hash == own.hash ? comm : find_comm(thread, &key, time, &own);
}

static __always_inline void number_collective(struct nccl_thread *thread,
					      struct event_collective *call, __u32 rank_at)
{
	struct nccl_comm *comm = comm_of(thread, call->comm, call->time, rank_at);

	if (!comm || call->function == NCCL_SEND || call->function == NCCL_RECV)
		return;
	/* One thread calls at a time: NCCL wants that of a communicator. */
	call->sequence = comm->sequence++;
	call->known = comm->numbering;
}

/* Where the arguments behind (send, receive, count, type) are. */
static __always_inline void read_operation(struct pt_regs *ctx, struct event_collective *call)
{
	call->count = nccl_argument(ctx, 2);
	call->type = (__s32)nccl_argument(ctx, 3);
	switch (call->function) {
	case NCCL_ALL_REDUCE:
	case NCCL_REDUCE_SCATTER:
		call->reduce = (__s32)nccl_argument(ctx, 4);
		call->comm = nccl_argument(ctx, 5);
		call->stream = nccl_argument(ctx, 6);
		break;
	case NCCL_BROADCAST:
	case NCCL_GATHER:
	case NCCL_SCATTER:
		call->peer = (__s32)nccl_argument(ctx, 4);
		call->comm = nccl_argument(ctx, 5);
		call->stream = nccl_argument(ctx, 6);
		break;
	case NCCL_REDUCE:
		call->reduce = (__s32)nccl_argument(ctx, 4);
		call->peer = (__s32)nccl_argument(ctx, 5);
		call->comm = nccl_argument(ctx, 6);
		call->stream = nccl_argument(ctx, 7);
		break;
	case NCCL_ALL_GATHER:
	case NCCL_ALL_TO_ALL:
		call->comm = nccl_argument(ctx, 4);
		call->stream = nccl_argument(ctx, 5);
		break;
	case NCCL_SEND:
	case NCCL_RECV: /* one buffer only */
		call->count = nccl_argument(ctx, 1);
		call->type = (__s32)nccl_argument(ctx, 2);
		call->peer = (__s32)nccl_argument(ctx, 3);
		call->comm = nccl_argument(ctx, 4);
		call->stream = nccl_argument(ctx, 5);
		break;
	}
}

static __always_inline __u64 hash_of_id(const void *id, __u32 uid)
{
	__u64 words[NCCL_ID_WORDS] = {}, hash = mix(1, uid);

	bpf_probe_read_user(words, sizeof(words), id);
	for (int i = 0; i < NCCL_ID_WORDS; i++)
		hash = mix(hash, words[i]);
	return hash ? hash : 1;
}

static __always_inline void begin_split(struct pt_regs *ctx, struct nccl_thread *thread,
					struct event_collective *made)
{
	struct nccl_key key = {.comm = nccl_argument(ctx, 0), .pid = thread->parcel.pid};
	struct nccl_comm *parent = bpf_map_lookup_elem(&nccl_comms, &key);

	made->parent = key.comm;
	made->color = (__s32)nccl_argument(ctx, 1);
	made->rank = -1;
	thread->result = nccl_argument(ctx, 3);
	/* Ranks whose communicator was found have not seen the same splits: the new one is found,
	 * too. */
	if (!parent || parent->numbering != NCCL_FROM_CREATION)
		return;
	made->sequence = parent->splits++;
	made->rank = parent->rank;
	made->id = mix(mix(parent->id, made->sequence), (__u32)made->color);
}

/* A structure of 128 bytes lies on the stack on x86-64, and is passed by its address on arm64. */
static __always_inline void begin_making(struct pt_regs *ctx, struct nccl_thread *thread,
					 __u32 function, __u64 time)
{
	struct event_collective *made = &thread->made;

	__builtin_memset(made, 0, sizeof(*made));
	made->time = time;
	made->function = function;
	made->depth = thread->depth;
	thread->result = nccl_argument(ctx, 0);
	made->size = (__s32)nccl_argument(ctx, 1);
	if (function == NCCL_SPLIT) {
		made->size = 0;
		begin_split(ctx, thread, made);
	} else if (function == NCCL_INIT_SCALABLE) {
		made->rank = (__s32)nccl_argument(ctx, 2);
		made->id = hash_of_id((void *)nccl_argument(ctx, 4), thread->parcel.uid);
	} else if (function == NCCL_INIT_RANK) {
#if DRIVER_REGISTERS == 8
		made->rank = (__s32)nccl_argument(ctx, 3);
		made->id = hash_of_id((void *)nccl_argument(ctx, 2), thread->parcel.uid);
#else
		made->rank = (__s32)nccl_argument(ctx, 2);
		made->id = hash_of_id((void *)(PT_REGS_SP(ctx) + DRIVER_STACK), thread->parcel.uid);
#endif
	}
}

SEC("kprobe")
int nccl_entry(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u32 function = (__u32)cookie;
	struct nccl_thread *thread = this_nccl_thread();
	struct event_collective call = {.time = bpf_ktime_get_ns(), .function = function};

	keep_own_stack(ctx);
	if (!thread)
		return 0;
	if (function > NCCL_GROUP_END) {
		begin_making(ctx, thread, function, call.time);
		return 0;
	}
	if (function == NCCL_GROUP_START)
		thread->depth++;
	else if (function == NCCL_GROUP_END && thread->depth)
		thread->depth--;
	call.depth = thread->depth < 255 ? thread->depth : 255;
	/* Only the outermost end launches something. */
	if (function == NCCL_GROUP_START || (function == NCCL_GROUP_END && call.depth))
		return 0;
	call.tid = thread->tid;
	if (function < NCCL_OPERATIONS) {
		read_operation(ctx, &call);
		number_collective(thread, &call, cookie >> 32);
	}
	send_collective(thread, &call);
	return 0;
}

/* It is what the call was to make. */
static __always_inline bool identify_made(const struct nccl_thread *thread, __u32 rank_at,
					  struct nccl_identity *own)
{
	const struct event_collective *made = &thread->made;

	return identify_comm(made->comm, rank_at, own) &&
	       (made->function == NCCL_SPLIT ||
		(own->rank == made->rank && own->size == made->size));
}

/* finished: NCCL is done with it; else, in a group or in the background, it has no hash yet. */
static __always_inline void made_one(struct nccl_thread *thread, __u32 rank_at, bool finished)
{
	struct event_collective *made = &thread->made;
	struct nccl_key key = {.comm = made->comm, .pid = thread->parcel.pid};
	struct nccl_comm comm = {.numbering = NCCL_FROM_CREATION};
	struct nccl_identity own = {};

	if (finished && identify_made(thread, rank_at, &own)) {
		made->id = id_of_comm(thread, own.hash);
		made->rank = own.rank;
		made->size = own.size;
	}
	comm.id = made->id;
	comm.hash = own.hash;
	comm.rank = made->rank;
	/* A split without a colour makes none, but the other ranks' communicators are complete
	 * without this one. */
	if (key.comm && made->id)
		bpf_map_update_elem(&nccl_comms, &key, &comm, BPF_ANY);
	else if (key.comm) /* another one had its address */
		bpf_map_delete_elem(&nccl_comms, &key);
	send_collective(thread, made);
}

struct nccl_clique {
	struct nccl_thread *thread;
	__u64 communicators; /* where the program has their addresses */
	__u32 rank_at;
	__u32 finished;
};

/* A helper's loop, whose body the verifier looks at once. */
static long made_member(__u32 i, struct nccl_clique *clique)
{
	struct nccl_thread *thread = clique->thread;
	struct event_collective *made = &thread->made;

	if ((__s32)i >= made->size)
		return 1;
	bpf_probe_read_user(&made->comm, 8, (void *)(clique->communicators + 8 * i));
	if (!i)
		made->id = mix(mix(made->time, thread->parcel.pid), made->comm) | 1;
	made->rank = i;
	made_one(thread, clique->rank_at, clique->finished);
	return 0;
}

/* What made a communicator has returned: its address is known. */
SEC("kprobe")
int nccl_return(struct pt_regs *ctx)
{
	struct nccl_thread *thread = this_nccl_thread();
	struct nccl_clique clique = {.thread = thread};
	struct event_collective *made;

	keep_own_stack(ctx);
	if (!thread || !thread->result)
		return 0;
	made = &thread->made;
	clique.communicators = thread->result;
	clique.rank_at = bpf_get_attach_cookie(ctx) >> 32;
	clique.finished = !PT_REGS_RC(ctx) && !thread->depth;
	thread->result = 0;
	made->known = 1;
	made->tid = thread->tid;
	if (made->function == NCCL_INIT_ALL) {
		bpf_loop(NCCL_CLIQUE, made_member, &clique, 0);
		return 0;
	}
	bpf_probe_read_user(&made->comm, 8, (void *)clique.communicators);
	made_one(thread, clique.rank_at, clique.finished);
	return 0;
}

#endif
