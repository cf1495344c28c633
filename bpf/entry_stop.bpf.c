// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Stops threads of one process where they enter libcuda: each gets a signal that it ignores. A
 * thread that the tool has seized stops as that signal is delivered; if the tool has died, the
 * signal does nothing and the thread goes on.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "bpf/entry_stop.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct entry_stop_control);
} control SEC(".maps");

/* The PID namespace in which the tool numbers processes. */
const volatile __u64 namespace_device;
const volatile __u64 namespace_inode;

SEC("uprobe")
int stop_at_entry(struct pt_regs *ctx)
{
	__u32 zero = 0;
	struct entry_stop_control *wanted = bpf_map_lookup_elem(&control, &zero);
	struct bpf_pidns_info here = {};

	if (!wanted || !wanted->process ||
	    bpf_get_ns_current_pid_tgid(namespace_device, namespace_inode, &here, sizeof(here)) ||
	    here.tgid != wanted->process)
		return 0;
	bpf_send_signal_thread(wanted->signal);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
