# SPDX-License-Identifier: BSD-2-Clause
"""CuPy kernels in a loop until SIGUSR1, checked: prints "ready PID", last "expect steps=N wrong=N"."""
import os
import signal
import sys
import time

import cupy

ended = []
signal.signal(signal.SIGUSR1, lambda *_: ended.append(True))
counted = cupy.zeros(1024, dtype=cupy.int64)
counted += 1
cupy.cuda.runtime.deviceSynchronize()
print("ready", os.getpid(), flush=True)
steps, end = 1, time.monotonic() + 60
while not ended and time.monotonic() < end:
    counted += 1
    steps += 1
    if steps % 100 == 0:
        cupy.cuda.runtime.deviceSynchronize()
wrong = int((counted != steps).sum())
print(f"expect steps={steps} wrong={wrong}", flush=True)
sys.exit(wrong != 0)
