#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""damage.py FILE hdr|zero|SEED: damages the unwind tables of an ELF file: the number of functions, all of
.eh_frame, or bytes of it at random. The loader needs neither."""
import random
import struct
import sys

path, how = sys.argv[1:3]
with open(path, "rb") as file:
    data = bytearray(file.read())
offset, = struct.unpack_from("<Q", data, 32)
count, = struct.unpack_from("<H", data, 56)
for i in range(count):
    kind, _, start, _, _, size = struct.unpack_from("<IIQQQQ", data, offset + 56 * i)
    if kind == 0x6474E550:
        header, bytes_ = start, size
tables = header + (bytes_ + 7) // 8 * 8
if how == "hdr":
    struct.pack_into("<I", data, header + 8, 0xFFFFFFFF)
elif how == "zero":
    data[tables:tables + 160] = bytes(160)
else:
    random.seed(int(how))
    for _ in range(40):
        data[tables + random.randrange(160)] = random.randrange(256)
with open(path, "wb") as file:
    file.write(data)
