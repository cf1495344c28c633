#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_hta.py TIMELINE [RANGE]: what Holistic Trace Analysis itself says of a timeline.

$HTA is the folder of its source. Runs each of its analyses of one rank and prints a line for each, with the numbers
that can be compared with those of a recording. Ends with status 1 if one of them fails.
"""
import logging
import os
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"  # kernels of the simulated driver take less than a microsecond
sys.path.insert(0, os.environ["HTA"])
from hta.trace_analysis import TraceAnalysis  # noqa: E402

path, annotation = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
folder = tempfile.mkdtemp()
trace = TraceAnalysis(trace_files={0: path}, trace_dir=folder)
failed = []


def us(value):
    return f"{float(value):.3f}"


def launches():
    rows = trace.get_cuda_kernel_launch_stats(visualize=False)[0]
    return f"{len(rows)} cpu {us(rows.cpu_duration.sum())} gpu {us(rows.gpu_duration.sum())} " \
        f"delay {us(rows.launch_delay.sum())}"


def temporal():
    row = trace.get_temporal_breakdown(visualize=False).iloc[0]
    return f"{us(row['kernel_time(us)'])} idle {us(row['idle_time(us)'])}"


def kernels():
    rows = trace.get_gpu_kernel_breakdown(visualize=False)[1]
    return f"{len(rows)} {us(rows['sum (us)'].sum())}"


def annotations():
    rows = trace.get_gpu_user_annotation_breakdown(visualize=False)
    return " ".join(sorted(rows.name)) if rows is not None else "none"


def critical_path():
    _, success = trace.critical_path_analysis(rank=0, annotation=annotation, instance_id=0)
    return str(success).lower()


def sequences():
    if not annotation:
        return "none"
    rows = trace.get_frequent_cuda_kernel_sequences(operator_name=annotation, output_dir=folder, visualize=False)
    return str(len(rows) > 0).lower()


for name, analysis in {
        "temporal": temporal,
        "kernels": kernels,
        "annotations": annotations,
        "launches": launches,
        "idle": lambda: len(trace.get_idle_time_breakdown(ranks=[0], visualize=False)[0]) > 0,
        "overlap": lambda: len(trace.get_comm_comp_overlap(visualize=False)) == 1,
        "queue": lambda: sum(len(rows) for rows in trace.get_queue_length_time_series().values()),
        "bandwidth": lambda: sum(len(rows) for rows in trace.get_memory_bw_time_series().values()),
        "sequences": sequences,
        "critical_path": critical_path}.items():
    try:
        print(name, analysis())
    except Exception as error:  # pylint: disable=broad-except
        print(name, "FAILS", repr(error))
        failed.append(name)
sys.exit(bool(failed))
