# SPDX-License-Identifier: BSD-2-Clause
"""damage.py SEED IN OUT: a copy of IN with a few bytes, runs or lengths changed, the same for the
same seed."""
import random
import sys


def damage(seed, data):
    chance = random.Random(seed)
    data = bytearray(data)
    for _ in range(chance.choice((1, 2, 5, 20, 200))):
        at = chance.randrange(len(data))
        kind = chance.randrange(6)
        if kind == 0:  # one bit
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:  # one byte to an edge
            data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif kind == 2:  # a run of noise
            for i in range(at, min(len(data), at + chance.randrange(1, 64))):
                data[i] = chance.randrange(256)
        elif kind == 3:  # a run from elsewhere
            start, length = chance.randrange(len(data)), chance.randrange(1, 4096)
            data[at : at + length] = data[start : start + length]
        elif kind == 4:  # in the header or schema, where it hurts most
            data[chance.randrange(min(len(data), 8192))] = chance.randrange(256)
        else:  # a hole
            data[at : at + 512] = bytes(len(data[at : at + 512]))
    if chance.randrange(8) == 0:
        del data[chance.randrange(1, len(data)) :]
    return data


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as source, open(sys.argv[3], "wb") as target:
        target.write(damage(int(sys.argv[1]), source.read()))
