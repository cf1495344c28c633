/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stops a thread where its process has loaded a libcuda for the first time, and where the first
 * cuInit() of a process has returned, until the tool has attached to what it needs: see
 * cuda-trace/driver/library_loads.c. The dynamic loader calls an empty function for debuggers when
 * all new libraries are mapped and none of their code has run. Included once by stream.bpf.c.
 */
#ifndef BPF_LIBRARY_LOADS_H
#define BPF_LIBRARY_LOADS_H

#include "bpf/filter.h"

/* Execs of followed processes are reported. */
const volatile bool loads_are_watched;
/* A process with an agent waits at the return of cuInit(), too: its mappings are read there, which
 * name the frames of call stacks, and a short program has ended soon after. */
const volatile bool loads_wait_for_mappings;

/* Followed processes in which the loader was seen; an exec or an end removes them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct library_load);
} loads SEC(".maps");

/* struct r_debug and struct link_map of <link.h>, which glibc and musl share. */
struct loader_debug {
	__s32 version;
	__s32 pad;
	__u64 first;
	__u64 function;
	__s32 state; /* 0 = RT_CONSISTENT */
};

struct loader_object {
	__u64 address;
	__u64 name;
	__u64 dynamic;
	__u64 next;
	__u64 previous;
};

struct loader_walk {
	__u64 at;
	__u64 tail;
	__u64 tail_dynamic;
	__u64 known; /* a libcuda that was found before */
	__u64 found;
};

#define LOADER_OBJECTS_MAX 4096
#define LOADER_NAME_PART   128
#define LOADER_NAME_PARTS  32
#define LOADER_NAME_END	   64

/* Global, as old versions of libbpf cannot place others. */
const volatile char libcuda_name[16] = "libcuda.so";

struct loader_name {
	char text[LOADER_NAME_PART];
	__u32 last; /* where the last component begins */
};

static long find_component(__u32 i, struct loader_name *name)
{
	if (name->text[i & (LOADER_NAME_PART - 1)] == '/')
		name->last = i + 1;
	return 0;
}

/* Does a path end in /libcuda.so…? The last component is in its last 64 bytes or is another. Global
 * and with helpers' loops, which the verifier looks at once: it takes seconds for others. */
__noinline int is_libcuda(__u64 path)
{
	struct loader_name name;
	__u32 length = 0;

	for (int i = 0; i < LOADER_NAME_PARTS; i++) {
		long part = bpf_probe_read_user_str(name.text, sizeof(name.text),
						    (void *)(path + length));

		if (part <= 0)
			return 0;
		length += part - 1;
		if (part < LOADER_NAME_PART)
			break;
	}
	length = length < LOADER_NAME_END ? 0 : length - LOADER_NAME_END;
	__builtin_memset(&name, 0, sizeof(name));
	if (bpf_probe_read_user_str(name.text, LOADER_NAME_END + 1, (void *)(path + length)) <= 0)
		return 0;
	bpf_loop(LOADER_NAME_END, find_component, &name, 0);
	for (__u32 i = 0; i < 10; i++)
		if (name.text[(name.last + i) & (LOADER_NAME_PART - 1)] != libcuda_name[i])
			return 0;
	return name.last > 0;
}

static long walk_loaded(__u32 turn, struct loader_walk *walk)
{
	struct loader_object object;

	if (!walk->at || bpf_probe_read_user(&object, sizeof(object), (void *)walk->at))
		return 1;
	walk->tail = walk->at;
	walk->tail_dynamic = object.dynamic;
	walk->at = object.next;
	if (walk->tail == walk->known || !is_libcuda(object.name))
		return 0;
	walk->found = walk->tail;
	return 1;
}

/* New objects come last. One that was unloaded since may have had the same place: then the whole
 * list is read again, as for a program that loads and unloads something all the time. */
static __always_inline __u64 first_new(const struct library_load *load, __u64 first)
{
	struct loader_object tail, before;

	if (!load->tail || bpf_probe_read_user(&tail, sizeof(tail), (void *)load->tail) ||
	    tail.dynamic != load->tail_dynamic || !tail.previous ||
	    bpf_probe_read_user(&before, sizeof(before), (void *)tail.previous) ||
	    before.next != load->tail)
		return first;
	return tail.next;
}

/* Threads that wait now, and how many may: the tool needs a processor, too. 0: it answers nobody,
 * because it still looks for the processes that there are, or has finished. */
__u32 load_waiters;
volatile __u32 load_waiters_max;

struct load_pause {
	__u64 until;
	__u64 stack; /* an address of the process that can be read */
	__u64 next_reading;
	__u32 pid;
	__u32 over;
};

static long pause_turn(__u32 turn, struct load_pause *pause)
{
	struct library_load *load = bpf_map_lookup_elem(&loads, &pause->pid);

	if (!load || *(volatile __u32 *)&load->state != LOAD_WAITS || !load_waiters_max ||
	    bpf_ktime_get_ns() >= pause->until) {
		pause->over = 1;
		return 1;
	}
	let_others_run(pause->stack, &pause->next_reading);
	return 0;
}

