#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""read_pprof.py FILE: the stacks of a profile that protoc has decoded to text, outermost function first, with their
values, as pprof compares them: by function, without labels."""
import collections
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()


def blocks(name):
    return re.findall(r"^%s \{\n(.*?)^\}" % name, text, re.M | re.S)


def numbers(block, key, indent=2):
    return [int(n) for n in re.findall(r"^ {%d}%s: (-?\d+)$" % (indent, key), block, re.M)]


strings = re.findall(r'^string_table: "(.*)"$', text, re.M)
functions = {numbers(b, "id")[0]: strings[numbers(b, "name")[0]] for b in blocks("function")}
# Functions that were inlined at a location come before the one that they are in.
locations = {numbers(b, "id")[0]: ";".join(functions[f] for f in reversed(numbers(b, "function_id", 4)))
             for b in blocks("location")}
sums = collections.defaultdict(lambda: [0, 0])
for sample in blocks("sample"):
    stack = ";".join(locations[i] for i in reversed(numbers(sample, "location_id")))
    for i, value in enumerate(numbers(sample, "value")):
        sums[stack][i] += value
for stack, values in sorted(sums.items()):
    print(stack, *values)
