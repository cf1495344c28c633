# SPDX-License-Identifier: BSD-2-Clause
"""A jitted JAX function in a loop until SIGUSR1, checked: prints "ready PID", last "expect steps=N wrong=N"."""
import os
import signal
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp

ended = []
signal.signal(signal.SIGUSR1, lambda *_: ended.append(True))
data = jax.random.normal(jax.random.PRNGKey(0), (512, 512))


@jax.jit
def step(x):
    return jnp.tanh(x @ data) * 0.5 + x * 0.5


first = x = step(data)
x.block_until_ready()
print("ready", os.getpid(), flush=True)
steps, end = 0, time.monotonic() + 60
while not ended and time.monotonic() < end:
    x = step(x)
    steps += 1
    if steps % 50 == 0:
        x.block_until_ready()
again = step(data)
wrong = int(not bool((again == first).all())) + int(not bool(jnp.isfinite(x).all()))
print(f"expect steps={steps} wrong={wrong}", flush=True)
sys.exit(wrong != 0)
