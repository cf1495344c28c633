#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What scheduler events of `stat --idle` cost threads that are not watched.

    unwatched.py [options] -- PROGRAM ARGS     PROGRAM is watched meanwhile; it should use the GPU, and run on

64 threads pass messages and are never watched. In turns, `stat --idle` and `stat` watch PROGRAM: a message's CPU time
under the former less what it takes under the latter before and after. One JSON object on stdout: "ns" a message, which is a
switch and a wake-up, and "share" of a CPU at 500,000 messages a second, each [middle, low, high] as in turns.py; "message_ns"
is all that a message takes, "per_second" how many there were.
"""
import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import turns

PER_SECOND = 500_000


class Switches:
    def __init__(self, options):
        self.process = subprocess.Popen([options.switches, str(options.pairs)], stdout=subprocess.PIPE, text=True)

    def cost(self, seconds):
        """CPU time of a message, and how many there were a second, from now on."""
        began = self.line_after(time.monotonic())
        ended = self.line_after(began[0] + seconds)
        messages = ended[1] - began[1]
        return (ended[2] - began[2]) / messages, messages / (ended[0] - began[0])

    def line_after(self, moment):
        """The first line from then on: those of before may wait in the pipe."""
        while True:
            at, messages, cpu = self.process.stdout.readline().split()
            if float(at) >= moment:
                return float(at), int(messages), int(cpu)


def watch(options, arguments, switches, program):
    with tempfile.NamedTemporaryFile() as out:
        tool = subprocess.Popen([options.tool, "stat", "--json", "-o", out.name, *arguments, "-p", str(program.pid)],
                                stdout=subprocess.DEVNULL, stderr=sys.stderr)
        time.sleep(options.attach)
        found = switches.cost(options.seconds)
        if tool.poll() is not None:
            sys.exit(f"unwatched.py: stat {' '.join(arguments)} ended with {tool.returncode}")
        tool.send_signal(signal.SIGINT)
        tool.wait()
        idle = json.load(out)["idle"]
    if arguments and (not idle or idle["reduced"]):
        sys.exit(f"unwatched.py: stat {' '.join(arguments)}: no scheduler events")
    time.sleep(0.5)
    return found


def main():
    parser = argparse.ArgumentParser(description="what scheduler events cost threads that are not watched")
    parser.add_argument("--tool", default="cuda-trace")
    parser.add_argument("--switches", default="build/bench/switches")
    parser.add_argument("--pairs", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--attach", type=float, default=1.5)
    parser.add_argument("--warm", type=float, default=1, help="from PROGRAM's start until it is watched")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    switches = Switches(options)
    program = subprocess.Popen(options.program, stdout=subprocess.DEVNULL)
    time.sleep(options.warm)
    without, with_events = [watch(options, [], switches, program)], []
    for _ in range(options.rounds):
        with_events.append(watch(options, ["--idle"], switches, program))
        without.append(watch(options, [], switches, program))
    switches.process.kill()
    program.kill()
    added = [on[0] - (before[0] + after[0]) / 2 for on, before, after in zip(with_events, without, without[1:])]
    ns = turns.drawn(lambda rounds: statistics.median(added[i] for i in rounds), len(added))
    print(json.dumps({
        "ns": ns,
        "share": [value * PER_SECOND / 1e9 for value in ns],
        "message_ns": [ns for ns, _ in without],
        "per_second": [count for _, count in without],
        "added_ns": added,
    }))


main()
