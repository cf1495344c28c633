# SPDX-License-Identifier: BSD-2-Clause
"""Triton's Proton over 50 launches of one kernel; the last line is how many it saw, by name."""
import json
import os
import sys
import tempfile

import torch
import triton
import triton.language as tl
import triton.profiler as proton


@triton.jit
def scale(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 1.5, mask=at < n)


def count(node):
    own = node["metrics"].get("count", 0) if node["frame"]["name"] == "scale" else 0
    return own + sum(count(child) for child in node["children"])


x = torch.ones(4096, device="cuda")
scale[(4,)](x, 4096, BLOCK=1024)
torch.cuda.synchronize()
with tempfile.TemporaryDirectory() as folder:
    name = os.path.join(folder, "p")
    proton.start(name)
    for _ in range(50):
        scale[(4,)](x, 4096, BLOCK=1024)
    torch.cuda.synchronize()
    proton.finalize()
    with open(name + ".hatchet") as file:
        print("kernels", sum(count(node) for node in json.load(file) if "frame" in node))
sys.stdout.flush()
