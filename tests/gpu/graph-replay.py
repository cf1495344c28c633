# SPDX-License-Identifier: BSD-2-Clause
"""A CUDA graph captured by PyTorch and replayed 100 times; the last line is what there was to see.

PROFILED=1 has torch.profiler look, and adds how many kernels it saw and their time: the truth for a run without it.
"""
import contextlib
import json
import os
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile

REPLAYS = 100


def work():
    torch.manual_seed(1)
    left, right = (torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty_like(left)
    side = torch.cuda.Stream()

    def step():
        torch.matmul(left, right, out=out)
        torch.relu_(out)
        out.mul_(0.5).add_(left)

    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(REPLAYS):
        graph.replay()
    torch.cuda.synchronize()


def main():
    looking = os.environ.get("PROFILED") == "1"
    torch.cuda.init()
    torch.cuda.current_stream().synchronize()
    context = profile(activities=[ProfilerActivity.CUDA], acc_events=True) if looking else contextlib.nullcontext()
    with context as profiler:
        work()
    text = f"graph_launches={REPLAYS}"
    if looking:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            profiler.export_chrome_trace(file.name)
            events = json.load(open(file.name))["traceEvents"]
        kernels = [event["dur"] for event in events if event.get("cat") == "kernel"]
        text += f" kernels={len(kernels)} gpu_ns={sum(kernels) * 1000:.0f}"
    print("expect", text)


sys.exit(main())
