#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# usage: crowded.py COUNT: an ELF file on stdout with a line table of COUNT functions, and as many
# relocations in the wrong order, of which none is the one that is looked for.
import struct
import sys

count = int(sys.argv[1])
names = b"\0.debug_line\0.rela.debug_line\0.symtab\0.strtab\0" + b"f" * 4000 + b"\0"
header = struct.pack("<BBbBB", 1, 1, -5, 14, 10) + bytes(9) + b"\0" + b"a.cu\0\0\0\0\0"
program = (b"\0\x09\x02" + bytes(8) + b"\x01") * count
unit = struct.pack("<HI", 2, len(header)) + header + program
line = struct.pack("<I", len(unit)) + unit
relocations = b"".join(struct.pack("<QQq", 1 << 40 | i, 1 << 32, 0) for i in range(count, 0, -1))
symbols = bytes(24) * 2
parts = [b"", line, relocations, symbols, names]
kinds = [(0, 0, 0), (1, 1, 0), (13, 4, 0), (29, 2, 4), (37, 3, 0)]
at, body, table = 64, b"", b""
for part, (name, kind, link) in zip(parts, kinds):
    table += struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at if part else 0, len(part), link, 0, 1, 0)
    body += part
    at += len(part)
elf = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, at, 0, 64, 0, 0, 64, 5, 4)
sys.stdout.buffer.write(elf + body + table)
