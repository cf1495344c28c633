# SPDX-License-Identifier: BSD-2-Clause
"""guess.py HOST PORT CONNECTIONS: guesses passwords of user prom on so many connections, each of
which waits for its answer and guesses again, until it is killed. Prints "guessing" once each
connection has guessed."""
import asyncio
import base64
import sys

begun = 0


async def guess(host, port, number, count):
    global begun
    attempt = 0
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, port)
            while True:
                attempt += 1
                word = base64.b64encode(f"prom:{number}-{attempt}".encode()).decode()
                writer.write(f"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {word}\r\n\r\n"
                             .encode())
                await writer.drain()
                if attempt == 1:
                    begun += 1
                    if begun == count:
                        print("guessing", flush=True)
                head = await reader.readuntil(b"\r\n\r\n")
                length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
                await reader.readexactly(int(length[0].split(b":")[1]))
        except (OSError, asyncio.IncompleteReadError, IndexError):
            await asyncio.sleep(0.01)


async def main():
    host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    await asyncio.gather(*(guess(host, port, i, count) for i in range(count)))


asyncio.run(main())