static long pause_round(__u32 round, struct load_pause *pause)
{
	bpf_loop(WAIT_TURNS, pause_turn, pause, 0);
	return pause->over != 0;
}

/* The bound counts here, should the tool have died or been stopped. There is nothing to sleep on,
 * so this takes the CPU time that nobody else wants. Both programs are sleepable, as others run in
 * an RCU section: there the kernel, which waits for the end of all of these, could create no link
 * meanwhile. */
static __always_inline void pause_until_answered(struct pt_regs *ctx, __u32 pid)
{
	struct load_pause pause = {.until = bpf_ktime_get_ns() + LOAD_LONGEST_NS,
				   .stack = PT_REGS_SP(ctx),
				   .pid = pid};
	struct library_load *load;

	if (*(volatile __u32 *)&load_waiters < load_waiters_max) {
		__sync_fetch_and_add(&load_waiters, 1);
		bpf_loop(12, pause_round, &pause, 0); /* more than LOAD_LONGEST_NS */
		__sync_fetch_and_add(&load_waiters, -1);
	}
	load = bpf_map_lookup_elem(&loads, &pid);
	/* The tool sees that nobody has waited for it so long. */
	if (load && load->state == LOAD_WAITS)
		load->state = LOAD_RUNS;
}

static __always_inline struct library_load *load_of(__u32 pid)
{
	struct library_load none = {};

	bpf_map_update_elem(&loads, &pid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&loads, &pid);
}

/* A child has the libraries of its parent. It has not initialized them: what its parent did is of
 * no use to it. */
static __always_inline void inherit_load(__u32 parent, __u32 child)
{
	const struct library_load *load = bpf_map_lookup_elem(&loads, &parent);
	struct library_load inherited = {};

	if (!load || !load->libraries)
		return;
	inherited.tail = load->tail;
	inherited.tail_dynamic = load->tail_dynamic;
	inherited.libraries = load->libraries;
	inherited.libcuda = load->libcuda;
	bpf_map_update_elem(&loads, &child, &inherited, BPF_NOEXIST);
}

static __always_inline bool load_is_wanted(__u32 *pid)
{
	char comm[EVENT_COMM_LEN];

	*pid = this_process();
	if (settings.by_pid && !bpf_map_lookup_elem(&pids, pid))
		return false;
	process_comm(comm);
	return process_is_wanted(*pid, (__u32)bpf_get_current_uid_gid(), comm);
}

/* cookie: where the loader's struct r_debug lies, from the function that it calls for debuggers. */
SEC("uprobe.s")
int loader_changed(struct pt_regs *ctx)
{
	__u64 at = PT_REGS_IP(ctx) + bpf_get_attach_cookie(ctx);
	struct loader_walk walk = {};
	struct loader_debug debug;
	struct library_load *load;
	bool known;
	__u32 pid;

	keep_own_stack(ctx);
	if (!load_waiters_max || !load_is_wanted(&pid) ||
	    bpf_probe_read_user(&debug, sizeof(debug), (void *)at) || debug.state)
		return 0;
	load = load_of(pid);
	if (!load)
		return 0;
	/* It had loaded libcuda before the tool came. */
	known = !load->tail && load->libraries;
	walk.at = first_new(load, debug.first);
	walk.known = load->libcuda;
	bpf_loop(LOADER_OBJECTS_MAX, walk_loaded, &walk, 0);
	if (walk.tail) {
		load->tail = walk.tail;
		load->tail_dynamic = walk.tail_dynamic;
	}
	if (!walk.found)
		return 0;
	load->libcuda = walk.found;
	if (known)
		return 0;
	load->libraries++;
	load->state = LOAD_WAITS;
	if (tell_start(START_LIBCUDA, pid, 0))
		pause_until_answered(ctx, pid);
	else
		load->state = LOAD_RUNS;
	return 0;
}

/* It has an agent that works: nothing is to be decided at the return of cuInit(). */
static __always_inline void note_agent(__u32 pid)
{
	struct library_load *load = bpf_map_lookup_elem(&loads, &pid);

	if (load && !loads_wait_for_mappings)
		load->initialized = 1;
}

/* cuInit() has returned. A process that has an agent has loaded it before. */
SEC("uprobe.s")
int driver_initialized(struct pt_regs *ctx)
{
	struct library_load *load;
	__u32 pid;

	keep_own_stack(ctx);
	if (PT_REGS_RC(ctx) || !load_waiters_max)
		return 0;
	if (!load_is_wanted(&pid)) {
		tell_start(START_OTHER, pid, 0);
		return 0;
	}
	load = load_of(pid);
	if (!load || (load->initialized && load->state != LOAD_WAITS))
		return 0;
	if (!load->initialized) {
		load->initialized = 1;
		load->state = LOAD_WAITS;
		if (!tell_start(START_INITIALIZED, pid, 0))
			load->state = LOAD_RUNS;
	}
	if (load->state == LOAD_WAITS)
		pause_until_answered(ctx, pid);
	return 0;
}

#endif
