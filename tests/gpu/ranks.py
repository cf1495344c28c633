# SPDX-License-Identifier: BSD-2-Clause
"""A training step on every GPU of the machine, a process each, gradients summed by NCCL; 40 times.

The last line is what there was to see. PROFILED=1 has torch.profiler look in each process, and adds how many kernels
there were in all: the truth for a run without it.
"""
import contextlib
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.profiler import ProfilerActivity, profile

STEPS = 40


def train(rank, ranks):
    torch.manual_seed(1)
    model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(4))).cuda()
    data = torch.randn(256, 1024, device="cuda")
    for _ in range(STEPS):
        model(data * (rank + 1)).pow(2).mean().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.data.add_(parameter.grad, alpha=-0.01 / ranks)
            parameter.grad = None
    torch.cuda.synchronize()
    return sum(parameter.double().sum().item() for parameter in model.parameters())


def run(rank, ranks, results):
    torch.cuda.set_device(rank)
    looking = os.environ.get("PROFILED") == "1"
    context = profile(activities=[ProfilerActivity.CUDA], acc_events=True) if looking else contextlib.nullcontext()
    with context as profiler:
        dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29513", rank=rank, world_size=ranks,
                                device_id=torch.device("cuda", rank))
        total = train(rank, ranks)
        dist.destroy_process_group()
    kernels = sum(e.count for e in profiler.key_averages() if e.device_type == torch.autograd.DeviceType.CUDA
                  and not e.key.startswith("Mem")) if looking else 0
    results.put((rank, kernels, total))


def main():
    ranks = torch.cuda.device_count()
    results = mp.get_context("spawn").SimpleQueue()
    mp.spawn(run, (ranks, results), nprocs=ranks)
    found = [results.get() for _ in range(ranks)]
    if len({round(total, 6) for _, _, total in found}) != 1:
        sys.exit(f"the ranks differ: {found}")
    kernels = sum(kernels for _, kernels, _ in found)
    print(f"expect ranks={ranks} result={found[0][2]:.6f}" + (f" kernels={kernels}" if kernels else ""))


if __name__ == "__main__":
    main()
