# SPDX-License-Identifier: BSD-2-Clause
"""PyTorch programs that leave the GPU idle for one planted cause each: torch-causes.py NAME [SECONDS]

Prints "cause KEY", as in `stat --idle --json` ("none" = the GPU is kept busy), and as its last line
"expect idle_ns=N gaps=N steps=N": how long the GPU was idle by the program's own clock. Most programs compute that from
the times of their launches and from kernels of a known length. Those in COUNTED cannot: they subtract from the
whole time what the GPU needs for a step in any case, in ns, which `torch-causes.py NAME --busy` finds out with
torch.profiler and which $IDLE_BUSY then has: its work, and the gap before a copy that was already queued when the GPU ended the kernel
before it. $IDLE_LOCK is a file to lock, so that one of these programs at a time uses the GPU.
`torch-causes.py --list` prints all names.
"""
import fcntl
import gc
import json
import os
import random
import selectors
import signal
import socket
import sys
import tempfile
import threading
import time

import torch

MS = 1_000_000


class Gpu:
    """Launches kernels of a known length, and knows from that when the GPU is idle."""

    def __init__(self):
        self.idle_ns = self.gaps = self.busy_until = 0
        for _ in range(3):
            torch.cuda._sleep(10_000_000)
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        torch.cuda._sleep(40_000_000)
        end.record()
        end.synchronize()
        self.cycles_per_ns = 40_000_000 / (begin.elapsed_time(end) * MS)
        self.busy_until = time.monotonic_ns()

    def kernel(self, ns):
        cycles = int(ns * self.cycles_per_ns)
        before = time.monotonic_ns()
        torch.cuda._sleep(cycles)
        # Its thread may have waited for the GIL on its way back.
        now = before + min(time.monotonic_ns() - before, 20_000) // 2
        if now > self.busy_until:
            self.idle_ns += now - self.busy_until
            self.gaps += 1
        self.busy_until = max(now, self.busy_until) + ns

    def step(self, ns=MS):
        self.kernel(ns)
        torch.cuda.synchronize()


def spin(ns):
    end = time.monotonic_ns() + ns
    while time.monotonic_ns() < end:
        pass


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        spin(20 * MS)
        return torch.zeros(16)


def loader():
    batches = iter(torch.utils.data.DataLoader(Images(), batch_size=1, num_workers=1, prefetch_factor=1))
    children.extend(worker.pid for worker in batches._workers)

    def plant(gpu):
        next(batches)
        gpu.step()

    return plant


def disk():
    size, block = 256 << 20, 4096
    file = tempfile.TemporaryFile(dir=os.environ.get("IDLE_FOLDER", "."))
    for _ in range(size >> 20):
        file.write(os.urandom(1 << 20))
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
    offsets = list(range(0, size, block))
    random.Random(1).shuffle(offsets)

    def plant(gpu):
        for _ in range(100):
            os.pread(file.fileno(), block, offsets.pop())
        gpu.step()
        return len(offsets) >= 100

    return plant


