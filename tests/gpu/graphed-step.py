# SPDX-License-Identifier: BSD-2-Clause
"""graphed-step.py eager|graph|compile N: N forward passes of the model of decode-loop.py, from the same line: eagerly, as
replays of a CUDA graph that PyTorch captured, or of those of torch.compile(mode="reduce-overhead"). They lie between
cudaProfilerStart() and cudaProfilerStop()."""
import importlib.util
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))


def make_model():
    spec = importlib.util.spec_from_file_location("decode_loop", os.path.join(HERE, "decode-loop.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make_model()


def capture(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def main():
    mode, count = sys.argv[1], int(sys.argv[2])
    model = make_model()
    tokens = torch.arange(1, 65, device="cuda").reshape(1, 64)
    if mode == "compile":
        model = torch.compile(model, mode="reduce-overhead")

    # Without one, the model makes a mask, and only while it is captured.
    mask = torch.full((1, 1, 64, 64), float("-inf"), device="cuda", dtype=torch.bfloat16).triu(1)

    def step():
        return model(tokens, attention_mask=mask, use_cache=False).logits

    with torch.no_grad():
        run = capture(step) if mode == "graph" else step
        for _ in range(3):
            run()
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStart()
        for _ in range(count):
            if mode == "compile":
                torch.compiler.cudagraph_mark_step_begin()
            run()
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStop()


main()
