# SPDX-License-Identifier: BSD-2-Clause
"""Writes a struct cuda_request (counter_request.h) into a process's agent, as others than cuda-trace might.

ask.py PID KIND: good, or one of those that make no sense. Prints the number of the request and the one that
the agent has taken of them, soon after.
"""
import random
import struct
import sys
import time

MAGIC = 0x7473657571657263
HEAD = "<QQIIIIQQQQ"
CAPACITY = 34816


def checksum(skip, limit, text, flags=0):
    value = 0xCBF29CE484222325
    for byte in struct.pack("<QQ", skip, limit) + text + (struct.pack("<I", flags) if flags else b""):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def find(pid, memory):
    for line in open(f"/proc/{pid}/maps"):
        fields = line.split()
        if len(fields) < 6 or fields[1] != "rw-p" or ".so" not in fields[5]:
            continue
        start, end = (int(text, 16) for text in fields[0].split("-"))
        memory.seek(start)
        at = memory.read(end - start).find(struct.pack("<Q", MAGIC))
        if at >= 0:
            return start + at
    sys.exit("no agent that takes requests")


TEXTS = {
    "good": b"gpu__time_duration.sum\0\0",
    "no end": b"gpu__time_duration.sum",
    "one text": b"gpu__time_duration.sum\0",
    "three texts": b"gpu__time_duration.sum\0\0\0",
    "no metric": b"\0empty\0",
    "control": b"gpu__time\x1b[2J_duration.sum\0\0",
    "space": b"gpu__time duration.sum\0\0",
    "not ASCII": b"gpu__time\xff\0\0",
}


def answer(memory, place, number):
    """What the agent has taken. It looks several times a second, where the machine has time for it."""
    end = time.monotonic() + 20
    while True:
        time.sleep(0.5)
        memory.seek(place + 20)
        taken = struct.unpack("<I", memory.read(4))[0]
        if taken == number or time.monotonic() > end:
            return taken


def main():
    pid, kind = sys.argv[1:]
    memory = open(f"/proc/{pid}/mem", "r+b", buffering=0)
    place = find(pid, memory)
    memory.seek(place)
    magic, instance, size, taken, number, *_ = struct.unpack(HEAD, memory.read(struct.calcsize(HEAD)))
    text = TEXTS.get(kind, TEXTS["good"])
    length, flags = len(text), {"flags": 2, "graphs": 1, "flags without sum": 1}.get(kind, 0)
    total = checksum(0, 0, text, flags if kind != "flags without sum" else 0)
    if kind == "noise":
        text = random.Random(1).randbytes(CAPACITY)
        length, total = CAPACITY, checksum(0, 0, text)
    elif kind == "long":
        length = 2**32 - 1
    elif kind == "too long":
        length = CAPACITY + 1
    elif kind == "short":
        length = 1
    elif kind == "nothing":
        length = 0
    elif kind == "cut":
        text = text[:10]
    elif kind == "sum":
        total ^= 1
    number = max(number, taken) + 1
    memory.seek(place + 28)
    memory.write(struct.pack("<IQQQQ", length, 0, 0, 0, total) + text.ljust(CAPACITY, b"\0") + struct.pack("<I", flags))
    memory.seek(place + 24)
    memory.write(struct.pack("<I", number))
    print(number, answer(memory, place, number))


main()
