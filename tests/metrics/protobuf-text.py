# SPDX-License-Identifier: BSD-2-Clause
"""protobuf-text.py PROTO <DOCUMENT: the samples of a delimited document as text format 0.0.4 has
them, sorted, after protoc has decoded it; of native histograms NAME_native{LABELS,power="N"}."""
import re
import subprocess
import sys


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def tagged(data):
    at, out = 0, b""
    while at < len(data):
        size, start = varint(data, at)
        assert start + size <= len(data), "the last message is cut off"
        out += b"\x0a" + data[at : start + size]
        at = start + size
    return out


def parse(lines):
    """protoc's text as lists of (name, value) pairs."""
    pairs = []
    for line in lines:
        line = line.strip()
        if line == "}":
            return pairs
        if line.endswith("{"):
            pairs.append((line[:-2], parse(lines)))
        else:
            name, value = line.split(": ", 1)
            pairs.append((name, value))
    return pairs


def every(pairs, name):
    return [value for key, value in pairs if key == name]


def labels_of(metric):
    return ",".join(f"{every(l, 'name')[0][1:-1]}={every(l, 'value')[0]}" for l in every(metric, "label"))


def show(name, labels, value):
    print(f"{name}{{{labels}}} {float(value):.9g}" if labels else f"{name} {float(value):.9g}")


def histogram(name, labels, pairs):
    comma = labels + "," if labels else ""
    count = every(pairs, "sample_count")[0]
    for bucket in every(pairs, "bucket"):
        bound = float(every(bucket, "upper_bound")[0])
        show(name + "_bucket", f'{comma}le="{bound:.9g}"', every(bucket, "cumulative_count")[0])
    show(name + "_bucket", comma + 'le="+Inf"', count)
    show(name + "_count", labels, count)
    show(name + "_sum", labels, every(pairs, "sample_sum")[0])
    index, value, deltas = 0, 0, every(pairs, "positive_delta")
    for span in every(pairs, "positive_span"):
        index += int((every(span, "offset") or [0])[0])
        for _ in range(int(every(span, "length")[0])):
            value += int(deltas.pop(0))
            show(name + "_native", f'{comma}power="{index}"', value)
            index += 1
    assert not deltas, "more deltas than spans have buckets"


folder, file = sys.argv[1].rsplit("/", 1)
text = subprocess.run(
    ["protoc", "-I", folder, "--decode=io.prometheus.client.Document", file],
    input=tagged(sys.stdin.buffer.read()), stdout=subprocess.PIPE, check=True,
).stdout.decode()
assert not re.search(r"^ *\d+: ", text, re.M), "fields that the format does not have"
for family in every(parse(iter(text.splitlines())), "family"):
    name = every(family, "name")[0][1:-1]
    for metric in every(family, "metric"):
        for kind in ("gauge", "counter"):
            for value in every(metric, kind):
                show(name, labels_of(metric), every(value, "value")[0])
        for pairs in every(metric, "histogram"):
            histogram(name, labels_of(metric), pairs)