def child(work):
    """A process that ends with this one; it must not use CUDA."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        work(lambda: os.getppid() == parent)
    finally:
        os._exit(0)


def hog():
    cpu = sorted(os.sched_getaffinity(0))[-1]

    def take(alive):
        os.nice(-5)
        os.sched_setaffinity(0, [cpu])
        while alive():
            spin(MS)

    children.append(child(take))

    def plant(gpu):
        os.sched_setaffinity(0, [cpu])  # this thread's, after CUDA has started its own
        gpu.step(MS // 2)

    return plant


def gil():
    def hold_the_gil():
        while True:
            sum(range(1000))

    threading.Thread(target=hold_the_gil, name="holder", daemon=True).start()
    return lambda gpu: gpu.step()


def item():
    value = None

    def plant(gpu):
        nonlocal value
        if value is None:
            value = torch.ones(1, device="cuda")
        torch.cuda._sleep(40_000)
        value.item()

    return plant


def pageable():
    here = torch.ones(64 << 10)
    there = None

    def plant(gpu):
        nonlocal there
        if there is None:
            there = torch.empty(64 << 10, device="cuda")
        here.copy_(there)

    return plant


def tiny():
    def plant(gpu):
        for _ in range(100):
            torch.cuda._sleep(0)

    return plant


def collector():
    gc.disable()
    heap = [[i] for i in range(1_000_000)]

    def plant(gpu):
        assert heap
        gc.collect()
        gpu.step()

    return plant


def mutex():
    lock = threading.Lock()

    def hold():
        while True:
            with lock:
                time.sleep(0.02)
            time.sleep(0.001)

    threading.Thread(target=hold, name="holder", daemon=True).start()

    def plant(gpu):
        with lock:
            pass
        gpu.step()

    return plant


def allocs():
    def plant(gpu):
        blocks = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(8)]
        gpu.kernel(MS)
        blocks.clear()
        torch.cuda.empty_cache()

    return plant


def compiles():
    os.environ["USE_PYTORCH_KERNEL_CACHE"] = "0"
    value, count = None, 0

    def plant(gpu):
        nonlocal value, count
        if value is None:
            value = torch.ones(1, device="cuda")
        count += 1
        code = f"template <typename T> T made_{count}(T x) {{ return x * T({count}) + T(1); }}"
        torch.cuda.jiterator._create_jit_fn(code)(value)
        gpu.step()

    return plant


def server():
    # A client that is a child would be a process to wait for. So none comes, and there is work every 40 ms.
    ours, theirs = socket.socketpair()
    selector = selectors.EpollSelector()
    selector.register(ours, selectors.EVENT_READ)

    def plant(gpu):
        assert theirs and not selector.select(0.04)
        gpu.step()

    return plant


def healthy_queue():
    waits = []

    def plant(gpu):
        gpu.kernel(4 * MS)
        waits.append(torch.cuda.Event())
        waits[-1].record()
        if len(waits) > 20:
            waits.pop(0).synchronize()

    return plant


def healthy_buffers():
    waits = []

    def plant(gpu):
        if len(waits) == 4:
            waits.pop(0).synchronize()
        spin(MS)
        gpu.kernel(10 * MS)
        waits.append(torch.cuda.Event())
        waits[-1].record()

    return plant


def healthy_training():
    state = []
    waits = []

    def plant(gpu):
        if not state:
            state.append(torch.ones(64 << 20, device="cuda"))
            state.append(torch.ones(64 << 20, device="cuda", requires_grad=True))
        data, weight = state
        (data * weight).sin().mean().backward()
        with torch.no_grad():
            weight -= 0.01 * weight.grad
            weight.grad = None
        waits.append(torch.cuda.Event())
        waits[-1].record()
        if len(waits) > 20:
            waits.pop(0).synchronize()

    return plant


PROGRAMS = {
    "loader": (loader, "process"),
    "disk": (disk, "io"),
    "hog": (hog, "preempted"),
    "gil": (gil, "gil"),
    "item": (item, "cuda_call"),
    "pageable": (pageable, "cuda_call"),
    "tiny": (tiny, "launch"),
    "collector": (collector, "cpu"),
    "mutex": (mutex, "lock"),
    "allocs": (allocs, "cuda_call"),
    "compiles": (compiles, "cpu"),
    "server": (server, "no_work"),
    "healthy-queue": (healthy_queue, "none"),
    "healthy-buffers": (healthy_buffers, "none"),
    "healthy-training": (healthy_training, "none"),
}
COUNTED = ("item", "pageable", "tiny")
children = []


def busy_of_step(plant, gpu, steps=200):
    """From torch.profiler's file: the GPU's work, and gaps that end with a copy that was queued before they began."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], acc_events=True) as profiler:
        for _ in range(steps):
            plant(gpu)
        torch.cuda.synchronize()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        with open(file.name) as opened:
            events = [e for e in json.load(opened)["traceEvents"] if e.get("ph") == "X" and "correlation" in e.get("args", {})]
    calls = {e["args"]["correlation"]: e["ts"] for e in events if e["cat"] in ("cuda_runtime", "cuda_driver")}
    work = sorted((e["ts"], e["ts"] + e["dur"], calls.get(e["args"]["correlation"], float("inf")), e["cat"])
                  for e in events
                  if e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"))
    busy = sum(end - start for start, end, *_ in work)
    queued = sum(after[0] - before[1] for before, after in zip(work, work[1:])
                 if after[3] == "gpu_memcpy" and after[2] < before[1] < after[0])
    print(f"busy {busy * 1000 / steps:.0f} queued {queued * 1000 / steps:.0f}", file=sys.stderr)
    return (busy + queued) * 1000 / steps


def run(name, plant, seconds):
    gpu = Gpu()
    if name in COUNTED:
        plant(gpu)  # with what happens once only, such as loading a module
        torch.cuda.synchronize()
    begin = time.monotonic_ns()
    end, steps = begin + int(seconds * 1e9), 0
    while time.monotonic_ns() < end:
        steps += 1
        if plant(gpu) is False:
            break
    torch.cuda.synchronize()
    if name in COUNTED:
        gpu.idle_ns = time.monotonic_ns() - begin - steps * float(os.environ.get("IDLE_BUSY", "0"))
    print(f"cause {PROGRAMS[name][1]}")
    print(f"expect idle_ns={gpu.idle_ns:.0f} gaps={gpu.gaps} steps={steps}", flush=True)


def main():
    name = sys.argv[1]
    if name == "--list":
        print("\n".join(PROGRAMS))
        return
    plant = PROGRAMS[name][0]()  # forks, if at all, before CUDA has started
    with open(os.environ.get("IDLE_LOCK", os.devnull), "w") as lock:
        if "IDLE_LOCK" in os.environ:
            fcntl.flock(lock, fcntl.LOCK_EX)
        if sys.argv[2:] == ["--busy"]:
            gpu = Gpu()
            plant(gpu)
            print(f"{busy_of_step(plant, gpu):.0f}")
        else:
            run(name, plant, float(sys.argv[2]) if len(sys.argv) > 2 else 5 if "healthy" in name else 3)
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        if "IDLE_LOCK" in os.environ:
            fcntl.flock(lock, fcntl.LOCK_UN)
    sys.stdout.flush()
    os._exit(0)  # threads that hold locks, and workers that make batches, need not end on their own


main()
