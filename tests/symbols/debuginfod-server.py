#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""debuginfod-server.py FOLDER: answers GET /buildid/ID/debuginfo with FOLDER/ID.debug, 404 where there is none. Writes
the port to FOLDER/port, and a line to FOLDER/log for each request."""
import http.server
import os
import re
import sys

folder = sys.argv[1]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(f"{folder}/log", "a", encoding="ascii") as log:
            print(self.path, file=log)
        wanted = re.fullmatch(r"/buildid/([0-9a-f]+)/debuginfo", self.path)
        path = f"{folder}/{wanted.group(1)}.debug" if wanted else ""
        if not os.path.exists(path):
            self.send_error(404)
            return
        with open(path, "rb") as file:
            data = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Type", "application/octet-stream")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(f"{folder}/port.new", "w", encoding="ascii") as file:
    print(server.server_port, file=file)
os.rename(f"{folder}/port.new", f"{folder}/port")
server.serve_forever()
