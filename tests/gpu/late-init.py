# SPDX-License-Identifier: BSD-2-Clause
"""Maps libcuda, prints "ready", and calls cuInit() only after four seconds; then copies until SIGUSR1.

Last line: "expect wrong=N", 0 if every call succeeded.
"""
import ctypes
import os
import signal
import time

cuda = ctypes.CDLL("libcuda.so.1")
ended = []
signal.signal(signal.SIGUSR1, lambda *_: ended.append(True))
print("ready", os.getpid(), flush=True)
time.sleep(4)
context, memory, wrong = ctypes.c_void_p(), ctypes.c_uint64(), 0
device = ctypes.c_int()
host = ctypes.create_string_buffer(4096)
wrong |= cuda.cuInit(0)
wrong |= cuda.cuDeviceGet(ctypes.byref(device), 0)
wrong |= cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device)
wrong |= cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096))
end = time.monotonic() + 60
while not ended and time.monotonic() < end:
    wrong |= cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(4096))
print(f"expect wrong={wrong}", flush=True)
