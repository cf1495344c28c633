# SPDX-License-Identifier: BSD-2-Clause
"""jax.profiler over 100 steps of a jitted function; the last line is how many GPU events it saw."""
import glob
import gzip
import json
import os
import tempfile

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp

data = jax.random.normal(jax.random.PRNGKey(0), (256, 256))
step = jax.jit(lambda x: jnp.tanh(x @ data) * 0.5 + x)
x = step(data).block_until_ready()
with tempfile.TemporaryDirectory() as folder:
    with jax.profiler.trace(folder, create_perfetto_trace=True):
        for _ in range(100):
            x = step(x)
        x.block_until_ready()
    path = glob.glob(folder + "/**/perfetto_trace.json.gz", recursive=True)[0]
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
devices = {e["pid"] for e in events if e.get("name") == "process_name" and "GPU" in e["args"].get("name", "")}
print("events", sum(1 for e in events if e.get("ph") == "X" and e.get("pid") in devices))
