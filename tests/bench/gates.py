#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the agent and its tool add to what CUPTI alone adds to a launch, in turns of some ten milliseconds.

A tool stays attached to one launch-rate. Between the agent and libcupti stands gate.c, which lets CUPTI call
the agent for a turn ("full") and callbacks that do nothing for the next ("alone"): each full turn is compared
with the alone turns on both sides of it, so that what a machine does within seconds is on both sides. What CUPTI
alone costs is an alone turn less what a launch took in the same process before anybody attached ("price"), as the
promise means it, the median of all processes in which the same is on, whatever tool is attached; and less a turn in
which all is switched off again ("price_after"), which holds what CUPTI leaves behind.

    gates.py [options] MODE…      MODE: stat metrics record stacks every stacks-fp every-fp, with kernels alone; default default-errors
                                  default-metrics default-record, with all that these ask for by themselves and calls mixed

A JSON object a line on stdout, after each round of processes, of all until then: for each mode "more_ns", "price_ns",
"price_after_ns", "ratio" (1 + more/price), "ratio_after" and "ratio_own" (of each process over its own price; the middle of them), each as [middle, low, high], where low to high holds
nine of ten of what the same processes and turns give when they are drawn anew; "by_process", what ratio_own is the middle of; "pairs", "processes", "base_ns", "proof". A turn's cost is the mean of its intervals without
the dearest and the cheapest tenth.

With --steps no time is taken: "instructions" of a launch by library before anybody attached ("base"), in each of the
three turns, and "ratio": what is added to base, full over alone. A launch is stepped while the agent flushes nothing, so what
is done once for many launches (sending a batch, a new buffer, a stack of one in a hundred) is not in it.
With --extra-ns N it measures itself: turns with the agent against turns in which each launch spins for about N ns
more; "more_ns" should be what was added, "spun_ns". On a machine that is busy only with --cpu-time.
With --zeroed turns in which buffers are cleared as they come back, and not by CUPTI in a launch, are measured against turns
with the agent as it is: "more_ns" below 0 would be a gain, of which clearing a buffer, "cleared_ns", is no part.
"""
import json
import os
import random
import statistics
import sys
import tempfile
import time

import turns

MIXED = {"default": "stat", "default-errors": "errors", "default-metrics": "metrics", "default-record": "record"}
NEAR = 10  # alone turns that are compared with what was before the attach


def launch_rate(options, mode):
    environment = {"CUDA_TRACE_LIBCUPTI": os.path.realpath(options.gate), "GATE_EXTRA_NS": str(options.extra_ns)}
    return turns.LaunchRate(options, True, mixed=mode in MIXED, interval=options.interval, environment=environment)


def attach(options, mode, rate, work):
    tool = turns.Tool(options, MIXED.get(mode, mode), rate.process.pid, work, mixed=mode in MIXED)
    for _ in range(50):
        time.sleep(options.attach / 2)
        if not rate.command("gate full"):
            time.sleep(options.attach / 2)
            return tool
    tool.end()
    sys.exit(f"gates.py: {mode}: the agent does not go through the gate")


def turn(options, rate, state):
    if rate.command("gate " + state):
        sys.exit(f"gates.py: cannot switch to {state}")
    time.sleep(options.settle)
    return rate.cost(options.turn, turns.trimmed)


def one_process(options, mode, work):
    """The turns' costs: alone and full by turns, then some with nothing on."""
    rate = launch_rate(options, mode)
    time.sleep(options.warm)
    base = rate.cost(options.base, turns.trimmed)
    tool = attach(options, mode, rate, work)
    found = {"base": base, "more": [], "price": [], "price_after": []}
    end = time.monotonic() + options.seconds
    one, other = ("zeroed", "full") if options.zeroed else ("costly", "full") if options.extra_ns else ("full", "alone")
    before = turn(options, rate, other)
    while time.monotonic() < end:
        costlier = turn(options, rate, one)
        after = turn(options, rate, other)
        found["more"].append(costlier - (before + after) / 2)
        if len(found["price"]) < NEAR:
            found["price"].append(after - base)
        before = after
    # Last: once its kinds were switched off and on, CUPTI's worker may take a whole CPU in turns with flushes, and
    # the launching thread waits for it. On an H200 0 of 144 turns before the first time, 3 to 29 of a hundred after it.
    for _ in range(options.nothings):
        nothing = turn(options, rate, "nothing")
        after = turn(options, rate, other)
        found["price_after"].append((before + after) / 2 - nothing)
        before = after
    rate.command("gate full")
    found["spun"] = rate.command("gate spun")
    found["cleared"] = rate.command("gate cleared")
    found["proof"] = tool.end()
    rate.end()
    # A turn without an interval of its own: the machine stood still.
    for key in ("more", "price", "price_after"):
        found[key] = [value for value in found[key] if value == value]
    middle = {key: round(statistics.median(found[key])) for key in ("more", "price", "price_after")}
    print(f"gates: {mode}: base {base:.0f}, {len(found['more'])} pairs, medians {middle}", file=sys.stderr, flush=True)
    return found


