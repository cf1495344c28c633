#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""read_bcc.py LIBRARY PID: for two seconds, what bcc makes of cuda:kernel_launch and cuda:kernel_exec of a process.

Prints "ended LAUNCHES FAILED BACKWARDS KERNELS KERNEL_NS DEVICE STREAM NAME"; the last three of a kernel.
"""
import sys
import time

from bcc import BPF, USDT

PROGRAM = r"""
#include <linux/ptrace.h>
struct sums { u64 launches, failed, backwards, kernels, ns, device, stream; char name[64]; };
BPF_ARRAY(sums, struct sums, 1);
int on_launch(struct pt_regs *ctx)
{
	u64 start = 0, end = 0;
	int result = -1;
	int key = 0;
	struct sums *all = sums.lookup(&key);

	if (!all)
		return 0;
	bpf_usdt_readarg(1, ctx, &start);
	bpf_usdt_readarg(2, ctx, &end);
	bpf_usdt_readarg(5, ctx, &result);
	lock_xadd(&all->launches, 1);
	if (result)
		lock_xadd(&all->failed, 1);
	if (end < start)
		lock_xadd(&all->backwards, 1);
	return 0;
}
int on_kernel(struct pt_regs *ctx)
{
	u64 start = 0, end = 0, name = 0;
	u32 device = ~0, stream = ~0; /* bcc reads nothing into a variable of another size */
	int key = 0;
	struct sums *all = sums.lookup(&key);

	if (!all)
		return 0;
	bpf_usdt_readarg(1, ctx, &start);
	bpf_usdt_readarg(2, ctx, &end);
	bpf_usdt_readarg(4, ctx, &name);
	bpf_usdt_readarg(5, ctx, &device);
	bpf_usdt_readarg(6, ctx, &stream);
	all->device = device;
	all->stream = stream;
	lock_xadd(&all->kernels, 1);
	lock_xadd(&all->ns, end - start);
	bpf_probe_read_user_str(all->name, sizeof(all->name), (void *)name);
	return 0;
}
"""

usdt = USDT(path=sys.argv[1], pid=int(sys.argv[2]))
usdt.enable_probe("kernel_launch", "on_launch")
usdt.enable_probe("kernel_exec", "on_kernel")
bpf = BPF(text=PROGRAM, usdt_contexts=[usdt], cflags=["-w"])
time.sleep(2)
seen = bpf["sums"][0]
print("ended", seen.launches, seen.failed, seen.backwards, seen.kernels, seen.ns, seen.device, seen.stream,
      seen.name.decode(), flush=True)
