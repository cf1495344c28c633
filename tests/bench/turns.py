#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Costs of a launch under things that take turns in one process, compared within it.

Two processes of one kind differ by 5 to 25 % on a shared machine, more than what is measured. Here
one launch-rate runs on, pinned to a CPU, and everything takes its turn with it: nothing, CUPTI alone
(launch-rate switches it on itself, off as the agent's detach does), a tool that attaches. Each turn's
cost is the median of its intervals of 20 ms, those of coming and going left out.

    turns.py [options] TURN…      TURN: launch kernel default (CUPTI alone, of that sort)
                                        stat errors metrics record stacks every stacks-fp every-fp launches driver driver-return
                                        sampled sampled-launches sampled-metrics (the tool)

One JSON object on stdout: "base" (ns before anything was on, of each process); of each turn "ns", "nothing"
(with nothing on just before and after it), "base" and "proof" by round; and what that comes to, always as [middle, low,
high], where low to high holds nine of ten of what the same rounds give when they are drawn anew: "added"
and "added_ns" (over nothing on), and under "compare", of each turn of the tool, what it adds over what CUPTI
alone adds. Once kernels were traced, nothing is not as cheap as it was: what CUPTI leaves behind is in none of
the two, which makes the ratio of them larger than it is in a new process.

With --steps no time is taken: "instructions" says how many a launch has in which library, without the
agent, with it, under each turn and after it. With --idle N, of N short processes each, the dormant agent
is compared with none. With --late N, in each of N processes, the agent is loaded while launches go on, by the
program itself: two windows before, two after; "late" is the step between the middle ones less half of those on
both sides of it, which is how the process drifts, over the middle ones; "late_nothing" the same of each third process once
more, in which nothing is loaded: what is found there is an error.
"""
import argparse
import contextlib
import json
import os
import random
import shlex
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

CUPTI = ("launch", "kernel", "default")
SAMPLED = ("sampled", "sampled-launches", "sampled-metrics")
INTERVAL = 0.020


class LaunchRate:
    """One process; its intervals as they come."""

    def __init__(self, options, agent, mixed=False, interval=INTERVAL, environment=None):
        environment = dict(os.environ) | (environment or {})
        environment.pop("CUDA_INJECTION64_PATH", None)
        # In both cases as long, as the C library's copies depend on where the environment puts the stack.
        environment["CUDA_INJECTION64_PATH" if agent else "CUDA_INJECTION64_NONE"] = options.agent
        arguments = ["-i", str(round(interval * 1000)), "-d", "600", "-p", "-c"] + ["-m"] * mixed + ["-u"] * options.cpu_time
        self.interval = interval
        self.process = subprocess.Popen(
            shlex.split(options.sim) + [options.launch_rate] + arguments,
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr, text=True,
        )
        self.intervals = []
        self.answers = []
        self.ended = False
        self.more = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        self.wait(lambda: self.intervals, "a first interval")

    def read(self):
        for line in self.process.stdout:
            with self.more:
                if line.startswith("= "):
                    self.answers.append(line.split())
                elif line[:1].isdigit():
                    seconds, _, ns = line.split()
                    self.intervals.append((float(seconds), float(ns)))
                self.more.notify()
        with self.more:
            self.ended = True
            self.more.notify()

    def wait(self, condition, what):
        with self.more:
            self.more.wait_for(lambda: condition() or self.ended, 60)
            if not condition():
                sys.exit(f"turns.py: launch-rate: no {what}")

    def command(self, word):
        count = len(self.answers)
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        self.wait(lambda: len(self.answers) > count, f"answer to {word}")
        return int(self.answers[-1][2], 16 if word == "where" else 10)

    def instructions(self, steps, launches, mean=False):
        """By library, of a launch: {"all": …}."""
        command = [steps, str(self.process.pid), f"{self.command('where'):x}", str(launches)] + ["mean"] * mean
        reported = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.split()
        counts = dict(pair.rsplit("=", 1) for pair in reported)
        return {name: int(count) for name, count in counts.items() if name != "launches"}

    def cost(self, seconds, middle=statistics.median):
        begin = time.monotonic()
        time.sleep(seconds)
        with self.more:
            costs = [ns for end, ns in self.intervals if end - self.interval * 1.2 > begin]
        return middle(costs) if costs else float("nan")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Tool:
    """One attachment of the tool; what it says that it saw is its proof."""

    def __init__(self, options, turn, pid, work, mixed=False):
        self.turn = turn
        self.out = os.path.join(work, "turn.json")
        self.file = os.path.join(work, "turn.db")
        events = [] if mixed else ["-e", "kernels"]
        record = ["record", "-q", "-f", "-o", self.file] + events
        metrics = ["metrics", "--listen", "127.0.0.1:0"] + (["--events", "kernels"] if events else [])
        command = {
            "stat": ["stat", "--json", "-o", self.out] + events,
            "errors": ["stat", "--errors", "--json", "-o", self.out] + events,
            "launches": ["stat", "--json", "-o", self.out, "-e", "launches"],
            "sampled": ["stat", "--json", "-o", self.out, "--sample", "10ms/1s"] + events,
            "sampled-launches": ["stat", "--json", "-o", self.out, "--sample", "10ms/1s", "-e", "launches"],
            "driver": ["stat", "--json", "-o", self.out, "--source", "driver"] + events,
            "driver-return": ["stat", "--json", "-o", self.out, "--source", "driver"] + events,
            "metrics": metrics,
            "sampled-metrics": metrics + ["--sample", "10ms/1s"],
            "record": record,
            "stacks": record + ["-g=100"],
            "every": record + ["-g", "--buffer", "256"],
            "stacks-fp": record + ["-g=100", "--call-graph", "fp"],
            "every-fp": record + ["-g", "--call-graph", "fp", "--buffer", "256"],
        }[turn]
        command = [options.tool] + command + (["-p", str(pid)] if command[0] != "metrics" else [])
        self.errors = open(os.path.join(work, "turn.err"), "w+", encoding="utf-8")
        environment = dict(os.environ)
        if turn == "driver-return":
            environment["CUDA_TRACE_LAUNCHES"] = "return"
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self.errors, env=environment)

    def scrape(self):
        self.errors.seek(0)
        address = [w for w in self.errors.read().split() if w.startswith("http://")]
        if not address:
            return None
        with urllib.request.urlopen(address[0]) as page:
            lines = [line.decode().split() for line in page]
        total = lambda name: sum(float(line[-1]) for line in lines if line[0].startswith(name))
        return {"kernels": total("cuda_kernel_duration_seconds_count"), "lost": total("cuda_trace_lost_records_total")}

    def recorded(self):
        with contextlib.closing(sqlite3.connect(self.file)) as db:
            lost = db.execute("SELECT coalesce(sum(count), 0) FROM CUDA_TRACE_LOST").fetchone()[0]
        return {"bytes": os.path.getsize(self.file), "lost": lost}

    def end(self):
        proof = self.scrape() if "metrics" in self.turn else None
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if os.path.exists(self.out):
            with open(self.out, encoding="utf-8") as file:
                reported = json.load(file)
            totals = reported["totals"]
            proof = {"kernels": totals["kernels"], "launches": totals["launches"], "lost": reported["lost"]["total"]}
            if reported.get("driver_launches"):
                proof["reported_at"] = reported["driver_launches"]
            os.unlink(self.out)
        elif os.path.exists(self.file):
            proof = self.recorded()
            os.unlink(self.file)
        self.errors.seek(0)
        text = self.errors.read()
        if not proof or self.process.returncode not in (0, -signal.SIGINT, 130):
            print(f"turns.py: {self.turn}: status {self.process.returncode}: {text[-300:]}", file=sys.stderr)
        return proof


def run_turn(options, rate, turn, work, look):
    """What look() finds while it is on, and the proof that it was."""
    if turn == "nothing":
        return look(), {}
    if turn in CUPTI:
        before = rate.command(turn)
        time.sleep(options.settle / 2)
        found = look()
        return found, {"buffers": rate.command("off") - before}
    tool = Tool(options, turn, rate.process.pid, work, options.mixed)
    time.sleep(options.attach)
    found = look()
    return found, tool.end()


def count_instructions(options, result, work):
    """Without the agent, with it, under each turn, and with nothing on after each."""
    counts = result["instructions"] = []
    for agent in (False, True):
        rate = LaunchRate(options, agent, options.mixed)
        time.sleep(0.3)
        for turn in ["nothing"] + (options.turns if agent else []):
            for on in [turn] + ["nothing"] * (turn != "nothing"):
                look = lambda: rate.instructions(options.steps, options.launches)
                found, _ = run_turn(options, rate, on, work, look)
                time.sleep(options.settle)
                counts.append({"agent": agent, "after": turn, "on": on, "instructions": found})
                print(f"turns: agent {agent}, {on} on (after {turn}): {found}", file=sys.stderr, flush=True)
        rate.end()


def run_turns(options, result, work):
    agent = any(not turn.startswith("driver") for turn in options.turns)
    rate = LaunchRate(options, agent, options.mixed)
    time.sleep(options.warm)
    base = rate.cost(max(1.0, options.seconds))
    result["base"].append(base)
    # Of both neighbours: the machine drifts meanwhile.
    nothing = rate.cost(options.off)
    for number in range(options.rounds):
        turns = options.turns[number % len(options.turns):] + options.turns[:number % len(options.turns)]
        said = []
        for turn in turns:
            # Windows are in few of the intervals: there the mean counts.
            middle, times = (statistics.fmean, 3) if turn in SAMPLED else (statistics.median, 1)
            before = rate.cost(options.off * times, middle) if times > 1 else nothing
            look = lambda: rate.cost(options.seconds * times, middle)
            ns, proof = run_turn(options, rate, turn, work, look)
            time.sleep(options.settle)
            nothing = rate.cost(options.off * times, middle)
            of_turn = result["turns"].setdefault(turn, {"ns": [], "nothing": [], "base": [], "proof": []})
            around = (before + nothing) / 2
            for key, value in (("ns", ns), ("nothing", around), ("base", base), ("proof", proof)):
                of_turn[key].append(value)
            said.append(f"{turn} {ns:.0f} (nothing {around:.0f})")
        # The time on a borrowed machine may end at any moment: what is known is said as it goes.
        print(f"turns: base {base:.0f}; " + ", ".join(said), file=sys.stderr, flush=True)
    rate.end()


def added(of_turn, rounds):
    return statistics.median(of_turn["ns"][i] - of_turn["nothing"][i] for i in rounds)


def trimmed(values):
    cut = len(values) // 10
    return statistics.fmean(sorted(values)[cut : len(values) - cut]) if values else float("nan")


def drawn(statistic, count):
    """The middle, and what holds nine of ten of those that the same rounds give when drawn anew."""
    dice = random.Random(1)
    values = sorted(statistic([dice.randrange(count) for _ in range(count)]) for _ in range(2000))
    return [statistic(range(count)), values[100], values[1899]]


def compare(result, ours, theirs):
    a, b = result["turns"][ours], result["turns"][theirs]

    def ratio(rounds):
        price = added(b, rounds)
        return added(a, rounds) / price if price > 0 else 99.0

    count = min(len(a["ns"]), len(b["ns"]))
    return {
        "ratio": drawn(ratio, count),
        "more_ns": drawn(lambda rounds: added(a, rounds) - added(b, rounds), count),
        "price_ns": drawn(lambda rounds: added(b, rounds), count),
    }


def compare_idle(options, result):
    """Processes with and without the agent, in turn."""
    costs = {False: [], True: []}
    for number in range(options.idle):
        for agent in (number % 2 == 0, number % 2 == 1):
            rate = LaunchRate(options, agent, options.mixed)
            time.sleep(0.2)
            costs[agent].append(rate.cost(options.seconds))
            rate.end()
        print(f"turns: without {costs[False][-1]:.0f}, with the agent {costs[True][-1]:.0f}", file=sys.stderr)

    def ratio(rounds):
        return statistics.median(costs[True][i] / costs[False][i] for i in rounds)

    result["idle"] = drawn(ratio, options.idle)
    result["idle_runs"] = options.idle


def step_of(rate, options, word):
    """What the second of three steps between four windows is more than its neighbours, over the window before it."""
    windows = []
    for number in range(4):
        if number == 2 and rate.command(word) != 1 and word == "load":
            sys.exit("turns.py: the agent cannot be loaded")
        time.sleep(options.settle)
        windows.append(rate.cost(options.seconds, trimmed))
    a, b, c, d = windows
    return ((c - b) - ((b - a) + (d - c)) / 2) / ((b + c) / 2)


def compare_late(options, result):
    steps = {"load": [], "where": []}
    environment = {"LAUNCH_RATE_AGENT": options.agent}
    for number in range(options.late):
        for word in ["load"] + ["where"] * (number % 3 == 0):
            rate = LaunchRate(options, False, options.mixed, interval=0.004, environment=environment)
            time.sleep(options.warm)
            steps[word].append(step_of(rate, options, word))
            rate.end()
            print(f"turns: late: {word} {1 + steps[word][-1]:.4f}", file=sys.stderr, flush=True)
    for key, word in (("late", "load"), ("late_nothing", "where")):
        found = steps[word]
        result[key] = drawn(lambda rounds, f=found: 1 + statistics.median(f[i] for i in rounds), len(found))
    result["late_runs"] = options.late


def parser_for(description):
    """With the options that gates.py has, too."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tool", default="cuda-trace")
    parser.add_argument("--agent", default="")
    parser.add_argument("--sim", default="", help="what runs a program on the simulated driver")
    parser.add_argument("--launch-rate", default="build/bench/launch-rate")
    parser.add_argument("--cpu-time", action="store_true", help="of the launching thread, instead of what passed")
    parser.add_argument("--steps", help="that program: instructions are counted, no time is taken")
    return parser


