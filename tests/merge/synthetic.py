#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Recordings of a training run that never was, one for each rank: FOLDER/host-rank.db.

Each step of a rank computes (gemm), and all ranks meet in an all-reduce, below which another kernel (adam) runs for
60 us. Hosts have clocks of their own. The last line printed is JSON: what the merge is to find out.
"""
import argparse
import json
import os
import random
import sqlite3

SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, systemClockNs INTEGER);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL,
    nameEnum INTEGER NOT NULL, value TEXT NOT NULL);
CREATE TABLE CUDA_TRACE_PROCESSES (globalPid INTEGER NOT NULL, instance INTEGER NOT NULL, pid INTEGER NOT NULL,
    uid INTEGER NOT NULL, cgroup INTEGER NOT NULL, name TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER,
    state INTEGER, reason INTEGER, cuptiVersion INTEGER, driverVersion INTEGER, cuptiPath TEXT, holder TEXT,
    message TEXT, source TEXT, rank INTEGER, localRank INTEGER, worldSize INTEGER);
CREATE TABLE CUDA_TRACE_COMMUNICATORS (globalPid INTEGER NOT NULL, start INTEGER NOT NULL, communicator INTEGER NOT NULL,
    communicatorId INTEGER, parent INTEGER, parentId INTEGER, size INTEGER, rank INTEGER, found INTEGER NOT NULL);
CREATE TABLE CUDA_TRACE_COLLECTIVES (start INTEGER NOT NULL, globalTid INTEGER NOT NULL, operation INTEGER NOT NULL,
    communicator INTEGER NOT NULL, communicatorId INTEGER, size INTEGER, rank INTEGER, number INTEGER,
    elements INTEGER NOT NULL, dataType INTEGER NOT NULL, bytes INTEGER, reduction INTEGER, peer INTEGER,
    groupDepth INTEGER NOT NULL, stream INTEGER NOT NULL, correlationId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, globalTid INTEGER, text TEXT,
    textId INTEGER);
"""

NAMES = {1: "gemm", 2: "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 3: "adam"}
UTC = 1_790_000_000_000_000_000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--per-host", type=int, default=2, help="ranks")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--late", type=int, default=-1, help="this rank is late")
    parser.add_argument("--late-us", type=float, default=3000)
    parser.add_argument("--offset-s", type=float, default=10, help="of host n, n times")
    parser.add_argument("--drift-ppm", type=float, default=50, help="of odd hosts; of even ones, but the first, less")
    parser.add_argument("--noise-us", type=float, default=3, help="by which ends are apart")
    parser.add_argument("--slow", type=int, default=-1, help="the GPU of this rank computes 30 %% longer")
    parser.add_argument("--missing", type=int, action="append", default=[], help="no recording of this rank")
    parser.add_argument("--clock-step", type=float, default=0, help="ms by which the last host's clock jumps in the middle")
    parser.add_argument("--run", type=int, default=1, help="number of the communicator")
    parser.add_argument("--restart", action="store_true", help="all ranks start again in the middle")
    parser.add_argument("--shift", type=int, default=-1, help="this rank's numbers are one too large, from the middle on")
    parser.add_argument("--found", action="store_true", help="the communicator was made before: each rank is recorded from a "
                        "step of its own on, and numbers what follows from 0")
    parser.add_argument("--extra", type=int, default=0, help="so many all-reduces follow that of a step, 100 us each")
    parser.add_argument("--found-rank", type=int, default=-1, help="the same of this rank alone")
    parser.add_argument("--wall-ms", type=float, default=3, help="by which the wall clock of each host is ahead of the one before")
    parser.add_argument("--regular", action="store_true", help="each step takes the same time")
    parser.add_argument("--replayed", action="store_true", help="each step is the replay of one CUDA graph")
    parser.add_argument("--uneven", action="store_true", help="some steps are late on any rank, and ends have outliers")
    return parser.parse_args()


class Clock:
    """Of a host: true time, in ns, to its CLOCK_BOOTTIME."""

    def __init__(self, options, host):
        drift = options.drift_ppm * 1e-6 * (0 if host == 0 else 1 if host % 2 else -0.5)
        self.rate, self.offset = 1 + drift, host * options.offset_s * 1e9 + 5e12
        self.jump = options.clock_step * 1e6 if host == options.hosts - 1 and host else 0
        self.middle = options.steps * 6e6 / 2

    def __call__(self, true):
        return round(true * self.rate + self.offset + (self.jump if true > self.middle else 0))


def simulate(options, random_):
    """Of each step: when each rank began to compute, arrived, and its end."""
    size, rows, free = options.hosts * options.per_host, [], 0.0
    for step in range(options.steps):
        begins = [free + random_.uniform(0, 20e3) for _ in range(size)]
        lengths = [5e6 * (1.3 if rank == options.slow else 1) for rank in range(size)]
        arrivals = [begin + length + random_.uniform(0, 100e3) for begin, length in zip(begins, lengths)]
        if options.late >= 0:
            arrivals[options.late] += options.late_us * 1e3
        if options.uneven and step % 5 == 0:
            arrivals[random_.randrange(size)] += random_.uniform(0, 4e6)
        done = (step + 1) * 12e6 if options.regular else max(arrivals) + 100e3
        ends = [done + abs(random_.gauss(0, options.noise_us * 1e3)) for _ in range(size)]
        if options.uneven and step % 7 == 0:
            ends[random_.randrange(size)] += random_.uniform(0, 300e3)
        rows.append((begins, lengths, arrivals, ends))
        free = max(ends) + 50e3 + options.extra * 100e3
    return rows


def first_step(options, rank):
    """From which on the rank is recorded."""
    return (rank * 7 + 3) % 20 if options.found or rank == options.found_rank else 0


