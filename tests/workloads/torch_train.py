# SPDX-License-Identifier: BSD-2-Clause
"""A small PyTorch training program, as people write them: data from worker processes, copies from
pinned memory on a stream of their own, forward, backward, optimiser; eager or as a CUDA graph.

With --count it runs under torch.profiler, which gives the truth that a run without it is compared
with: the program does the same work both times. The last line is `expect kernels=... memcpys=...
memsets=... gpu_ns=...` then (GPU time of the kernels), else `expect steps=...`.
"""
import argparse
import json
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile


class Digits(torch.utils.data.Dataset):
    """Made-up pictures: the same for every run."""

    def __init__(self, count):
        generator = torch.Generator().manual_seed(7)
        self.pictures = torch.randn(count, 1, 28, 28, generator=generator)
        self.labels = torch.randint(0, 10, (count,), generator=generator)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.pictures[index], self.labels[index]


def make_model():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 32, 3),
        torch.nn.ReLU(),
        torch.nn.Conv2d(32, 64, 3),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(9216, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 10),
    ).cuda()


def batches(options):
    """Endless batches; worker processes are forked after CUDA is up, as usual."""
    loader = torch.utils.data.DataLoader(
        Digits(options.batch * 8), batch_size=options.batch, num_workers=options.workers,
        pin_memory=True, persistent_workers=options.workers > 0)
    while True:
        yield from loader


class Training:
    def __init__(self, options):
        torch.manual_seed(1)
        self.model = make_model()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.pictures = torch.zeros(options.batch, 1, 28, 28, device="cuda")
        self.labels = torch.zeros(options.batch, dtype=torch.long, device="cuda")
        self.copying = torch.cuda.Stream()
        self.graph = None
        if options.graphs:
            self.capture()

    def step(self):
        self.optimizer.zero_grad(set_to_none=False)
        self.loss = torch.nn.functional.cross_entropy(self.model(self.pictures), self.labels)
        self.loss.backward()
        self.optimizer.step()

    def capture(self):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.step()

    def train(self, pictures, labels):
        with torch.cuda.stream(self.copying):
            self.copying.wait_stream(torch.cuda.current_stream())
            self.pictures.copy_(pictures, non_blocking=True)
            self.labels.copy_(labels, non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.copying)
        if self.graph:
            self.graph.replay()
        else:
            self.step()


def run(options):
    training = Training(options)
    source = batches(options)
    for _ in range(options.steps):
        training.train(*next(source))
    torch.cuda.synchronize()
    print(f"loss {training.loss.item():.4f}", flush=True)


def counted(options):
    """Runs under torch.profiler; the sums of what it saw on the GPU.

    The profiler misses the one kernel that fills the first tensor, made to start CUDA before it.
    """
    torch.zeros(1, device="cuda")
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiler:
        run(options)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        with open(file.name, encoding="utf-8") as text:
            events = json.load(text)["traceEvents"]
    kinds = {"kernel": 0, "gpu_memcpy": 0, "gpu_memset": 0}
    for event in events:
        if event.get("cat") in kinds:
            kinds[event["cat"]] += 1
    gpu = sum(event["dur"] for event in events if event.get("cat") == "kernel")
    return (f"kernels={kinds['kernel'] + 1} memcpys={kinds['gpu_memcpy']} "
            f"memsets={kinds['gpu_memset']} gpu_ns={gpu * 1000:.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-n", "--steps", type=int, default=100)
    parser.add_argument("-b", "--batch", type=int, default=64)
    parser.add_argument("-w", "--workers", type=int, default=2)
    parser.add_argument("-g", "--graphs", action="store_true", help="the step as a CUDA graph")
    parser.add_argument("--count", action="store_true", help="count with torch.profiler")
    options = parser.parse_args()
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    if options.count:
        print("expect", counted(options), flush=True)
    else:
        torch.zeros(1, device="cuda")
        run(options)
        print(f"expect steps={options.steps}", flush=True)


main()
