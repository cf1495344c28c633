# SPDX-License-Identifier: BSD-2-Clause
"""ranks-loop.py: two ranks of torchrun that add up tensors of ones until SIGUSR1. Prints "ready" once they do, and at the
end "expect wrong=0", or 1 if a sum was not that of all ranks."""
import os
import signal
import subprocess
import sys
import tempfile


def run_rank(stop):
    import torch
    import torch.distributed as dist

    dist.init_process_group("nccl")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    square = torch.full((1024, 1024), 1 / 1024, device="cuda")
    wrong, rounds, ended = 0, 0, False
    while not ended:
        ones = torch.ones(1 << 18, device="cuda")
        for _ in range(20):
            square = square @ square
            ones = torch.ones_like(ones)
            dist.all_reduce(ones)
        flags = torch.tensor([float(os.path.exists(stop)), float((ones != ranks).any() or (square - 1 / 1024).abs().max() > 1e-6)], device="cuda")
        dist.all_reduce(flags, op=dist.ReduceOp.MAX)
        ended, failed = (bool(flag) for flag in flags.tolist())
        wrong |= failed
        rounds += 1
        if rank == 0 and rounds == 20:
            print("ready", flush=True)
    if rank == 0:
        print(f"expect wrong={int(wrong)} rounds={rounds}", flush=True)
    dist.destroy_process_group()


def main():
    if len(sys.argv) > 1:
        run_rank(sys.argv[1])
        return 0
    with tempfile.TemporaryDirectory() as folder:
        stop = os.path.join(folder, "stop")
        signal.signal(signal.SIGUSR1, lambda number, frame: open(stop, "w", encoding="ascii").close())
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", __file__, stop]
        return subprocess.run(command, check=False).returncode


sys.exit(main())