def ratio_of(process, pick=lambda values: values):
    """Of one process, over what CUPTI alone adds there: a bad minute makes both larger."""
    price = statistics.median(pick(process["price"]))
    return 1 + statistics.median(pick(process["more"])) / price if price > 0 else 99.0


def drawn_anew(processes, alike, dice):
    """Processes are drawn, and of each its turns; of the price only the process counts, its turns are no news."""
    drawn = [dice.choice(processes) for _ in processes] if dice else processes
    pick = lambda values: [dice.choice(values) for _ in values] if dice else values
    more = statistics.median([v for p in drawn for v in pick(p["more"])])
    price = statistics.median([statistics.median(p["price"]) for p in pick(alike)])
    after = statistics.median([v for p in drawn for v in pick(p["price_after"])])
    ratio = lambda of: 1 + more / of if of > 0 else 99.0
    own = statistics.median([ratio_of(p, pick) for p in drawn])
    return {"more_ns": more, "price_ns": price, "price_after_ns": after, "ratio": ratio(price), "ratio_after": ratio(after), "ratio_own": own}


def summarise(processes, alike):
    dice = random.Random(1)
    middle = drawn_anew(processes, alike, None)
    many = [drawn_anew(processes, alike, dice) for _ in range(2000)]
    result = {}
    for key, value in middle.items():
        values = sorted(one[key] for one in many)
        result[key] = [value, values[100], values[1899]]
    result["by_process"] = sorted(round(ratio_of(p), 3) for p in processes)
    result["pairs"] = sum(len(p["more"]) for p in processes)
    result["processes"] = len(processes)
    result["base_ns"] = [p["base"] for p in processes]
    if processes[0]["cleared"]:
        result["cleared_ns"] = [p["cleared"] for p in processes]
    if processes[0]["spun"]:
        result["spun_ns"] = [p["spun"] for p in processes]
    result["proof"] = [p["proof"] for p in processes]
    return result


def count_instructions(options, mode, work):
    rate = launch_rate(options, mode)
    time.sleep(0.3)
    launches = 12 if mode in MIXED else options.launches  # of eight mixed calls six are launches

    def count():
        """Of a machine that is busy it may be none at first."""
        for _ in range(3):
            counts = rate.instructions(options.steps, launches, mode in MIXED)
            if counts.get("all"):
                break
        return counts

    found = {"base": count()}
    tool = attach(options, mode, rate, work)
    for state in ("alone", "full", "nothing"):
        rate.command("gate " + state)
        rate.command("gate hold")
        time.sleep(0.1)
        found[state] = count()
        rate.command("gate flow")
    rate.command("gate full")
    tool.end()
    rate.end()
    for counts in found.values():
        counts["all"] = counts.get("all", 0) - counts.pop("libgate.so", 0)
    more = {state: found[state]["all"] - found["base"]["all"] for state in ("alone", "full")}
    found["ratio"] = more["full"] / more["alone"] if more["alone"] > 0 else None
    print(f"gates: {mode}: {found}", file=sys.stderr, flush=True)
    return found


def main():
    parser = turns.parser_for("what is added to CUPTI's own price of a launch")
    parser.add_argument("modes", nargs="+", metavar="MODE")
    parser.add_argument("--gate", default="build/bench/libgate.so")
    parser.add_argument("--launches", type=int, default=10, help="whose instructions are counted")
    parser.add_argument("--extra-ns", type=int, default=0)
    parser.add_argument("--zeroed", action="store_true")
    parser.add_argument("--processes", type=int, default=3, help="of each mode")
    parser.add_argument("--seconds", type=float, default=8, help="of turns in each")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds after which no round begins")
    parser.add_argument("--nothings", type=int, default=4, help="turns with nothing on, after all others")
    parser.add_argument("--interval", type=float, default=0.004)
    parser.add_argument("--turn", type=float, default=0.040)
    parser.add_argument("--settle", type=float, default=0.015)
    parser.add_argument("--attach", type=float, default=0.6)
    parser.add_argument("--warm", type=float, default=1.5)
    parser.add_argument("--base", type=float, default=0.8, help="seconds before anybody attaches")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        if options.steps:
            print(json.dumps({mode: count_instructions(options, mode, work) for mode in options.modes}))
        else:
            processes = {mode: [] for mode in options.modes}
            begin = time.monotonic()
            # In turn as well: what one minute does to a machine is not one mode's alone.
            for number in range(options.processes):
                if number and time.monotonic() - begin > options.limit:
                    break
                for mode in options.modes:
                    processes[mode].append(one_process(options, mode, work))
                result = {}
                for mode in options.modes:
                    alike = [p for other in options.modes for p in processes[other] if (other in MIXED) == (mode in MIXED)]
                    result[mode] = summarise(processes[mode], alike)
                print(json.dumps(result), flush=True)


main()
