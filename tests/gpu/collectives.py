# SPDX-License-Identifier: BSD-2-Clause
"""NCCL through PyTorch, a process a GPU. The last line, from rank 0, is what there was to see.

collectives.py late RANK MS [STEPS]   each step RANK (-1: none) sleeps MS before an all-reduce of 4 MiB
collectives.py slow RANK [STEPS]      the same, but RANK's GPU works longer
collectives.py waits                  rank 0 sleeps for 5 ms, or in each third step computes: how long rank 1 waited, in JSON
collectives.py each                   known numbers of each operation: "operation calls bytes" of rank 0, in JSON
collectives.py bus                    bytes per second of all-reduce, as nccl-tests define the bus bandwidth, in JSON
collectives.py phases RUNS BALANCED   each kind of late rank RUNS times on either rank, and BALANCED times none is made late, in
                                      steps that the GPU and that the host bounds; each with a communicator of its own, which
                                      has one all-reduce more than the one before: "COUNT RANK KIND SHARE NS" in lines. RANK
                                      of the balanced ones is who came late by their own clocks (-1: nobody), in that SHARE
                                      of the steps and by NS, in the mean
collectives.py graph                  the same numbers as "each", of all-reduces and all-gathers captured into a graph
"""
import contextlib
import itertools
import json
import os
import subprocess
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

MIB = 1 << 20


def sleep_or_spin(milliseconds, turns=itertools.count()):
    """Two causes of an idle GPU, so that neither is as long as the waiting of the other rank: PyTorch computes, too."""
    end = time.monotonic() + milliseconds / 1e3
    if next(turns) % 3:
        time.sleep(milliseconds / 1e3)
    while time.monotonic() < end:
        pass


def steps(rank, late, milliseconds, slow, count, group=None, size=2048, times=None, sleep=lambda ms: time.sleep(ms / 1e3),
          products=24):
    matrix = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
    gradient = torch.ones(MIB, device="cuda")
    for _ in range(count):
        # Enough for the GPU to be what a step takes: hosts are never equally fast.
        for _ in range(96 if slow and rank == late else products):
            matrix = (matrix @ matrix) * 1e-3
        if rank == late and milliseconds:
            sleep(milliseconds)
        if times is not None:
            torch.cuda.synchronize()
        before = time.monotonic_ns()
        dist.all_reduce(gradient, group=group)
        if times is not None:
            times.append((before, time.monotonic_ns()))
        gradient.mul_(0.5)
        torch.cuda.synchronize()
    return {"late": late, "steps": count}


def each(rank, ranks):
    made = {}

    def note(operation, tensor, times=1):
        calls, size = made.get(operation, (0, 0))
        made[operation] = (calls + times, size + times * tensor.numel() * tensor.element_size())

    for size in (1, 1000, MIB, 8 * MIB):
        data = torch.ones(size, device="cuda")
        dist.all_reduce(data)
        note("all_reduce", data)
        dist.broadcast(data, 1)
        note("broadcast", data)
        dist.reduce(data, 0)
        note("reduce", data)
        whole = torch.empty(size * ranks, device="cuda")
        dist.all_gather_into_tensor(whole, data)
        note("all_gather", data)
        dist.reduce_scatter_tensor(data, whole)
        note("reduce_scatter", data)
    half = torch.ones(5000, device="cuda", dtype=torch.bfloat16)
    for _ in range(7):
        dist.all_reduce(half)
        note("all_reduce", half)
    other = 1 - rank
    data = torch.ones(4096, device="cuda", dtype=torch.int64)
    received = torch.empty_like(data)
    for request in dist.batch_isend_irecv([dist.P2POp(dist.isend, data, other), dist.P2POp(dist.irecv, received, other)]):
        request.wait()
    note("send", data)
    note("recv", received)
    group = dist.new_group(list(range(ranks)))
    for _ in range(3):
        dist.all_reduce(data, group=group)
        note("all_reduce", data)
    torch.cuda.synchronize()
    return {operation: list(both) for operation, both in made.items()}


def timed(data, count):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count


