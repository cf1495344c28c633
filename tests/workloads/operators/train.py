# SPDX-License-Identifier: BSD-2-Clause
"""train.py LIBRARY STEPS: a training step as PyTorch's stacks show it, without PyTorch. A step has these kernels:
aten::addmm twice (30 us each, in Model > Block > Linear), aten::ones_like, aten::mm of AddmmBackward0, ReluBackward0 and
aten::add_ of AccumulateGrad (10 us each), one of a function `custom` without an operator (20 us), and one of a thread
without Python (5 us). Prints the lines that launch; waits for the end of its input with --linger."""
import ctypes
import inspect
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "site-packages"))

import torch
import torch.autograd
import torch.nn

PTX = b""".version 7.0
.target sm_52
.address_size 64
.visible .entry spin(.param .u64 spin_ns)
{
	.reg .pred %p;
	.reg .b64 %d<5>;
	ld.param.u64 %d1, [spin_ns];
	mov.u64 %d2, %globaltimer;
AGAIN:
	mov.u64 %d3, %globaltimer;
	sub.u64 %d4, %d3, %d2;
	setp.lt.u64 %p, %d4, %d1;
	@%p bra AGAIN;
	ret;
}
"""

cuda = ctypes.CDLL("libcuda.so.1")
lines = {}


def note_line(name):
    lines[name] = inspect.currentframe().f_back.f_lineno + 1


def check(result):
    if result:
        sys.exit(f"CUDA error {result}")


def start():
    device, module = ctypes.c_int(), ctypes.c_void_p()
    context, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"spin"))
    torch.load(sys.argv[1], context, kernel)


class Block(torch.nn.Module):
    def __init__(self):
        self.linear = torch.nn.Linear()

    def forward(self, ns):
        note_line("block")
        return self.linear(ns)


class Model(torch.nn.Module):
    def __init__(self):
        self.blocks = [Block(), Block()]

    def forward(self, ns):
        for block in self.blocks:
            block(ns)


def custom(ns):
    note_line("custom")
    torch.native.operators_custom(ns)


def step(model):
    model(30000)
    note_line("backward")
    torch.autograd.backward(10000)
    custom(20000)
    torch.native.operators_thread(5000)
    check(cuda.cuCtxSynchronize())


def main():
    steps = int(sys.argv[2])
    start()
    model = Model()
    for _ in range(steps):
        step(model)
    for name, line in lines.items():
        print(f"line {name} {line}")
    print(f"expect launches={steps * 8} kernels={steps * 8}")
    sys.stdout.flush()
    if "--linger" in sys.argv:
        sys.stdin.read()


if __name__ == "__main__":
    main()
