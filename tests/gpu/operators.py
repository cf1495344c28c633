# SPDX-License-Identifier: BSD-2-Clause
"""operators.py RECORDING.db PROGRAM.py [TRUTH]: what the stacks of a recording (record -g) say of its kernels.

Lines "KEY<tab>OK<tab>TEXT", with OK 1 or 0 where there is a goal, - where there is none; then examples of kernels without an
operator or a line, with their stacks. TRUTH is the output of operator-truth.py for the same program and arguments.
"""
import collections
import os
import re
import sqlite3
import sys

OPERATOR = re.compile(r"^at::_ops::(\w+)::(?:call|redispatch)\b")
BACKWARD = re.compile(r"^torch::autograd::(?:generated::)?(\w+)::apply\b")
PYTHON = re.compile(r"\.py:\d+ ")
LIBRARY = re.compile(r"/(?:site|dist)-packages/|/lib/python3|^<frozen ")
BOTTOM = re.compile(r"^(?:_start|main|__libc_start\w*|start_thread|__?clone3?|clone3?)\b")


class Recording:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        names = dict(self.db.execute("SELECT id, value FROM StringIds"))
        self.chains = collections.defaultdict(list)
        for number, symbol, module in self.db.execute(
            "SELECT id, symbol, module FROM CUDA_CALLCHAINS ORDER BY id, stackDepth"
        ):
            self.chains[number].append((names[symbol], names.get(module, "")))
        chain_of = {
            (pid, correlation): chain
            for pid, correlation, chain in self.db.execute(
                "SELECT globalTid / 0x1000000, correlationId, callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                "WHERE callchainId IS NOT NULL"
            )
        }
        self.kernels = [
            (names[name], end - start, chain_of.get((pid, correlation)))
            for name, start, end, pid, correlation in self.db.execute(
                "SELECT demangledName, start, end, globalPid / 0x1000000, correlationId "
                "FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start"
            )
        ]


def operator_of(frames):
    """The innermost operator; without one, the innermost node of autograd."""
    for pattern, prefix in ((OPERATOR, "aten::"), (BACKWARD, "")):
        for symbol, _ in frames:
            match = pattern.match(symbol)
            if match:
                return prefix + match[1]
    return None


def lines_of(frames):
    """The innermost line of the program, and the innermost of anything."""
    python = [(symbol, module) for symbol, module in frames if PYTHON.search(symbol)]
    own = [symbol for symbol, module in python if not LIBRARY.search(module)]
    return own[0] if own else None, python[0][0] if python else None


def is_operator(found, true):
    """at::_ops has add__Tensor for aten::add_.Tensor, which torch.profiler calls aten::add_."""
    return bool(found) and (found == true or found.startswith(true + "_") or found == true.split("::")[-1])


def share(count, total):
    return f"{100 * count / total:.2f} % ({count} of {total})" if total else "none"


def say(key, good, text):
    print(f"{key}\t{good}\t{text}")


def compare(kernels, path):
    """Kernels of one name, from the last to the first: the profiler's run had one kernel before it."""
    truth = collections.defaultdict(list)
    for line in open(path, encoding="utf-8"):
        operator, name = line.rstrip("\n").split("\t", 1)
        truth[re.sub(r"\s", "", name)].append(operator)
    found = collections.defaultdict(list)
    for name, _, frames in kernels:
        found[re.sub(r"\s", "", name)].append(operator_of(frames))
    right = linked = unmatched = 0
    wrong = collections.Counter()
    for name, operators in found.items():
        unmatched += max(0, len(operators) - len(truth[name]))
        for ours, true in zip(reversed(operators), reversed(truth[name])):
            linked += bool(true)
            right += bool(true) and is_operator(ours, true)
            if true and not is_operator(ours, true):
                wrong[(ours, true, name[:60])] += 1
    say("as torch.profiler", int(linked > 0 and right >= 0.99 * linked),
        f"{share(right, linked)}; {unmatched} kernels are not in its run")
    for (ours, true, name), count in wrong.most_common(20):
        print(f"  {count} kernels {name}: {ours}, profiler: {true}")


def example(title, kernels):
    seen = collections.Counter((name[:70], tuple(frames)) for name, _, frames in kernels)
    for (name, frames), count in seen.most_common(8):
        print(f"  {title}: {count} {name}")
        for symbol, module in frames[:60]:
            print(f"      {symbol[:110]}  [{os.path.basename(module)}]")


def main():
    recording = Recording(sys.argv[1])
    kernels = [(name, ns, recording.chains.get(chain, [])) for name, ns, chain in recording.kernels]
    total = len(kernels)
    without = [kernel for kernel in kernels if not kernel[2]]
    nameless = [kernel for kernel in kernels if kernel[2] and not operator_of(kernel[2])]
    lineless = [kernel for kernel in kernels if kernel[2] and not lines_of(kernel[2])[0]]
    say("kernels with a stack", "-", share(total - len(without), total))
    with_operator = total - len(without) - len(nameless)
    say("kernels with an operator", int(with_operator >= 0.99 * total > 0), share(with_operator, total))
    with_line = total - len(without) - len(lineless)
    say("kernels with the program's line", int(with_line >= 0.99 * total > 0), share(with_line, total))
    script = os.path.basename(sys.argv[2])
    say("  of its script", "-", share(sum(any(s.startswith(script + ":") for s, _ in f) for _, _, f in kernels), total))
    any_line = sum(bool(lines_of(frames)[1]) for _, _, frames in kernels)
    say("  any Python line", "-", share(any_line, total))
    autograd = [f for _, _, f in kernels if any(s.startswith("torch::autograd::Engine::") for s, _ in f)]
    say("  of autograd's threads", "-", share(len(autograd), total) + ", with a line: " +
        str(sum(bool(lines_of(f)[1]) for f in autograd)))
    chains = [frames for frames in recording.chains.values() if frames]
    named = sum(bool(BOTTOM.match(frames[-1][0])) for frames in chains)
    libc = sum(not BOTTOM.match(f[-1][0]) and os.path.basename(f[-1][1]).startswith("libc.so") for f in chains)
    say("stacks that reach main or clone", int(named + libc >= 0.98 * len(chains) > 0),
        f"{share(named, len(chains))}; and {libc} end in libc without a name")
    ends = collections.Counter((f[-1][0][:60], os.path.basename(f[-1][1])) for f in chains)
    say("  outermost frames", "-", str(ends.most_common(8)))
    operators = collections.Counter(operator_of(frames) for _, _, frames in kernels)
    say("  operators", "-", ", ".join(f"{name} {count}" for name, count in operators.most_common(25)))
    if len(sys.argv) > 3:
        compare(kernels, sys.argv[3])
    example("no operator", nameless)
    example("no line", lineless)


main()
