# SPDX-License-Identifier: BSD-2-Clause
"""Launches a kernel, sleeps until the file SLEPT is there, then launches one that takes as long as the sleep did.

Prints "sleeps" and "works" as each begins, and how long they were as the last line.
"""
import os
import sys
import time
import gil


def sleep_until(path):
    began = time.monotonic_ns()
    while not os.path.exists(path):
        time.sleep(0.02)
    return time.monotonic_ns() - began


def main():
    kernel = gil.start()
    gil.launch(kernel)
    print("sleeps", flush=True)
    slept = sleep_until(sys.argv[1])
    gil.KERNEL_NS = slept
    gil.launch(kernel)
    print("works", flush=True)
    gil.check(gil.cuda.cuCtxSynchronize())
    gil.KERNEL_NS = 1_000_000
    for _ in range(3):
        gil.launch(kernel)
        gil.check(gil.cuda.cuCtxSynchronize())
    print("done", flush=True)
    sleep_until(sys.argv[2])
    print(f"expect slept_ns={slept} works_ns={slept + 4_000_000}")


if __name__ == "__main__":
    main()
