#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: messages.py list [KIND]
       messages.py check|update PAGE

Which messages of the tool docs/guide/troubleshooting.md must have, by kind:

doctor    findings of doctor that are problems or notes (findings__add())
remedy    lines on stderr that name a remedy, say what is missing because of them, or that something
          cannot be attached to (REMEDY below); not mistakes on the command line
attach    why the injection library cannot be loaded into a process (cuda-trace/inject)
counters  why there are no counters
inert     why the injection library does nothing in a process
lost      why records were lost

They come from the sources: literals are joined, and whatever is filled in becomes "…". `check` fails
with those that the page lacks. `update` writes the table of doctor's findings, between the page's
markers, anew.
"""
import glob
import os
import re
import sys
import textwrap

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(TREE, "cuda-trace")
REMEDY = re.compile(
    r"install|use sudo|needed|needs|older (?:injection )?library|leave|raise the|another output|ask for|request fewer|use that of|see cuda-trace doctor|no GPU data from"
    r"|\bCUDA_[A-Z_]+=|no GPU times|GPU times are|is missing|are missing|refused|cannot attach|cannot be seen|use -b"
    r"|after fixing|two libcupti|second copy|will not be traced|no metric is left|import |run it yourself|NVreg_")
MISTAKES = ("cli/", "commands/command_mistake.c")
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([A-Za-z_]\w*)')
COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.S)
BEGIN, END = "<!-- doctor's findings, written by tests/guide/messages.py -->", "<!-- end -->"


def sources(folder=""):
    for path in sorted(glob.glob(os.path.join(TOOL, folder, "**/*.c"), recursive=True)):
        text = open(path, encoding="utf-8").read()
        yield os.path.relpath(path, TOOL), COMMENT.sub(lambda m: m.group(1) or "", text)


def arguments(text, at):
    """The arguments of the call whose opening parenthesis is at `at`."""
    found, depth, begin, quoted = [], 0, at + 1, False
    while at < len(text):
        c = text[at]
        if quoted:
            at += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if not depth:
                return found + [text[begin:at].strip()]
        elif c == "," and depth == 1:
            found.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return found


def plain(text):
    """A format as the page quotes it."""
    text = text.replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\").replace("%%", "\0")
    text = re.sub(r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z)?[a-zA-Z]", "…", text)
    text = re.sub(r"…(?:…|\s(?=…))*", "…", text.replace("\0", "%"))
    return re.sub(r"\s+", " ", text).strip()


def literals(argument):
    """The texts that a C expression may be: one, or each branch of a conditional expression."""
    texts, current = [], ""
    conditional = "?" in re.sub(r'"(?:[^"\\]|\\.)*"', "", argument)
    end = 0
    for token in TOKEN.finditer(argument):
        between = argument[end:token.start()]
        if conditional and current and re.search(r"[?:]", between):
            texts.append(current)
            current = ""
        end = token.end()
        if token.group(1) is not None:
            current += token.group(1)
        elif not conditional:
            current += "d" if token.group(2).startswith("PRI") else "…"
    return [plain(text) for text in texts + [current] if re.search("[a-z]{3}", text)]


def calls(text, name):
    for match in re.finditer(r"\b" + name + r"\(", text):
        yield arguments(text, match.end() - 1)


def doctor():
    for path, text in sources("doctor"):
        for name, at in (("findings__add", 4), ("findings__add_facts", 5)):
            for found in calls(text, name):
                if len(found) > at and re.search("FINDING_(PROBLEM|NOTE)", found[1]):
                    for line in literals(found[at]):
                        remedies = literals(found[3])
                        yield found[2].strip('"'), line, remedies


def remedy():
    for path, text in sources():
        if path.startswith(MISTAKES):
            continue
        for found in calls(text, "fprintf"):
            if found[0] == "stderr":
                for line in literals(found[1]):
                    if REMEDY.search(line):
                        yield line


def attach():
    for _, text in sources("inject"):
        for name in ("refuse", "fail"):
            for found in calls(text, name):
                for line in literals(found[2]) if len(found) > 2 else []:
                    yield line
        for found in calls(text, "snprintf"):
            if "reason" in found[0]:
                for line in literals(found[2]):
                    yield line


def counters():
    text = dict(sources("profile/counters"))["profile/counters/counter_errors.c"]
    table = text[text.index("reasons[] = {"):]
    for row in re.findall(r"\{[A-Z_0-9]+,\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)\}", table[:table.index("};")]):
        yield from literals(row)


def inert():
    text = dict(sources("doctor"))["doctor/doctor_examine.c"]
    body = text[text.index("reason_text(uint32_t reason)"):]
    for line in re.findall(r"return (\"[^;]*\");", body[:body.index("\n}")]):
        yield from literals(line)


def lost():
    for path in ("libcupti-usdt/probes.h", "cuda-trace/capture/session.h", "cuda-trace/live/live.h"):
        text = open(os.path.join(TREE, path), encoding="utf-8").read().replace("\\\n", "")
        for key, line in re.findall(r'X\([A-Z_]+,\s*"([a-z_]+)",\s*((?:"[^"]*"\s*)+)\)', text):
            if re.search(r'"\s*' + key, text):
                yield f"({key}): {literals(line)[0]}"


KINDS = {"doctor": lambda: (line for _, line, _ in doctor()), "remedy": remedy, "attach": attach,
         "counters": counters, "inert": inert, "lost": lost}


def missing(page):
    text = re.sub(r"\s+", " ", open(page, encoding="utf-8").read().replace("\\|", "|"))
    for kind, messages in KINDS.items():
        for line in dict.fromkeys(messages()):
            if line not in text:
                yield kind, line


def table():
    rows = ["", BEGIN, ""]
    for key, line, remedies in sorted(set((k, l, tuple(r)) for k, l, r in doctor())):
        rows += [f"- **{key}**: {code(line)}"]
        if remedies:
            rows += ["  → " + " *or* ".join(code(one) for one in remedies)]
    rows += ["", END]
    return "\n".join(rows)


def wrapped(text):
    """Lines of at most 108 characters, indented where a list's item goes on."""
    lines = []
    for line in text.split("\n"):
        first = re.match(r"\s*(?:- )?", line).group()
        lines += textwrap.wrap(line, 108, initial_indent="", subsequent_indent=" " * len(first),
                               break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join(lines)


def code(text):
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def main():
    if len(sys.argv) >= 2 and sys.argv[1] == "list":
        for kind in sys.argv[2:] or KINDS:
            for line in dict.fromkeys(KINDS[kind]()):
                print(f"{kind}\t{line}")
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        lacks = list(missing(sys.argv[2]))
        for kind, line in lacks:
            print(f"{sys.argv[2]} lacks ({kind}): {line}")
        sys.exit(bool(lacks))
    elif len(sys.argv) == 3 and sys.argv[1] == "update":
        text = open(sys.argv[2], encoding="utf-8").read()
        before, rest = text.split(BEGIN, 1)
        after = rest.split(END, 1)[1]
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write(before.rstrip() + "\n" + wrapped(table()) + after)
    else:
        sys.exit(__doc__)


main()
