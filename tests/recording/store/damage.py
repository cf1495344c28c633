# SPDX-License-Identifier: BSD-2-Clause
"""damage.py SEED IN OUT: a copy of IN with a few bytes, runs or lengths changed, the same for the
same seed."""
import random
import sqlite3
import sys

EDGES = (0, 1, -1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63), 2**63 - 1000, -(2**62), 1e308, None)


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


def extreme(seed, path):
    """Gives columns of the recording values from the edges of what a number can be: the file itself
    is in order."""
    chance = random.Random(seed)
    with sqlite3.connect(path) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        names = [name for name in names if db.execute(f'SELECT 1 FROM "{name}"').fetchone()]
        for _ in range(chance.choice((1, 2, 5, 20))):
            name = chance.choice(names)
            columns = [row[1] for row in db.execute(f'PRAGMA table_info("{name}")')]
            times = [column for column in columns if column in ("start", "end", "bytes")]
            column = chance.choice(times or columns)
            rows = chance.choice(("", "WHERE rowid % 2", "WHERE rowid % 3 = 1", "WHERE rowid = 1"))
            try:
                db.execute(f'UPDATE "{name}" SET "{column}" = ? {rows}', (chance.choice(EDGES),))
            except sqlite3.Error:
                pass  # a constraint
    db.close()


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as source, open(sys.argv[3], "wb") as target:
        target.write(damage(int(sys.argv[1]), source.read()))
