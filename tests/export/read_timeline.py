#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""read_timeline.py catapult|firefox|hta FILE: what those programs make of a timeline.

Written from their formats' descriptions and the behaviour of their importers, for where the programs
themselves are not at hand. catapult: slices of a thread nest by times that are rounded to the file's unit,
and an arrow binds to the innermost slice that covers its end. Prints "bound N unbound M stacks K".
firefox: call trees come from Profile and ProfileChunk events, whose nodes have their parents before them,
and of the samples those count that are 0.5 ms apart. Prints "THREAD N outermost;...;innermost".
hta (Holistic Trace Analysis): events with "dur" and "cat"; those with a stream are the GPU's, and belong to the call with
their correlation id, which must be one, and of those that it takes for launches, by name. Prints for each name of a call "NAME calls N cpu_ns T gpu N
gpu_ns T delay_ns T", the delay being from the call's end to the GPU's start, at least 0; and last what the GPU's rows
were busy and idle, as kernels, copies and nothing, in ns.
"""
import collections
import decimal
import json
import sys

# cuda_kernel_launch_stats() of hta/analyzers/cuda_kernel_analysis.py (0.6)
HTA_LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync"}
ROUND = {"ms": 1e3, "ns": 1e6}  # of times in ms


class Slice:
    def __init__(self, event):
        self.start = event["ts"] / 1000
        self.end = self.start + event["dur"] / 1000
        self.stack = event.get("sf")
        self.children = []

    def covers(self, other, scale):
        return round(other.start * scale) >= round(self.start * scale) and \
            round(other.end * scale) <= round(self.end * scale)


def nest(slices, scale):
    """The slices of one thread as trees."""
    top, stack = [], []
    for one in sorted(slices, key=lambda s: (s.start, s.start - s.end)):
        while stack and not stack[-1].covers(one, scale):
            stack.pop()
        (stack[-1].children if stack else top).append(one)
        stack.append(one)
    return top


def find(slices, time):
    found = None
    while True:
        inner = next((s for s in slices if s.start <= time <= s.end), None)
        if inner is None:
            return found
        found, slices = inner, inner.children


def catapult(trace):
    threads = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append(Slice(event))
    scale = ROUND[trace.get("displayTimeUnit", "ms")]
    trees = {key: nest(slices, scale) for key, slices in threads.items()}
    bound = unbound = 0
    for event in trace["traceEvents"]:
        if event["ph"] in "sf":
            if find(trees.get((event["pid"], event["tid"]), []), event["ts"] / 1000):
                bound += 1
            else:
                unbound += 1
    stacks = 0
    for slices in threads.values():
        for one in slices:
            frame = one.stack
            stacks += frame is not None
            while frame is not None:
                frame = trace["stackFrames"][frame].get("parent")
    print("bound", bound, "unbound", unbound, "stacks", stacks)


def firefox(trace):
    chunks = [e for e in trace["traceEvents"] if e["name"] == "ProfileChunk"]
    for profile in (e for e in trace["traceEvents"] if e["name"] == "Profile"):
        stacks, counts = {None: ()}, collections.Counter()
        time, kept = profile["args"]["data"]["startTime"] / 1000, 0
        for chunk in chunks:
            if (chunk["id"], chunk["pid"]) != (profile["id"], profile["pid"]):
                continue
            data = chunk["args"]["data"]
            for node in data["cpuProfile"].get("nodes", ()):
                # A KeyError: the parent comes later, or never.
                stacks[node["id"]] = stacks[node.get("parent")] + (node["callFrame"]["functionName"],)
            for node, delta in zip(data["cpuProfile"]["samples"], data["timeDeltas"], strict=True):
                time += delta / 1000
                if time - kept >= 0.5:
                    kept = time
                    counts[stacks[node]] += 1
        for stack, count in sorted(counts.items()):
            print(profile["tid"], count, ";".join(stack))


def nanoseconds(event, key):
    return round(event[key] * 1000)


def hta(trace):
    events = [e for e in trace["traceEvents"] if "dur" in e and e.get("cat", "Trace") != "Trace"]
    gpu = [e for e in events if e.get("args", {}).get("stream", -1) >= 0 and e["args"].get("correlation", -1) >= 0
           and e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")]
    calls = {}
    for event in events:
        correlation = event.get("args", {}).get("correlation", -1)
        if event["cat"] in ("cuda_runtime", "cuda_driver") and correlation > 0:
            assert correlation not in calls, f"two calls with the correlation id {correlation}"
            calls[correlation] = event
    sums = collections.defaultdict(lambda: [0] * 5)
    for event in gpu:
        call = calls.get(event["args"]["correlation"])
        if call and call["name"] in HTA_LAUNCHES:
            late = nanoseconds(event, "ts") - nanoseconds(call, "ts") - nanoseconds(call, "dur")
            for i, number in enumerate((1, nanoseconds(call, "dur"), 1, nanoseconds(event, "dur"), max(late, 0))):
                sums[call["name"]][i] += number
    for name, (n, cpu, rows, busy, late) in sorted(sums.items()):
        print(name, "calls", n, "cpu_ns", cpu, "gpu", rows, "gpu_ns", busy, "delay_ns", late)
    print("kernels_ns", sum(nanoseconds(e, "dur") for e in gpu if e["cat"] == "kernel"), "memory_ns",
          sum(nanoseconds(e, "dur") for e in gpu if e["cat"] != "kernel"),
          "annotations", sum(e["cat"] == "gpu_user_annotation" for e in events))


with open(sys.argv[2], encoding="utf-8") as file:
    {"catapult": catapult, "firefox": firefox, "hta": hta}[sys.argv[1]](
        json.load(file, parse_float=decimal.Decimal if sys.argv[1] == "hta" else float))
