# SPDX-License-Identifier: BSD-2-Clause
"""Launches from Python functions of known names and lines, through ctypes, which gives up the
interpreter's lock as PyTorch does. One step is Model.forward → layer (twice) and backward; --thread
makes one more step in a thread of its own. Prints where its launches are, and what they were."""
import ctypes
import inspect
import sys
import threading

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
kernel = ctypes.c_void_p()
context = ctypes.c_void_p()
launches = 0
lines = {}


def check(result):
    if result:
        sys.exit(f"CUDA error {result}")


def start():
    device, module = ctypes.c_int(), ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"spin"))


def launch(ns):
    global launches
    value = ctypes.c_uint64(ns)
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(value))
    launches += 1
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, parameters, None))


def layer():
    lines["layer"] = inspect.currentframe().f_lineno + 1
    launch(30000)
    return launches


class Model:
    def forward(self):
        # Sorting calls back into Python: two calls of the evaluation loop in one stack.
        lines["forward"] = inspect.currentframe().f_lineno + 1
        sorted([2, 1], key=lambda _: layer())


def größe():
    lines["backward"] = inspect.currentframe().f_lineno + 1
    launch(10000)


def step(model):
    check(cuda.cuCtxSetCurrent(context))
    model.forward()
    größe()
    check(cuda.cuCtxSynchronize())


def main():
    steps = int(sys.argv[1])
    start()
    for _ in range(steps):
        step(Model())
    if "--thread" in sys.argv:
        thread = threading.Thread(target=step, args=(Model(),))
        thread.start()
        thread.join()
    for name, line in lines.items():
        print(f"line {name} {line}")
    print(f"expect launches={launches} kernels={launches}")
    sys.stdout.flush()
    if "--linger" in sys.argv:
        sys.stdin.read()


main()
