# SPDX-License-Identifier: BSD-2-Clause
"""usage: workers.py HOW [LAUNCHES [PAUSE]]: three workers of Python's own make LAUNCHES (200) launches each, PAUSE seconds apart.
HOW: fork, spawn or forkserver (multiprocessing.Process), pool (terminated at its end by SIGTERM), executor (ProcessPoolExecutor),
or killed (SIGKILL once they have launched). Prints what they launched."""
import ctypes
import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor

WORKERS = 3
PTX = b".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry worker()\n{\n\tret;\n}\n"


def check(result):
    if result:
        sys.exit(f"CUDA error {result}")


def work(launches, pause, done=None):
    cuda = ctypes.CDLL("libcuda.so.1")
    kernel, context, module, device = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"worker"))
    for _ in range(launches):
        time.sleep(pause)
        check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None))
    check(cuda.cuCtxSynchronize())
    if done:
        done.put(os.getpid())
        time.sleep(60)
    return launches


def main():
    how = sys.argv[1]
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    pause = float(sys.argv[3]) if len(sys.argv) > 3 else 0
    if how == "executor":
        with ProcessPoolExecutor(WORKERS) as pool:
            made = sum(pool.map(work, [launches] * WORKERS, [pause] * WORKERS))
    elif how == "pool":
        with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
            made = sum(pool.starmap(work, [(launches, pause)] * WORKERS, 1))
    else:
        context = multiprocessing.get_context("fork" if how == "killed" else how)
        done = context.Queue() if how == "killed" else None
        workers = [context.Process(target=work, args=(launches, pause, done)) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        if done:
            for pid in [done.get() for _ in workers]:
                os.kill(pid, signal.SIGKILL)
        for worker in workers:
            worker.join()
        made = launches * WORKERS
    print(f"expect launches={made}")


if __name__ == "__main__":
    main()
