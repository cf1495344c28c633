# SPDX-License-Identifier: BSD-2-Clause
"""sqlite-rows.py FILE TABLE...: each row of the tables as a JSON array, in the order of rows."""
import json
import sqlite3
import struct
import sys


def show(value):
    if value is None:
        return None
    if isinstance(value, int):
        return ["integer", str(value)]
    if isinstance(value, float):
        return ["real", struct.pack(">d", value).hex()]
    if isinstance(value, bytes):
        return ["blob", value.hex()]
    return ["text", value.encode().hex()]


with sqlite3.connect(sys.argv[1]) as db:
    for table in sys.argv[2:]:
        for row in db.execute(f"SELECT * FROM {table}"):
            print(json.dumps([show(value) for value in row], separators=(",", ":")))
