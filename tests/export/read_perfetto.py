# SPDX-License-Identifier: BSD-2-Clause
"""read_perfetto.py FILE: reads a trace of Perfetto's as its documentation describes it (protos/perfetto/trace), by field
numbers of its own, and prints what is in it as JSON. Fails where Perfetto's trace processor would drop something:
names that are used before they are interned, slices of one track that overlap without lying in each other."""
import collections
import json
import struct
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def message(data):
    """Its fields: number -> values."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "cut short"
        else:
            raise AssertionError(f"wire type {kind}")
        fields[tag >> 3].append(value)
    return fields


def text(fields, number):
    return fields[number][0].decode() if fields[number] else None


def size(data):
    fields = message(data)
    return [fields[i][0] for i in (1, 2, 3)]


def main(path):
    interned = {number: {} for number in (1, 2, 23, 24, 1000, 1001)}
    tracks, gpu, events, counters, lost = {}, [], [], collections.Counter(), []
    for packet in message(open(path, "rb").read())[1]:
        packet = message(packet)
        assert packet[10] == [1] and packet[13][0] & 2, "no sequence"
        time = packet[8][0]
        for data in packet[12]:
            data = message(data)
            for number, known in interned.items():
                for entry in data[number]:
                    entry = message(entry)
                    known[entry[1][0]] = entry
        for track in packet[60]:
            track = message(track)
            tracks[track[1][0]] = track
        for event in packet[53]:
            event = message(event)
            kernel = interned[1000][event[19][0]] if event[19] else None
            launch = message(event[21][0]) if event[21] else None
            gpu.append({
                "id": event[1][0], "start": time, "end": time + event[2][0], "gpu": event[11][0],
                "pid": interned[23][event[5][0]][2][0], "queue": event[13][0],
                "stream": text(interned[24][event[13][0]], 2), "stage": text(interned[24][event[14][0]], 2),
                "name": text(interned[2][event[20][0]], 2) if event[20] else text(event, 17),
                "kernel": kernel and text(kernel, 3),
                "grid": launch and size(launch[1][0]), "block": launch and size(launch[2][0]),
                "arguments": launch and {text(interned[1001][message(a)[1][0]], 2): message(a)[4][0]
                                         for a in launch[3]},
                "extra": {text(message(e), 1): text(message(e), 2) for e in event[6]},
            })
        for event in packet[11]:
            event = message(event)
            track = tracks[event[11][0]]
            if event[9] == [4]:
                counters[text(track, 2)] += 1
            elif event[9] == [3]:
                lost.append(text(event, 23))
            else:
                events.append((time, event, track))

    # As trace processor does: sorted by time, what comes first in the file first.
    open_slices, slices = collections.defaultdict(list), []
    for time, event, track in sorted(events, key=lambda e: e[0]):
        stack = open_slices[track[1][0]]
        if event[9] == [2]:
            begun = stack.pop()
            begun["end"] = time
            continue
        parent = track if track[4] else tracks[track[5][0]]
        thread = message(parent[4][0]) if parent[4] else None
        stack.append({
            "start": time, "depth": len(stack), "track": text(track, 2),
            "tid": thread and thread[2][0], "pid": thread[1][0] if thread else message(parent[3][0])[1][0],
            "name": text(interned[2][event[10][0]], 2) if event[10] else text(event, 23),
            "category": text(interned[1][event[3][0]], 2),
            "stack": [text(message(f), 1) for f in message(event[55][0])[1]] if event[55] else [],
            "result": message(event[4][0])[4][0] if event[4] and message(event[4][0])[4] else 0,
            "notes": {text(message(n), 10): text(message(n), 6) for n in event[4] if message(n)[6]},
            "submitted": message(event[3000][0])[1] if event[3000] else [],
        })
        slices.append(stack[-1])
    assert not any(open_slices.values()), "slices without an end"
    free = collections.defaultdict(int)
    for work in sorted(gpu, key=lambda w: w["start"]):
        assert free[work["queue"]] <= work["start"], f"work of one queue overlaps: {work}"
        free[work["queue"]] = work["end"]
    json.dump({"gpu": gpu, "host": slices, "counters": counters, "lost": lost,
               "processes": [text(message(t[3][0]), 6) for t in tracks.values() if t[3]]}, sys.stdout)


main(sys.argv[1])