def main():
    parser = parser_for("costs of a launch, in turns, within one process")
    parser.add_argument("turns", nargs="*", metavar="TURN")
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--idle", type=int, default=0, metavar="N")
    parser.add_argument("--late", type=int, default=0, metavar="N")
    parser.add_argument("--launches", type=int, default=20, help="whose instructions are counted")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each turn that are measured")
    parser.add_argument("--off", type=float, default=0.3, help="the same, with nothing on")
    parser.add_argument("--attach", type=float, default=0.6, help="from the tool's start until it is measured")
    parser.add_argument("--warm", type=float, default=3.0, help="before the first turn: a GPU that idled is slow")
    parser.add_argument("--settle", type=float, default=0.3)
    options = parser.parse_args()
    result = {"base": [], "turns": {}, "compare": {}}
    with tempfile.TemporaryDirectory() as work:
        if options.idle:
            compare_idle(options, result)
        elif options.late:
            compare_late(options, result)
        elif options.steps:
            count_instructions(options, result, work)
        else:
            for _ in range(options.processes):
                run_turns(options, result, work)
    for turn, of_turn in result["turns"].items():
        count = len(of_turn["ns"])
        of_turn["added_ns"] = drawn(lambda rounds, t=of_turn: added(t, rounds), count)
        of_turn["added"] = drawn(
            lambda rounds, t=of_turn: statistics.median(t["ns"][i] / t["nothing"][i] for i in rounds), count
        )
        for alone in CUPTI:
            if alone in result["turns"] and turn not in CUPTI:
                result["compare"][turn] = compare(result, turn, alone)
    json.dump(result, sys.stdout)
    print()


if __name__ == "__main__":
    main()
