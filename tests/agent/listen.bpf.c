// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A consumer of the agent's probes that shares nothing with the tool but the probe contract. One
 * program takes every probe: cookie = kind << 32 | probe's index on the command line.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>

#include "tests/agent/listen.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 20);
} heard SEC(".maps");

__u64 missed; /* did not fit, or were unreadable */
__u32 only_pid;
__u64 namespace_dev, namespace_ino; /* in which only_pid counts */

/* The number that the listener finds in its /proc: it may run in a PID namespace of its own. */
static __u32 current_pid(void)
{
	struct bpf_pidns_info seen;

	if (!bpf_get_ns_current_pid_tgid(namespace_dev, namespace_ino, &seen, sizeof(seen)))
		return seen.tgid;
	return bpf_get_current_pid_tgid() >> 32;
}

SEC("usdt")
int listen(struct pt_regs *ctx)
{
	__u64 cookie = bpf_usdt_cookie(ctx);
	__u32 kind = cookie >> 32, pid = current_pid();
	const void *data = NULL;
	struct heard *h;
	__u64 bytes = 0;

	if (only_pid && only_pid != pid)
		return 0;
	h = bpf_ringbuf_reserve(&heard, sizeof(*h), 0);
	if (!h) {
		__sync_fetch_and_add(&missed, 1);
		return 0;
	}
	h->kind = kind;
	h->probe = (__u32)cookie;
	h->pid = pid;
	h->time = bpf_ktime_get_ns();
#define TAKE(n)                               \
	do {                                  \
		long value = 0;               \
		bpf_usdt_arg(ctx, n, &value); \
		h->args[n] = value;           \
	} while (0)
	TAKE(0);
	TAKE(1);
	TAKE(2);
	TAKE(3);
	TAKE(4);
	TAKE(5);
	TAKE(6);
	TAKE(7);
	TAKE(8);
	TAKE(9);
	TAKE(10);
	TAKE(11);
	if (kind == HEARD_BATCH || kind == HEARD_STATUS) {
		data = (const void *)h->args[0];
		bytes = h->args[1];
	} else if (kind == HEARD_NAME || kind == HEARD_ERROR) {
		data = (const void *)h->args[2];
	}
	/* In 64 bits throughout, so that the verifier sees the bound it needs. */
	asm volatile("%0 &= 0xffff" : "+r"(bytes));
	if (bytes > CUDA_BATCH_MAX)
		bytes = CUDA_BATCH_MAX;
	h->bytes = bytes;
	if (bytes && bpf_probe_read_user(h->data, bytes, data))
		__sync_fetch_and_add(&missed, 1);
	if (!bytes && data && bpf_probe_read_user_str(h->data, CUDA_NAME_MAX, data) < 0)
		__sync_fetch_and_add(&missed, 1);
	if (kind == HEARD_READABLE)
		bpf_probe_read_user_str(h->data, 256, (const void *)h->args[3]);
	bpf_ringbuf_submit(h, 0);
	return 0;
}
