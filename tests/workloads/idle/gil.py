# SPDX-License-Identifier: BSD-2-Clause
"""Launches a kernel and waits for it, which releases the GIL; another thread takes that meanwhile.

Prints "line NAME N" of the lines at which the holder and the waiting thread are, and what
idle_program.h says of the last lines: a simulated kernel takes as long as requested.
"""
import ctypes
import inspect
import os
import sys
import threading
import time

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

KERNEL_NS = 1_000_000
cuda = ctypes.CDLL("libcuda.so.1")
over = []
lines = {}


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
    return kernel


# ctypes releases the GIL for its calls, PyDLL does not: one wait for it in a step.
launching = ctypes.PyDLL("libcuda.so.1")


def launch(kernel):
    value = ctypes.c_uint64(KERNEL_NS)
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(value))
    check(launching.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, parameters, None))


def hold_the_gil():
    while not over:
        lines["holds"] = inspect.currentframe().f_lineno + 1
        sum(range(20000))


def train(kernel, steps):
    idle_ns = gaps = busy_until = 0
    for _ in range(steps):
        before = time.monotonic_ns()
        launch(kernel)
        now = (before + time.monotonic_ns()) // 2
        if busy_until and now > busy_until:
            idle_ns += now - busy_until
            gaps += 1
        busy_until = max(now, busy_until) + KERNEL_NS
        lines["waits"] = inspect.currentframe().f_lineno + 1
        check(cuda.cuCtxSynchronize())
    return idle_ns, gaps


def main():
    kernel = start()
    # What else runs on this machine would be a cause of its own.
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except PermissionError:
        pass
    holder = threading.Thread(target=hold_the_gil)
    holder.start()
    idle_ns, gaps = train(kernel, int(sys.argv[1]) if len(sys.argv) > 1 else 100)
    over.append(True)
    holder.join()
    for name, line in lines.items():
        print(f"line {name} {line}")
    print("cause gil")
    print(f"expect idle_ns={idle_ns} gaps={gaps}")


if __name__ == "__main__":
    main()
