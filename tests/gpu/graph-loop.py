# SPDX-License-Identifier: BSD-2-Clause
"""A CUDA graph captured by PyTorch, replayed between other work until SIGUSR1; says each 50 ms how often by now."""
import signal
import time

import torch

ended = False


def end(*_):
    global ended
    ended = True


def main():
    signal.signal(signal.SIGUSR1, end)
    left, right = (torch.randn(256, 256, device="cuda") for _ in range(2))
    out = torch.empty_like(left)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            torch.matmul(left, right, out=out)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.matmul(left, right, out=out)
        torch.relu_(out)
        left.copy_(right)
        out.zero_()
    count, said = 0, time.monotonic()
    while not ended:
        graph.replay()
        left.mul_(0.5)
        out.cpu()
        torch.empty(1 << 20, device="cuda").fill_(1)
        count += 1
        if time.monotonic() - said > 0.05:
            said = time.monotonic()
            print(count, flush=True)
    print(f"expect replays={count}", flush=True)


main()
