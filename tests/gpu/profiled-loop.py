# SPDX-License-Identifier: BSD-2-Clause
"""Launches for 6 s while torch.profiler looks; the last line is how many there were, and how many it saw."""
import json
import sys
import tempfile
import time

import torch
from torch.profiler import ProfilerActivity, profile


def main():
    data = torch.ones(1000, device="cuda")
    torch.cuda.synchronize()
    launches = 0
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiler:
        data += 1
        launches += 1
        torch.cuda.synchronize()
        print("ready", flush=True)
        end = time.monotonic() + 6
        while time.monotonic() < end:
            for _ in range(50):
                data += 1
            launches += 50
            torch.cuda.synchronize()
            time.sleep(0.01)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        events = json.load(open(file.name))["traceEvents"]
    print(f"expect kernels={launches} profiled={sum(event.get('cat') == 'kernel' for event in events)}")


sys.exit(main())
