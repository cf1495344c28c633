#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a step of PyTorch takes under a tool and without, in turns in one process whose step the GPU bounds.

    torch-turns.py [options] TURN…     TURN: device sampled sampled-default pc pc-default default idle
    idle-limited launches kernels record stacks every events=LIST (the tool), detached

--step names the process, PyTorch's or another one that prints lines "SECONDS STEPS MS_PER_STEP" (CLOCK_MONOTONIC).

Each turn of the tool is compared with the turns with nothing on just before and after it; "detached" compares turns after
a stat that traced kernels for a second, from 10 s after it on, with turns before it: put it after device, which does not
touch the process, and before the others. Costs are means over a turn, or no window of a sampler would be in
them. One JSON object a line on stdout, after each figure: {TURN: {"ratio": [middle, low, high], "rounds": N, "ms": [...]}},
low and high as in turns.py.
"""
import argparse
import json
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import turns

COMMANDS = {
    "device": ["profile", "--device", "--json", "-o", "OUT"],
    "sampled-default": ["stat", "--json", "-o", "OUT", "--sample", "10ms/1s", "-p", "PID"],
    "sampled": ["stat", "--json", "-o", "OUT", "--sample", "10ms/1s", "-e", "kernels", "-p", "PID"],
    "pc": ["profile", "--pc", "--bursts", "10ms/1s", "--json", "-o", "OUT", "-p", "PID"],
    "pc-default": ["profile", "--pc", "--json", "-o", "OUT", "-p", "PID"],
    "idle": ["stat", "--idle", "--json", "-o", "OUT", "-p", "PID"],
    "idle-limited": ["stat", "--idle", "--max-overhead", "5%", "--json", "-o", "OUT", "-p", "PID"],
    "default": ["stat", "--json", "-o", "OUT", "-p", "PID"],
    "launches": ["stat", "--json", "-o", "OUT", "-e", "launches", "-p", "PID"],
    "kernels": ["stat", "--json", "-o", "OUT", "-e", "kernels", "-p", "PID"],
    "record": ["record", "-q", "-f", "-e", "kernels", "-o", "OUT", "-p", "PID"],
    "stacks": ["record", "-q", "-f", "-e", "kernels", "-g=100", "-o", "OUT", "-p", "PID"],
    "every": ["record", "-q", "-f", "-e", "kernels", "-g", "--buffer", "256", "-o", "OUT", "-p", "PID"],
}


class Steps:
    """One training loop; the lines it prints."""

    def __init__(self, options):
        environment = dict(os.environ) | {"CUDA_INJECTION64_PATH": options.agent}
        self.process = subprocess.Popen(
            shlex.split(options.step), env=environment, stdout=subprocess.PIPE, stderr=sys.stderr, text=True
        )
        self.lines = []
        threading.Thread(target=self.read, daemon=True).start()
        end = time.monotonic() + 60
        while not self.lines and time.monotonic() < end:
            time.sleep(0.1)
        if not self.lines:
            sys.exit("torch-turns.py: no step")

    def read(self):
        for line in self.process.stdout:
            words = line.split()
            if len(words) == 3 and words[1].isdigit():
                self.lines.append((float(words[0]), int(words[1]), float(words[2])))

    def cost(self, seconds):
        """ms a step, of all lines whose steps lie in the next seconds."""
        begin = time.monotonic()
        time.sleep(seconds)
        lines = [(n, ms) for end, n, ms in self.lines if end - n * ms / 1000 > begin]
        return sum(n * ms for n, ms in lines) / sum(n for n, _ in lines) if lines else float("nan")

    def end(self):
        self.process.send_signal(signal.SIGUSR1)
        self.process.wait()


def start(options, turn, steps, out):
    words = {"OUT": out, "PID": str(steps.process.pid)}
    events = turn.removeprefix("events=")
    arguments = COMMANDS["default"] + ["-e", events] if events != turn else COMMANDS[turn]
    command = [options.tool] + [words.get(word, word) for word in arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def stop(tool, turn, out):
    tool.send_signal(signal.SIGINT)
    try:
        _, said = tool.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        tool.kill()
        _, said = tool.communicate()
    size = os.path.getsize(out) if os.path.exists(out) else 0
    if turn.startswith("pc") and size:
        with open(out, encoding="utf-8") as file:
            reported = json.load(file)
        size = [reported["windows"], reported["samples"]["total"]]
        os.unlink(out)
    print(f"torch-turns: {turn}: status {tool.returncode}, proof {size} {said.strip()[-200:]}", file=sys.stderr, flush=True)
    return size


def under(options, turn, steps, work):
    out = os.path.join(work, turn.replace(",", "-"))
    ms, nothing, proof = [], [steps.cost(options.off)], []
    for _ in range(options.rounds):
        tool = start(options, turn, steps, out)
        time.sleep(options.attach)
        ms.append(steps.cost(options.seconds))
        proof.append(stop(tool, turn, out))
        time.sleep(options.settle)
        nothing.append(steps.cost(options.off))
    ratios = [on / ((before + after) / 2) for on, before, after in zip(ms, nothing, nothing[1:])]
    return ratios, {"ms": ms, "nothing_ms": nothing, "proof": proof}


def detached(options, steps, work):
    out = os.path.join(work, "kernels")
    before = [steps.cost(options.off) for _ in range(options.rounds)]
    tool = start(options, "kernels", steps, out)
    time.sleep(options.attach + 1)
    size = stop(tool, "kernels", out)
    time.sleep(10)
    after = [steps.cost(options.off) for _ in range(options.rounds)]
    middle = statistics.median(before)
    return [ms / middle for ms in after], {"before_ms": before, "ms": after, "proof": [size]}


def main():
    parser = argparse.ArgumentParser(description="a PyTorch step under a tool and without, in turns")
    parser.add_argument("turns", nargs="+", metavar="TURN")
    parser.add_argument("--tool", default="cuda-trace")
    parser.add_argument("--agent", default="")
    parser.add_argument("--step", default="python3 tests/bench/torch-step.py -d 600 --sync 10")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=3, help="of each turn of a tool that are measured")
    parser.add_argument("--off", type=float, default=2, help="the same, with nothing on")
    parser.add_argument("--attach", type=float, default=0.8)
    parser.add_argument("--settle", type=float, default=0.4)
    parser.add_argument("--warm", type=float, default=3)
    options = parser.parse_args()
    result = {}
    steps = Steps(options)
    time.sleep(options.warm)
    with tempfile.TemporaryDirectory() as work:
        for turn in options.turns:
            ratios, more = detached(options, steps, work) if turn == "detached" else under(options, turn, steps, work)
            ratios = [ratio for ratio in ratios if ratio == ratio]
            middle = lambda rounds, of=ratios: statistics.median(of[i] for i in rounds)
            result[turn] = {"ratio": turns.drawn(middle, len(ratios)), "rounds": len(ratios)} | more
            print(json.dumps(result), flush=True)
    steps.end()


main()