def bus(ranks):
    found = {}
    for size in (64 * MIB, 256 * MIB, 1024 * MIB):
        data = torch.ones(size // 4, device="cuda")
        timed(data, 5)
        found[str(size)] = size / timed(data, 40) * 2 * (ranks - 1) / ranks
        del data
    return found


@contextlib.contextmanager
def hog(cpu):
    """Somebody else who uses the one CPU that this rank has."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    other = subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"])
    yield
    other.kill()
    other.wait()
    os.sched_setaffinity(0, before)


def lateness(times, which=1):
    """By how many ns rank 1 had called later than rank 0 (which=0: called), of each step."""
    mine = torch.tensor([both[which] for both in times], device="cuda")
    both = [torch.empty_like(mine) for _ in range(2)]
    dist.all_gather(both, mine)
    return (both[1] - both[0]).tolist()


def waits(rank):
    times = []
    steps(rank, 0, 5, False, 300, size=4096, times=times, sleep=sleep_or_spin, products=2)
    return {"waited_ns": sum(max(0, -later) for later in lateness(times)),
            "called_ns": sum(max(0, -later) for later in lateness(times, 0))}


def who_was_late(times):
    """(rank or -1, share, mean ns) by the rule of stat: later than JITTER or more, one rank in most cases, and it matters."""
    later = lateness(times)
    jitter, whole = 131072, times[-1][1] - times[0][1]
    while jitter < whole:
        for who, sign in ((0, -1), (1, 1)):
            of_it = [sign * ns for ns in later if sign * ns >= jitter]
            if len(of_it) >= max(30, 0.8 * sum(abs(ns) >= jitter for ns in later)) and sum(of_it) >= 0.05 * whole:
                return who, len(of_it) / len(later), sum(of_it) / len(of_it)
        jitter *= 2
    return -1, 0, 0


def phases(rank, runs, balanced):
    late = [(who, kind) for kind in ("sleep 1", "sleep 5", "hog", "slow") for who in (0, 1)]
    late = late * runs + [(-1, kind) for kind in ("GPU", "host") for _ in range(balanced)]
    for number, (who, kind) in enumerate(late):
        group = dist.new_group([0, 1])
        count, share, mean, times = 200 + number, 0, 0, [] if who < 0 else None
        with hog(2 + who) if kind == "hog" and who == rank else contextlib.nullcontext():
            steps(rank, who, float(kind.split()[1]) if kind.startswith("sleep") else 0, kind == "slow", count, group,
                  {"GPU": 4096, "host": 256}.get(kind, 2048), times)
        if times:
            who, share, mean = who_was_late(times)
        if rank == 0:
            print(count, who, kind.replace(" ", "-"), f"{share:.3f} {mean:.0f}", flush=True)


def graph(ranks):
    """Captured once, replayed ten times; what is captured is called once, too, before."""
    sizes = (1000, MIB, 8 * MIB)
    data = [torch.ones(size, device="cuda") for size in sizes]
    whole = [torch.empty(size * ranks, device="cuda") for size in sizes]

    def step():
        for one, all_of_it in zip(data, whole):
            dist.all_reduce(one)
            dist.all_gather_into_tensor(all_of_it, one)

    step()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        step()
    for _ in range(10):
        captured.replay()
    torch.cuda.synchronize()
    return {name: [11 * len(sizes), 11 * sum(sizes) * 4] for name in ("all_reduce", "all_gather")}


def work(rank, ranks, arguments):
    if arguments[0] == "late":
        return steps(rank, int(arguments[1]), float(arguments[2]), False, int(arguments[3]) if arguments[3:] else 200)
    if arguments[0] == "slow":
        return steps(rank, int(arguments[1]), 0, True, int(arguments[2]) if arguments[2:] else 200)
    if arguments[0] == "each":
        return each(rank, ranks)
    if arguments[0] == "waits":
        return waits(rank)
    if arguments[0] == "graph":
        return graph(ranks)
    return bus(ranks) if arguments[0] == "bus" else phases(rank, int(arguments[1]), int(arguments[2]))


def run(rank, ranks, arguments):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{os.environ.get('PORT', '29513')}", rank=rank,
                            world_size=ranks, device_id=torch.device("cuda", rank))
    result = work(rank, ranks, arguments)
    dist.destroy_process_group()
    if rank == 0:
        print(json.dumps(result))


def main():
    if len(sys.argv) < 2 or torch.cuda.device_count() < 2:
        sys.exit("usage: collectives.py late RANK MS | slow RANK | waits | each | bus | phases RUNS BALANCED | graph, with two GPUs")
    mp.spawn(run, (2, sys.argv[1:]), nprocs=2)


if __name__ == "__main__":
    main()
