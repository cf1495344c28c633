# SPDX-License-Identifier: BSD-2-Clause
"""operators.py RECORDING.db TIMELINE.json PROGRAM.py [TRUTH]: what report says of each kernel of a recording (record -g).

TIMELINE.json is what report --timeline wrote; TRUTH the output of operator-truth.py for the same program and arguments.
Lines "KEY<tab>OK<tab>TEXT", with OK 1 or 0 where there is a goal, - where there is none; then examples of kernels without an
operator or a line, with their stacks.
"""
import collections
import json
import os
import re
import sqlite3
import sys

BOTTOM = re.compile(r"^(?:_start|main|__libc_start\w*|start_thread|_*clone3?)\b")
AUTOGRAD = "torch::autograd::Engine::"


class Recording:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        names = dict(self.db.execute("SELECT id, value FROM StringIds"))
        self.stacks = collections.defaultdict(list)
        for number, symbol, module in self.db.execute(
            "SELECT id, symbol, module FROM CUDA_CALLCHAINS ORDER BY id, stackDepth"
        ):
            self.stacks[number].append((names[symbol], names.get(module, "")))
        self.chain_of = {
            (pid, correlation): chain
            for pid, correlation, chain in self.db.execute(
                "SELECT globalTid / 0x1000000 & 0xffffff, correlationId, callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                "WHERE callchainId IS NOT NULL"
            )
        }
        self.pid = self.db.execute("SELECT min(globalPid / 0x1000000 & 0xffffff) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]

    def frames(self, kernel):
        """Of a program of one process."""
        return self.stacks.get(self.chain_of.get((self.pid, kernel["args"]["correlation"])), [])


def share(count, total):
    return f"{100 * count / total:.2f} % ({count} of {total})" if total else "none"


def say(key, good, text):
    print(f"{key}\t{good}\t{text}")


def goal(key, count, total, least):
    say(key, int(count >= least * total > 0), share(count, total))


def by_name(pairs):
    found = collections.defaultdict(list)
    for name, operator in pairs:
        found[re.sub(r"\s", "", name)].append(operator)
    return found


def compare(kernels, path):
    """Kernels of one name, from the last to the first: the profiler's run had one kernel before it."""
    lines = (line.rstrip("\n").split("\t", 1) for line in open(path, encoding="utf-8"))
    truth = by_name((name, operator) for operator, name in lines)
    found = by_name((kernel["name"], kernel["args"].get("operator")) for kernel in kernels)
    right = linked = unmatched = 0
    wrong = collections.Counter()
    for name, operators in found.items():
        unmatched += max(0, len(operators) - len(truth[name]))
        for ours, true in zip(reversed(operators), reversed(truth[name])):
            linked += bool(true)
            right += bool(true) and ours == true
            if true and ours != true:
                wrong[(ours, true, name[:60])] += 1
    goal("operator as torch.profiler's", right, linked, 0.99)
    say("  kernels not in its run", "-", str(unmatched))
    for (ours, true, name), count in wrong.most_common(20):
        print(f"  {count} kernels {name}: {ours}, profiler: {true}")


def example(title, recording, kernels):
    seen = collections.Counter((kernel["name"][:70], tuple(recording.frames(kernel))) for kernel in kernels)
    for (name, frames), count in seen.most_common(8):
        print(f"  {title}: {count} {name}")
        for symbol, module in frames[:60]:
            print(f"      {symbol[:110]}  [{os.path.basename(module)}]")


def main():
    recording = Recording(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    kernels = sorted((event for event in events if event.get("cat") == "kernel"), key=lambda event: event["ts"])
    total = len(kernels)
    stacks = [frames for frames in map(recording.frames, kernels) if frames]
    say("kernels with a stack", "-", share(len(stacks), total))
    nameless = [kernel for kernel in kernels if "operator" not in kernel["args"]]
    lineless = [kernel for kernel in kernels if "line" not in kernel["args"]]
    aten = sum("::" in kernel["args"].get("operator", "") for kernel in kernels)
    goal("kernels with an operator", total - len(nameless), total, 0.99)
    say("  of PyTorch's dispatcher", "-", share(aten, total))
    goal("kernels with the program's line", total - len(lineless), total, 0.99)
    script = os.path.basename(sys.argv[3]) + ":"
    say("  of its script", "-", share(sum(k["args"].get("line", "").startswith(script) for k in kernels), total))
    say("kernels with a module", "-", share(sum("module" in kernel["args"] for kernel in kernels), total))
    autograd = [k for k in kernels if any(s.startswith(AUTOGRAD) for s, _ in recording.frames(k))]
    say("  of autograd's threads", "-", share(len(autograd), total) + f", with a line: {sum('line' in k['args'] for k in autograd)}")
    stacks = [frames for frames in recording.stacks.values() if frames]
    ends = collections.Counter((f[-1][0][:60], os.path.basename(f[-1][1])) for f in stacks)
    libc = sum(not BOTTOM.match(f[-1][0]) and os.path.basename(f[-1][1]).startswith("libc.so") for f in stacks)
    goal("stacks that reach main or clone", libc + sum(bool(BOTTOM.match(f[-1][0])) for f in stacks), len(stacks), 0.98)
    say("  of them by an address in libc", "-", str(libc))
    say("  outermost frames", "-", str(ends.most_common(8)))
    operators = collections.Counter(kernel["args"].get("operator") for kernel in kernels)
    say("  operators", "-", ", ".join(f"{name} {count}" for name, count in operators.most_common(25)))
    if len(sys.argv) > 4:
        compare(kernels, sys.argv[4])
    example("no operator", recording, nameless)
    example("no line", recording, lineless)


main()
