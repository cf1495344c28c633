#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare-ncu.py OURS.jsonl NCU.csv: the same metrics of the same kernels, side by side.

Both count runs of their own, so clocks and caches differ a little: times, occupancy and rates may be
5 % apart, bytes 3 %, counts of instructions 0.1 %, 1 % where the clock ends a kernel. Small figures may be so far apart as is noise. DRAM
writes were up to 23 MB apart on an H200, as if the L2 cache held them back on one side: they are marked,
and not compared below 32 MiB. Registers ncu reports as the kernel has them, or as they are allotted, by eights.
"""
import csv
import json
import sys

LIMITS = [("inst_executed", 0.1), ("bytes_per_sector", 0.1), ("dram__bytes_", 3)]
NOISE = 8 << 20  # bytes of DRAM that come and go without the kernel
DIRTY = 32 << 20  # and of those written, which a cache may hold back
SMALL = 0.5  # of a figure in percent


def is_noise(metric, ours, theirs):
    apart = abs(ours - theirs)
    if "dram__bytes_write" in metric:
        return apart < DIRTY
    if "dram__bytes_" in metric:
        return apart < NOISE
    return apart <= SMALL and not metric.endswith(".sum")


def allotted(registers):
    return max(16, (registers + 7) // 8 * 8)


def limit_of(metric, kernel):
    # As many as the clock lets it: 0.11 % apart once.
    if "inst_executed" in metric and kernel.startswith("spin"):
        return 1
    return next((limit for part, limit in LIMITS if part in metric), 5)


def number(text):
    return float(text.replace(",", ""))


def ncu_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        lines = [line for line in file if line.startswith('"')]
    rows = csv.DictReader(lines)
    return [row for row in rows if row["ID"]]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        ours = [json.loads(line) for line in file]
    ours = [line for line in ours if line["event"] == "counters"]
    theirs = ncu_rows(sys.argv[2])
    apart = compared = 0
    worst = 0.0
    if len(ours) != len(theirs):
        print(f"{len(ours)} kernels here, {len(theirs)} of ncu")
        return 1
    print(f"{'KERNEL':16} {'METRIC':70} {'CUDA-TRACE':>16} {'NCU':>16} {'APART':>8}")
    for kernel, row in zip(ours, theirs):
        if int(number(row["launch__registers_per_thread"])) not in (kernel["registers"], allotted(kernel["registers"])):
            print(f"{kernel['kernel']}: {kernel['registers']} registers, ncu: "
                  f"{row['launch__registers_per_thread']}")
            apart += 1
        for metric, value in kernel["metrics"].items():
            other, value = number(row[metric]), value["value"]
            difference = abs(value - other) / other * 100 if other else abs(value)
            small = is_noise(metric, value, other)
            compared += 1
            mark = ""
            if difference > limit_of(metric, kernel["kernel"]) and not small:
                apart += 1
                mark = "  APART"
            elif small:
                mark = "  noise" if difference > limit_of(metric, kernel["kernel"]) else ""
            else:
                worst = max(worst, difference)
            print(f"{kernel['kernel']:16} {metric:70} {value:16.6g} {other:16.6g} "
                  f"{difference:8.2f} %{mark}")
    print(f"{compared} figures of {len(ours)} kernels, {apart} apart, else at most {worst:.2f} %")
    return 1 if apart or not compared else 0


sys.exit(main())
