# SPDX-License-Identifier: BSD-2-Clause
"""A GPU-bound training step, to see whether somebody who attaches costs anything.

One line an interval: SECONDS STEPS MS_PER_STEP (CLOCK_MONOTONIC). With --graph the step is a CUDA
graph. SIGUSR1 ends it before its time. The last line is a digest of the result: attached or not, it must be the same.
"""
import argparse
import signal
import sys
import time

import torch


def make_step(graph, batch):
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2).cuda().to(torch.bfloat16)
    data = torch.randn(batch, 256, 1024, device="cuda", dtype=torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss = model(data).float().pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    if not graph:
        return step
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        loss = step()

    def replay():
        captured.replay()
        return loss

    return replay


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-d", "--seconds", type=float, default=0)
    parser.add_argument("-n", "--steps", type=int, default=0)
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("-b", "--batch", type=int, default=64, help="16 is launch-bound on an H200")
    parser.add_argument("--sync", type=int, default=25, help="steps between two waits for the GPU")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.use_deterministic_algorithms(False)
    step = make_step(options.graph, options.batch)
    for _ in range(10):
        loss = step()
    torch.cuda.synchronize()
    print("ready", flush=True)
    must_end = []
    signal.signal(signal.SIGUSR1, lambda number, frame: must_end.append(number))
    begin = last = time.monotonic()
    total = done = 0
    while not must_end and (
        (options.steps and total < options.steps)
        or (not options.steps and last - begin < options.seconds)
    ):
        for _ in range(options.sync):
            loss = step()
        torch.cuda.synchronize()
        done += options.sync
        total += options.sync
        now = time.monotonic()
        if now - last >= 0.25:
            print(f"{now:.3f} {done} {(now - last) / done * 1e3:.4f}", flush=True)
            last, done = now, 0
    print(f"loss {loss.item():.6f}" if options.steps else "done")
    return 0


sys.exit(main())
