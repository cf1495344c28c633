# SPDX-License-Identifier: BSD-2-Clause
"""graphed-origins.py EAGER.json GRAPH.json: the kernels of N last forward passes (graphed-step.py) in two timelines of
report --timeline: the graph's replays run the same kernels in the same order, so each must have the operator and the line
of the eager one at its place. Of torch.compile's there is no eager twin: GRAPH.json alone gives what has an origin at all.
Lines "KEY<tab>OK<tab>TEXT"."""
import collections
import json
import sys


def kernels(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return sorted((event for event in events if event.get("cat") == "kernel"), key=lambda event: event["ts"])


def is_replayed(kernel):
    return bool(kernel["args"].get("graph node id"))


def period(names):
    """The length of the pass that repeats at the end."""
    for length in range(1, len(names) // 3):
        if names[-length:] == names[-2 * length : -length] == names[-3 * length : -2 * length]:
            return length
    return 0


def say(key, good, text):
    print(f"{key}\t{good}\t{text}")


def share(part, whole):
    return f"{100 * part / whole:.2f} %" if whole else "none"


def main():
    graph = kernels(sys.argv[-1])
    replayed = [kernel for kernel in graph if is_replayed(kernel)]
    gpu = sum(kernel["dur"] for kernel in replayed)
    say("GPU time in graphs", "-", share(gpu, sum(kernel["dur"] for kernel in graph)) + f", {len(replayed)} kernels")
    for what in ("operator", "line", "module"):
        has = sum(kernel["dur"] for kernel in replayed if what in kernel["args"])
        say(f"  of it with {what}", "-", share(has, gpu))
    lines = collections.Counter(kernel["args"].get("line") for kernel in replayed)
    say("  lines", "-", str(lines.most_common(6)))
    if len(sys.argv) < 3:
        has = sum(kernel["dur"] for kernel in replayed if "line" in kernel["args"])
        say("GPU time of graphs with a line", int(has >= 0.99 * gpu > 0), share(has, gpu))
        return
    eager = kernels(sys.argv[1])
    length = period([kernel["name"] for kernel in eager])
    ones, replays = eager[-length:], replayed[-(len(replayed) // length) * length :] if length else []
    right = collections.Counter()
    wrong = collections.Counter()
    for i, kernel in enumerate(replays):
        one = ones[i % length]
        for what in ("name", "operator", "line", "module"):
            mine, true = ((k["name"] if what == "name" else k["args"].get(what)) for k in (kernel, one))
            right[what] += kernel["dur"] * (mine == true)
            if mine != true:
                wrong[(what, mine, true, one["name"][:50])] += 1
    whole = sum(kernel["dur"] for kernel in replays)
    say("  kernels in a pass", "-", f"{length}; the same ones in replays: {share(right['name'], whole)}")
    for what in ("operator", "line", "module"):
        say(f"graph's {what} as the eager run's", int(right[what] >= 0.99 * whole > 0), share(right[what], whole))
    for (what, mine, true, name), count in wrong.most_common(12):
        print(f"  {count} kernels {name}: {what} {mine}, eager {true}")


main()