def write(options, rank, rows, pid, comm):
    host, size = rank // options.per_host, options.hosts * options.per_host
    clock = Clock(options, host)
    epoch = clock(rows[0][0][rank] - 1e6)
    suffix = f"-{pid}" if options.restart else ""
    path = os.path.join(options.folder, f"host{host}-{rank:03}{suffix}.db")
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + SCHEMA)
    key = 1 << 48 | pid << 24

    def put(table, values):
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(values[0]))})", values)

    put("StringIds", [(0, "")] + list(NAMES.items()))
    put("META_DATA_EXPORT", [("EXPORT_PRODUCT_NAME", "cuda-trace"), ("EXPORT_SCHEMA_VERSION", "3.25.0")])
    # The wall clocks agree to a few milliseconds; each host booted at its own time.
    put("TARGET_INFO_SESSION_START_TIME", [(UTC + round(rows[0][0][rank]) + round(host * options.wall_ms * 1e6), "", "", epoch)])
    put("TARGET_INFO_SYSTEM_ENV", [(1 << 48, "Hostname", "Hostname", 0, f"host{host}")])
    put("PROCESSES", [(key, pid, "train")])
    put("CUDA_TRACE_PROCESSES", [(key, 1, pid, 0, 0, "train", 0, None, 3, 0, 0, 0, None, None, None, "cupti", rank,
                                  rank % options.per_host, size)])
    put("CUDA_TRACE_COMMUNICATORS", [(key, 0, 0x7000, comm, None, None, size, rank,
                                      options.found or rank == options.found_rank)])
    kernels, calls, ranges = [], [], []
    first = first_step(options, rank)
    for step, (begins, lengths, arrivals, ends) in enumerate(rows):
        if step < first:
            continue
        begin, length, arrival, end = begins[rank], lengths[rank], arrivals[rank], ends[rank]
        number = (step - first) * (1 + options.extra) + (1 if rank == options.shift and step >= len(rows) // 2 else 0)
        id_ = (3 + options.extra) * step + 1

        def at(true):
            return clock(true) - epoch

        kernels.append((at(begin), at(begin + length), rank % options.per_host, 1, 7, id_, key, 1, 1, None))
        kernels.append((at(arrival), at(end), rank % options.per_host, 1, 8, id_ + 1, key, 2, 2, None))
        kernels.append((at(arrival), at(arrival + 60e3), rank % options.per_host, 1, 7, id_ + 2, key, 3, 3, None))
        for extra in range(options.extra):
            behind = end + 40e3 + extra * 100e3
            kernels.append((at(behind), at(behind + 60e3), rank % options.per_host, 1, 8, id_ + 3 + extra, key, 2, 2, None))
            calls.append((at(behind - 30e3), key | 77, 1, 0x7000, comm, size, rank, number + 1 + extra, 262144, 7, 1048576, 0, 0, 0,
                          8, id_ + 3 + extra))
        ranges.append((at(begin), at(end), 59, key | 77, f"ProfilerStep#{step}", None))
        calls.append((at(arrival - 30e3), key | 77, 1, 0x7000, comm, size, rank, number, 262144, 7, 1048576, 0, 0, 0,
                      8, id_ + 1))
    if options.replayed:
        # One launch for all kernels of a step; the call was captured before the first of them.
        kernels = [row[:5] + ((row[5] - 1) // 3 * 3 + 1,) + row[6:9] + (row[8] + 4,) for row in kernels]
        calls = [calls[0][:7] + (0,) + calls[0][8:15] + (None, 2)] + \
                [row[:7] + (row[7] + 1 - (1 << 63),) + row[8:15] + (row[15] - 1, 6) for row in calls]
        db.execute("ALTER TABLE CUDA_TRACE_COLLECTIVES ADD COLUMN graphNodeId INTEGER")
    put("CUPTI_ACTIVITY_KIND_KERNEL", kernels)
    put("CUDA_TRACE_COLLECTIVES", calls)
    put("NVTX_EVENTS", ranges)
    db.commit()
    db.close()


def truth(options, rows):
    size = options.hosts * options.per_host
    late, last, exposed = [0.0] * size, [0] * size, [0.0] * size
    skew = 0.0
    firsts = [first_step(options, rank) for rank in range(size)]
    for step, (_, _, arrivals, ends) in enumerate(rows):
        for rank in range(size):
            exposed[rank] += ends[rank] - arrivals[rank] - 60e3 if step >= firsts[rank] else 0
        if step < max(firsts):
            continue
        order = sorted(range(size), key=lambda rank: arrivals[rank])
        worst = order[-1]
        others = [arrivals[rank] for rank in order[:-1]]
        last[worst] += 1
        late[worst] += arrivals[worst] - sum(others) / len(others) if others else 0
        skew += arrivals[worst] - arrivals[order[0]]
    return {"ranks": [{"rank": rank, "last": last[rank], "late_ns": late[rank] / last[rank] if last[rank] else None,
                       "exposed_ns": exposed[rank], "offset_s": rank // options.per_host * options.offset_s}
                      for rank in range(size)],
            "skew_ns": skew / (len(rows) - max(firsts)), "collectives": len(rows) - max(firsts)}


def main():
    options = arguments()
    os.makedirs(options.folder, exist_ok=True)
    rows = simulate(options, random.Random(options.run))
    half = len(rows) // 2
    for rank in range(options.hosts * options.per_host):
        if rank in options.missing:
            continue
        if options.restart:
            write(options, rank, rows[:half], 1000 + rank, 0x1000 + options.run)
            write(options, rank, rows[half:], 5000 + rank, 0x2000 + options.run)
        else:
            write(options, rank, rows, 1000 + rank + options.run * 10000, 0x1000 + options.run)
    print(json.dumps(truth(options, rows)))


main()
