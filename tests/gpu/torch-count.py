# SPDX-License-Identifier: BSD-2-Clause
"""How many kernels torch.profiler counts in tests/bench/torch-step.py with the same arguments.

$KINETO_OUT, if set, is where torch.profiler's own file goes.
"""
import collections
import json
import os
import runpy
import shutil
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile

sys.argv[0] = os.path.join(os.path.dirname(__file__), "..", "bench", "torch-step.py")
torch.zeros(1, device="cuda")
with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiler:
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit:
        pass
    torch.cuda.synchronize()
with tempfile.NamedTemporaryFile(suffix=".json") as file:
    profiler.export_chrome_trace(file.name)
    events = json.load(open(file.name))["traceEvents"]
    if "KINETO_OUT" in os.environ:
        shutil.copy(file.name, os.environ["KINETO_OUT"])
kernels = [event for event in events if event.get("cat") == "kernel"]
total = sum(event["dur"] for event in kernels)
print(json.dumps(collections.Counter(e["name"] for e in kernels).most_common(5)), file=sys.stderr)
print(f"gpu_us {total:.0f}", file=sys.stderr)
print(len(kernels))
