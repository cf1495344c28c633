#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""seeds.py BUILD FOLDER: a folder of inputs for each target: what was built, and what is written here."""
import os
import struct
import subprocess
import sys

build, folder = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


def put(target, name, data):
    path = os.path.join(folder, target)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def read(path):
    with open(path, "rb") as file:
        return file.read()


def section_header(name, kind, offset, size, link=0, entry=0, address=0):
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, address, offset, size, link, 0, 4, entry)


def elf(sections, machine=62, kind=3):
    """A small file: sections are (name, type, data, link, entry size); their addresses are their offsets."""
    names = b"\0"
    at = {}
    for name, *_ in sections + [(".shstrtab",)]:
        at[name] = len(names)
        names += name.encode() + b"\0"
    body, headers = b"", section_header(0, 0, 0, 0)
    begin = 64 + 56
    for name, type_, data, link, entry in sections + [(".shstrtab", 3, names, 0, 0)]:
        offset = begin + len(body)
        headers += section_header(at[name], type_, offset, len(data), link, entry, offset)
        body += data + b"\0" * (-len(data) % 8)
    head = b"\x7fELF\2\1\1" + b"\0" * 9
    head += struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 64, begin + len(body), 0, 64, 56, 1, 64,
                        len(sections) + 2, len(sections) + 1)
    whole = begin + len(body) + len(headers)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, whole, whole, 4096) + body + headers


def note(provider, name, arguments):
    data = struct.pack("<QQQ", 120, 0, 128) + b"".join(x.encode() + b"\0" for x in (provider, name, arguments))
    return struct.pack("<III", 8, len(data), 3) + b"stapsdt\0" + data + b"\0" * (-len(data) % 4)


def symbols(names, code):
    table, strings = b"\0" * 24, b"\0"
    for i, name in enumerate(names):
        table += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1, 120 + 64 * i, len(code))
        strings += name.encode() + b"\0"
    return table, strings


FAILING = bytes.fromhex("e8000000004189c485c074103d58020000"
                        "74094489e0c3 0f1f00 4489e0c3".replace(" ", ""))
FUNCTIONS = ["cuLaunchKernel", "cuLaunchKernel_ptsz", "cuMemcpyHtoD_v2", "cuMemAlloc_v9", "cuStreamSynchronize", "main",
             "ncclAllReduce", "cuptiSubscribe"]
table, strings = symbols(FUNCTIONS, FAILING)
code = (FAILING + b"\x90" * 64)[:64] * len(FUNCTIONS)
notes = note("cuda", "launch_batch", "8@%rdi 4@%esi") + note("cuda", "hello_1", "") + note("other", "x", "8@%rax")
put("probes", "small", elf([(".note.stapsdt", 7, notes, 0, 0), (".stapsdt.base", 1, b"\0", 0, 0)]))
small = elf([(".text", 1, code, 0, 0), (".dynsym", 11, table, 3, 24), (".dynstr", 3, strings, 0, 0)])
for target in "driver", "symbols", "libcupti", "nccl", "cupti_functions":
    put(target, "small", small)
put("debug_lines", "library", read(os.path.join(build, "workloads/libframeless.so")))
put("unwind", "library", read(os.path.join(build, "workloads/libframeless.so")))
put("probes", "agent", read(os.path.join(build, "libcupti-usdt.so"))[:262144])
put("cupti_functions", "simulated", read(os.path.join(build, "simcuda", "libcupti.so.13"))[:262144])
put("remote_elf", "library", read(os.path.join(build, "workloads/libframeless.so")))
put("driver", "simulated", read(os.path.join(build, "simcuda", "libcuda.so.1")))

cache = b"glibc-ld.so.cache1.1" + struct.pack("<7I", 2, 64, 0, 0, 0, 0, 0)
text = 48 + 2 * 24
cache += struct.pack("<iIIIQ", 0x303, text, text + 16, 0, 0) * 2 + b"libcuda.so.1\0\0\0\0/usr/lib/libcuda.so.1\0"
put("ldcache", "new", cache)
put("ldcache", "old", b"ld.so-1.7.0\0" + struct.pack("<I", 0) + cache)

