# SPDX-License-Identifier: BSD-2-Clause
"""A program that profiles itself again and again: profiled-often.py torch|jax SESSIONS

Prints "ready PID" before the first session. Last line: "expect sessions=N whole=N wrong=N": whole ones saw every
kernel of theirs, the same number in each.
"""
import collections
import glob
import gzip
import json
import os
import sys
import tempfile
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
LAUNCHES = 100


def torch_sessions():
    import torch
    from torch.profiler import ProfilerActivity, profile

    left = torch.randn(256, 256, device="cuda")
    for _ in range(10):
        left.mul_(1.0)
    torch.cuda.synchronize()

    def session():
        with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiler:
            for _ in range(LAUNCHES):
                left.mul_(1.0)
            torch.cuda.synchronize()
        return sum(e.count for e in profiler.key_averages() if "elementwise" in e.key)

    def work():
        for _ in range(20):
            left.mul_(1.0)
        torch.cuda.synchronize()

    return session, work


def jax_sessions():
    import jax
    import jax.numpy as jnp

    data = jax.random.normal(jax.random.PRNGKey(0), (256, 256))
    step = jax.jit(lambda x: jnp.tanh(x @ data) * 0.5 + x)
    x = step(data).block_until_ready()

    def session():
        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder, create_perfetto_trace=True):
                y = x
                for _ in range(LAUNCHES):
                    y = step(y)
                y.block_until_ready()
            path = glob.glob(folder + "/**/perfetto_trace.json.gz", recursive=True)[0]
            with gzip.open(path) as file:
                events = json.load(file)["traceEvents"]
        gpus = {e["pid"] for e in events if e.get("name") == "process_name" and "GPU" in e["args"].get("name", "")}
        return sum(1 for e in events if e.get("ph") == "X" and e.get("pid") in gpus)

    def work():
        for _ in range(20):
            step(x)
        step(x).block_until_ready()

    return session, work


def main():
    sessions = int(sys.argv[2])
    session, work = torch_sessions() if sys.argv[1] == "torch" else jax_sessions()
    print("ready", os.getpid(), flush=True)
    seen = []
    for _ in range(sessions):
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            work()
        seen.append(session())
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        work()
    usual, _ = collections.Counter(seen).most_common(1)[0]
    whole = sum(1 for n in seen if n == usual and n >= LAUNCHES)
    print("seen", seen, file=sys.stderr)
    print(f"expect sessions={sessions} whole={whole} wrong={int(whole != sessions)}", flush=True)


main()
