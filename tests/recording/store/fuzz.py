# SPDX-License-Identifier: BSD-2-Clause
"""fuzz.py TOOL FEEDER VARIANTS TAP [FIRST]: reports of damaged recordings, spools and compressed
ones, each damaged anew, with a TOOL that was built with sanitizers. A run passes with rows and
status 0, or with an error message and status 1. `make check-fuzz` runs it; a variant that failed stays, with its number, and
VARIANTS=1 FIRST=its number runs it again."""
import os
import shutil
import subprocess
import sys
import tempfile
from damage import damage, extreme

SECONDS = 60
COMMANDS = (
    ("--all", "--json"),
    (),
    ("--csv", "--idle", "--memory", "--sync"),
    ("--html", "o.html"),
    ("--timeline", "o.json", "--folded", "o.folded"),
    ("--pprof", "o.pb.gz", "--flamegraph", "o.svg"),
    ("--compare",),
    ("--all",),
    ("--sql", "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL"),
)


def feed(feeder, name, *options):
    """What the feeder left under `name`, or as its spool."""
    subprocess.run([feeder, *options, name], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    path = name if os.path.exists(name) else name + ".part"
    with open(path, "rb") as file:
        return file.read()


def trouble(arguments, env):
    """What is wrong with how the tool ended; None if nothing is."""
    try:
        ended = subprocess.run(arguments, capture_output=True, env=env, timeout=SECONDS,
                               check=False)
    except subprocess.TimeoutExpired:
        return f"still running after {SECONDS} s"
    said = ended.stderr.decode("utf-8", "replace")
    if ended.returncode not in (0, 1):
        return f"status {ended.returncode}\n{said}"
    if "Sanitizer" in said or "runtime error" in said:
        return said
    if ended.returncode == 1 and not said:
        return "status 1 without a word"
    return None


def run(tool, feeder, count, first):
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:exitcode=99", TMPDIR=os.getcwd(),
               UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1:exitcode=98")
    bases = {
        "plain.db": feed(feeder, "plain.db", "-n", "300", "-p", "2"),
        "hostile.db": feed(feeder, "hostile.db", "-n", "150", "-k", "12", "-x", "hostile"),
        "packed.db": feed(feeder, "packed.db", "-n", "300", "-x", "compress"),
        "extreme.db": feed(feeder, "extreme.db", "-n", "300", "-p", "2"),
        "left.db": feed(feeder, "left.db", "-n", "2000", "-x", "kill"),
    }
    failed = 0
    for variant in range(first, first + count):
        name = list(bases)[variant % len(bases)]
        command = COMMANDS[variant // len(bases) % len(COMMANDS)]
        target = "bad.db.part" if name == "left.db" else "bad.db"
        for old in ("bad.db", "bad.db.part", "bad.db.unfinished"):
            if os.path.exists(old):
                os.unlink(old)
        data = bases[name] if name == "extreme.db" else damage(variant, bases[name])
        with open(target, "wb") as file:
            file.write(data)
        if name == "extreme.db":
            extreme(variant, target)
            with open(target, "rb") as file:
                data = file.read()
        files = ["plain.db", "bad.db"] if command == ("--compare",) else ["bad.db"]
        wrong = trouble([tool, "report", *command, *files], env)
        if wrong:
            failed += 1
            with open(f"{os.environ.get('KEEP', '.')}/variant-{variant}.{name}", "wb") as file:
                file.write(data)
            print(f"# variant {variant}: report {' '.join(command)}: {wrong}"[:4000])
    return failed


def main():
    tool, feeder = (os.path.abspath(path) for path in sys.argv[1:3])
    count, tap = int(sys.argv[3]), sys.argv[4]
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    os.environ["KEEP"] = os.path.dirname(os.path.abspath(tap))
    with open(tap, "w", encoding="utf-8") as out:
        folder = tempfile.mkdtemp(prefix="cuda-trace-fuzz.")
        os.chdir(folder)
        failed = run(tool, feeder, count, first)
        os.chdir("/")
        shutil.rmtree(folder)
        line = f"{'not ' if failed else ''}ok 1 report ({count} damaged files) gives rows or an error"
        print(f"1..1\n{line}", file=out)
        print(f"1..1\n{line}")
    sys.exit(failed != 0)


main()
