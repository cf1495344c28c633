#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""sparse_elf.py FILE section TYPE NAME BYTES: an ELF file with a section of so many bytes, which need no space.
sparse_elf.py FILE headers COUNT: one with so many section headers.
sparse_elf.py FILE symtab BYTES PROGRAM: a copy of a program, whose symbol table has so many bytes.
sparse_elf.py FILE dynsym BYTES LIBRARY: a copy of a library that works, whose section headers say the same of .dynsym."""
import os
import struct
import sys


def section_header(name, kind, offset, size, link=0, entry=0):
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, link, 0, 1, entry)


def elf_header(sections, names):
    head = b"\x7fELF\2\1\1" + b"\0" * 9
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 4096, 0, 64, 56, 1, 64, sections, names)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 4096, 4096, 4096)


def write_section(out, kind, name, size):
    names = b"\0" + name.encode() + b"\0.shstrtab\0"
    out.write(elf_header(3, 2))
    out.seek(2048)
    out.write(names)
    out.seek(4096)
    out.write(section_header(0, 0, 0, 0))
    out.write(section_header(1, kind, 8192, size, 2, 24 if kind in (2, 11) else 0))
    out.write(section_header(len(name) + 2, 3, 2048, len(names)))
    out.truncate(8192 + size)


def write_headers(out, count):
    out.write(elf_header(0, 1))
    out.seek(4096)
    out.write(section_header(0, 0, 0, count))
    out.truncate(4096 + 64 * count)


def write_symtab(out, size, program):
    data = bytearray(open(program, "rb").read())
    at, = struct.unpack_from("<Q", data, 40)
    count, = struct.unpack_from("<H", data, 60)
    end = (len(data) + 4095) & ~4095
    for i in range(count):
        if struct.unpack_from("<I", data, at + 64 * i + 4)[0] == 2:
            struct.pack_into("<QQ", data, at + 64 * i + 24, end, size)
    out.write(data)
    out.truncate(end + size)


def write_dynsym(out, size, library):
    data = bytearray(open(library, "rb").read())
    at, = struct.unpack_from("<Q", data, 40)
    count, = struct.unpack_from("<H", data, 60)
    for i in range(count):
        if struct.unpack_from("<I", data, at + 64 * i + 4)[0] == 11:
            struct.pack_into("<Q", data, at + 64 * i + 32, size)
    out.write(data)
    out.truncate(len(data) + size)


path, what = sys.argv[1:3]
with open(path, "wb") as file:
    if what == "section":
        write_section(file, int(sys.argv[3]), sys.argv[4], int(float(sys.argv[5])) // 24 * 24)
    elif what == "headers":
        write_headers(file, int(float(sys.argv[3])))
    elif what == "dynsym":
        write_dynsym(file, int(float(sys.argv[3])) // 24 * 24, sys.argv[4])
    else:
        write_symtab(file, int(float(sys.argv[3])) // 24 * 24, sys.argv[4])
os.chmod(path, 0o755)
