# SPDX-License-Identifier: BSD-2-Clause
"""lines.py cupy|triton|jax|numba: launches from lines that it knows. Prints "LINE KERNELS" of each; KERNELS is - where
the framework decides how many there are."""
import os
import sys

counts = {}


def note(kernels):
    """The line below the caller's launches that many."""
    line = sys._getframe(1).f_lineno + 1
    counts[line] = kernels if kernels == "-" else counts.get(line, 0) + kernels


def run_cupy():
    import cupy
    note(1)
    data = cupy.zeros(1024, dtype=cupy.int64) + 1
    for _ in range(30):
        note(1)
        data += 1
        note(2)
        other = data * 3 + 1
    scale = cupy.ElementwiseKernel("int64 x", "int64 y", "y = x * 2", "scale_by_two")
    for _ in range(20):
        note(1)
        scale(other)
    cupy.cuda.runtime.deviceSynchronize()


def run_triton():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def add_one(data, size, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(data + at, tl.load(data + at, mask=at < size) + 1, mask=at < size)

    note(1)
    data = torch.zeros(4096, device="cuda")
    for _ in range(30):
        note(1)
        add_one[(4,)](data, 4096, BLOCK=1024)
    for _ in range(20):
        note(1)
        add_one[(8,)](data, 4096, BLOCK=512)
    torch.cuda.synchronize()


def run_jax():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    # XLA's autotuner launches from threads of the compiler, where no line of Python is.
    os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")
    import jax
    import jax.numpy as jnp
    import numpy

    @jax.jit
    def step(x):
        return jnp.tanh(x @ x) * 0.5 + jnp.sin(x).sum()

    x = jax.device_put(numpy.ones((256, 256), dtype=numpy.float32))
    for _ in range(30):
        note("-")
        x = step(x)
    note("-")
    y = jnp.cumsum(x, axis=0)
    y.block_until_ready()


def run_numba():
    import numpy
    # What NumPy 2 has removed and older versions of Numba still look for.
    for old, new in (("row_stack", "vstack"), ("trapz", "trapezoid"), ("in1d", "isin")):
        if not hasattr(numpy, old):
            setattr(numpy, old, getattr(numpy, new))
    from numba import cuda

    @cuda.jit
    def add_one(data):
        at = cuda.grid(1)
        if at < data.size:
            data[at] += 1

    data = cuda.to_device(numpy.zeros(4096))
    for _ in range(30):
        note(1)
        add_one[4, 1024](data)
    for _ in range(20):
        note(1)
        add_one[8, 512](data)
    cuda.synchronize()


globals()["run_" + sys.argv[1]]()
for line, kernels in sorted(counts.items()):
    print(line, kernels)
