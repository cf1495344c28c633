#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: pages.py check|fill|output PAGE

Runs the commands of a page of docs/guide as they are written there, on the simulated driver. A block
```console has commands, which begin with "# ", each followed by what it prints. `check` compares that:
numbers and units of time and size may differ, a line "..." stands for any number of lines, and "…" at
the end of a line for its rest. `fill` prints the page with what the commands print now below them, and
`output` only that.

The page says which program stands behind a name: "`./train` is the test program `idle/tiny`", and which
settings the simulated driver has: "with `SIMCUDA_DEVICES=2`"; a value may be a file of this folder. Needs
the variables of tests/lib/helpers.bash: B, WORKLOADS, CUDA_TRACE_UNDER_TEST, CUDA_TRACE_AGENT.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = re.compile(r"`(?:\./)?([a-z.-]+)`\s+is\s+the\s+test\s+program\s+`([a-z_./-]+)`")
SETTING = re.compile(r"with\s+`(SIMCUDA_[A-Z_]+)=([^`]+)`")
NUMBER = re.compile(r"(?<![A-Za-z_\d])(?:0x[0-9a-f]+|[0-9a-f]{16}\b|\d[\d,.:]*(?:e-?\d+)?)(?: ?(?:ns|us|ms|s|B|KiB|MiB|GiB|[kMG]?B/s)\b)?")
SECONDS = 120


def blocks(text):
    """The lines of each console block: (first line's number, [lines])."""
    found, inside = [], None
    for number, line in enumerate(text.split("\n"), 1):
        if inside is None and line.startswith("```console"):
            inside = (number + 1, [])
        elif inside is not None and line.startswith("```"):
            found.append(inside)
            inside = None
        elif inside is not None:
            inside[1].append(line)
    return found


def commands(text):
    """[command, line number, [lines that it prints]] of all blocks."""
    found = []
    for first, lines in blocks(text):
        for offset, line in enumerate(lines):
            if line.startswith("# "):
                found.append((line[2:], first + offset, []))
            elif not found:
                sys.exit(f"line {first + offset}: output before any command")
            else:
                found[-1][2].append(line)
    return found


def prepare(text, folder):
    programs = PROGRAM.findall(text)
    for name, workload in programs:
        source = os.path.join(os.environ["WORKLOADS"], workload)
        if workload.endswith((".py", ".sh")):
            source = os.path.join(TREE, "tests/workloads", workload)
        shutil.copy(source, os.path.join(folder, name))
    environment = {
        name: value for name, value in os.environ.items()
        if name not in ("CUDA_HOME", "CUDA_PATH", "CUDA_TRACE", "CUDA_INJECTION64_PATH")
    }
    tool = os.path.dirname(os.environ["CUDA_TRACE_UNDER_TEST"])
    environment["PATH"] = tool + ":" + environment["PATH"]
    environment["LD_LIBRARY_PATH"] = os.path.join(os.environ["B"], "simcuda")
    environment["COLUMNS"] = "100"
    environment["HOME"] = folder
    for name, value in SETTING.findall(text):
        file = os.path.join(TREE, "tests/guide", value)
        environment[name] = file if os.path.exists(file) else value
    return environment


def run(text):
    """[(status, [lines])] of the page's commands, which run one after the other in one shell."""
    listed = commands(text)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as outputs:
        environment = prepare(text, folder)
        script = []
        for number, (command, _, _) in enumerate(listed):
            script.append(f"{{ {command}\n}} >{outputs}/{number} 2>&1; echo $? >{outputs}/{number}.status")
        shell = subprocess.Popen(["bash", "-c", "\n".join(script)], cwd=folder, env=environment,
                                 stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            shell.wait(SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            shell.wait()
        results = []
        for number in range(len(listed)):
            path = f"{outputs}/{number}"
            printed = open(path, encoding="utf-8", errors="replace").read() if os.path.exists(path) else ""
            status = int(open(path + ".status").read()) if os.path.exists(path + ".status") else -1
            results.append((status, printed.replace(folder + "/", "").split("\n")))
        return results


def fixed(line):
    return re.sub(r"\s+", " ", NUMBER.sub("N", re.sub(r"\x1b\[[\d;]*m", "", line))).strip()


def agrees(expected, printed):
    """None, or the first expected line that does not fit."""
    expected = [line.rstrip() for line in expected]
    while expected and not expected[-1]:
        expected.pop()
    printed = [fixed(line) for line in printed]
    while printed and not printed[-1]:
        printed.pop()
    at, gap = 0, False
    for line in expected:
        if line == "...":
            gap = True
            continue
        if line.endswith("…"):
            wanted = fixed(line[:-1])
            fits = lambda text: text.startswith(wanted)
        else:
            wanted = fixed(line)
            fits = lambda text: text == wanted
        if gap:
            while at < len(printed) and not fits(printed[at]):
                at += 1
        if at >= len(printed) or not fits(printed[at]):
            return line
        at, gap = at + 1, False
    if at < len(printed) and not gap:
        return "[end of the output]"
    return None


def check(path, text):
    failed = 0
    for (command, number, expected), (status, printed) in zip(commands(text), run(text)):
        problem = agrees(expected, printed)
        if status in (-1, 2, 126, 127):
            problem = f"[exit status {status}]"
        if problem is not None:
            failed = 1
            print(f"{path}:{number}: {command}\nthe page has:    {problem}\nthe tool printed:\n" + "\n".join(printed))
    return failed


def fill(text):
    results = iter(run(text))
    inside = False
    for line in text.split("\n"):
        if line.startswith("```"):
            inside = line.startswith("```console")
            print(line)
        elif not inside:
            print(line)
        elif line.startswith("# "):
            print(line)
            print("\n".join(next(results)[1]).rstrip("\n"))


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("check", "fill", "output"):
        sys.exit(__doc__)
    text = open(sys.argv[2], encoding="utf-8").read()
    if sys.argv[1] == "check":
        if not commands(text):
            sys.exit(f"{sys.argv[2]}: no commands")
        sys.exit(check(sys.argv[2], text))
    if sys.argv[1] == "fill":
        fill(text)
    else:
        for (command, _, _), (status, printed) in zip(commands(text), run(text)):
            print(f"# {command}   [{status}]")
            print("\n".join(printed))


main()