source = os.path.join(TOP, "tests", "profile", "inlined.s")
image = os.path.join(folder, "image.o")
os.makedirs(folder, exist_ok=True)
subprocess.run([os.environ.get("CC", "cc"), "-c", "-o", image, source], check=True)
put("lines", "inlined", read(image))
# A line advanced by 2^63 - 1, in place of one advanced by -7.
far = read(image)
advance = far.index(b"\x03\x79\x01")
put("lines", "far", far[:advance] + b"\x03" + b"\xff" * 9 + b"\0" + far[advance + 11:])
put("cubin", "inlined", read(image))
for version in "2", "4", "5":
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O2", "-gdwarf-" + version, "-o", image,
                    os.path.join(TOP, "tests", "symbols", "inlined", "library.c")], check=True)
    put("debug_inlines", "dwarf" + version, read(image))
subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", image,
                os.path.join(TOP, "tests", "symbols", "inlined", "hostile.s")], check=True)
put("debug_inlines", "hostile", read(image))
put("cubin", "small", elf([(".text.outer", 1, bytes(64), 0, 0), (".symtab", 2, symbols(["outer"], b"x")[0], 3, 24),
                           (".strtab", 3, symbols(["outer"], b"x")[1], 0, 0)], machine=190, kind=2))
entry = struct.pack("<HHIQQIIIQ", 2, 0x101, 64, 64, 0, 0, 0, 90, 0).ljust(64, b"\0")
fatbin = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry) + 64) + entry + read(image)[:64]
put("fatbin", "section", fatbin)
put("fatbin", "program", elf([(".nv_fatbin", 1, fatbin, 0, 0)]))

put("perf_map", "python", "1000 40 py::main:/tmp/x.py\n2010 10 lambda\n2002 fff outer\nzz\n")
put("rank", "torchrun", b"PATH=/bin\0RANK=3\0WORLD_SIZE=8\0LOCAL_RANK=1\0")
put("rank", "slurm", b"SLURM_PROCID=2\0SLURM_STEP_NUM_TASKS=4\0SLURM_LOCALID=0\0OMPI_COMM_WORLD_RANK=1\0")
put("disassembly", "text", "\t.headerflags @EF_CUDA_SM90\n.text.f0:\n        /*0000*/                   MOV R1, c[0x0][0x28] ;\n"
    "        /*0010*/              @!PT SHFL.IDX PT, RZ, RZ, RZ, RZ ;\n.text.f1:\n        /*0000*/                   EXIT ;\n"
    "nvdisasm error   : Unrecognized operation\n")
put("web", "tls", "tls_server_config:\n  cert_file: x.pem\n  key_file: x.key\n  min_version: TLS12\n")
put("web", "users", "basic_auth_users:\n  user: $2y$10$abcdefghijklmnopqrstuuKSqLqVsJoDpC8sUJ0kh1D0iM8ZdDyKu\n"
    "http_server_config:\n  http2: false\n  headers:\n    X-Frame-Options: deny\n")


def event(kind, group, data, count=1):
    head = struct.pack("<IIQQQQIIIIII", kind, group, 5, 1, 0, 7, 42, 43, 0, count, len(data), 0) + b"saxpy".ljust(16, b"\0")
    return struct.pack("<H", len(head) + len(data)) + head + data


record = struct.pack("<HH", 1, 128).ljust(128, b"\1")
put("events", "name", event(2, 3, b"kernel\0", 6) + event(8, 4, b""))
put("events", "batch", event(3, 0, bytes(512)) + event(1, 0, record) + event(1, 2, record * 3, 3) + event(6, 0, b""))
put("events", "stack", event(9, 0, bytes(2960)) + event(10, 0, bytes(900)) + event(5, 1, b"a".ljust(320, b"\0")))
put("samples", "line", '{"event":"sample","gpu":0,"uuid":"GPU-1","start_utc_ns":1,"end_utc_ns":2,"start_ns":1,"end_ns":2,"samples":3,'
    '"columns":{"sm":{"mean":0.5,"min":0,"max":1}}}\n{"event":"lost"}\n[1]\n')
put("payload", "all", b"{one;0 u8 a;8 i4 b;12 e1{0=sum;1=product;} c;16 f8 d;24 s8 e;32 c1*8 f;40 {pair;0 u2 x;2 u2 y%3b;}4*2 g;48 f4*3 h;"
    b"60 e4{1|r;2|w;} i;64 f2 j;66 b2 k;72 x8 l;80 x1*4 m;84 ?16 n;}104\0" + bytes(range(104)))
put("spool", "empty", b"\0" * 64)
spool = os.path.join(folder, "spool.sqlite")
feeder = os.path.join(build, "tests", "recording", "store", "feeder")
os.unlink(image)
