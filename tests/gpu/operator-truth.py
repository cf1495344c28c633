# SPDX-License-Identifier: BSD-2-Clause
"""operator-truth.py OUT PROGRAM.py ARGS…: runs a program under torch.profiler and writes one line per kernel, in the
order in which they began: the operator that torch.profiler links it to (its External id), tab, the kernel's name. The
profiler's trace goes to OUT.json."""
import json
import os
import runpy
import shutil
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile


def run(arguments):
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit:
        pass
    torch.cuda.synchronize()


def main():
    out, arguments = sys.argv[1], sys.argv[2:]
    torch.zeros(1, device="cuda")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], acc_events=True) as profiler:
        run(arguments)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        events = json.load(open(file.name))["traceEvents"]
        shutil.copy(file.name, out + ".json")
    operators = {
        event["args"]["External id"]: event["name"]
        for event in events
        if event.get("cat") == "cpu_op" and "External id" in event.get("args", {})
    }
    kernels = sorted((event for event in events if event.get("cat") == "kernel"), key=lambda event: event["ts"])
    with open(out, "w", encoding="utf-8") as file:
        for kernel in kernels:
            operator = operators.get(kernel["args"].get("External id"), "")
            print(f"{operator}\t{kernel['name']}", file=file)


main()
