#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Keeps a GPU busy with one kind of kernel, or with several in turns of a second, and prints what NVML's energy
counter says of that time: energy-loop.py SECONDS KIND... (matmul, copy)"""
import ctypes
import sys
import time

import torch

TURN = 1.0


def counter():
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        nvml = ctypes.CDLL("/usr/local/nvidia/lib64/libnvidia-ml.so.1")
    device, value = ctypes.c_void_p(), ctypes.c_ulonglong()
    if nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)):
        sys.exit("no NVML")

    def joules():
        if nvml.nvmlDeviceGetTotalEnergyConsumption(device, ctypes.byref(value)):
            sys.exit("no energy counter")
        return value.value / 1e3

    return joules


def main():
    seconds, kinds = float(sys.argv[1]), sys.argv[2:]
    joules = counter()
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(1 << 28, device="cuda")
    out, sum_ = torch.empty_like(a), torch.empty_like(b)
    work = {"matmul": lambda: torch.matmul(a, a, out=out), "copy": lambda: torch.add(b, 1, out=sum_)}
    for kind in kinds:
        work[kind]()
    torch.cuda.synchronize()
    time.sleep(1)
    before, begin, turn = joules(), time.monotonic(), 0
    while time.monotonic() < begin + seconds:
        end = time.monotonic() + TURN
        # Always something queued: no gaps.
        events = []
        while time.monotonic() < end:
            for _ in range(4):
                work[kinds[turn % len(kinds)]]()
            events.append(torch.cuda.Event())
            events[-1].record()
            if len(events) > 4:
                events.pop(0).synchronize()
        turn += 1
    torch.cuda.synchronize()
    time.sleep(0.15)
    after = joules()
    print(f"expect joules={after - before:.3f}")
    time.sleep(1)


main()
