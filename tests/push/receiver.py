#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""receiver.py FOLDER [--tls CERTIFICATE KEY] [--port PORT]: an HTTP receiver that does what the file FOLDER/mode says for each
request: "STATUS" or "STATUS SECONDS" (with Retry-After), "slow SECONDS", or "cut" (the connection ends without an answer).
Writes the port to FOLDER/port; a line of JSON to FOLDER/log for each request; and the bodies that it took to FOLDER/body.N."""
import http.server
import json
import os
import ssl
import sys
import threading
import time

folder = sys.argv[1]
lock = threading.Lock()
taken = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global taken
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(f"{folder}/mode", encoding="ascii") as file:
            mode = file.read().split()
        if mode[0] == "slow":
            time.sleep(float(mode[1]))
            mode = ["200"]
        with lock, open(f"{folder}/log", "a", encoding="ascii") as log:
            if mode[0] == "200":
                taken += 1
                with open(f"{folder}/body.{taken}", "wb") as out:
                    out.write(body)
            print(json.dumps({"path": self.path, "status": mode[0], "time": time.monotonic(),
                              "headers": {k.lower(): v for k, v in self.headers.items()}, "size": len(body)}), file=log)
        if mode[0] == "cut":
            self.close_connection = True
            return
        answer = b""
        if os.path.exists(f"{folder}/answer"):
            with open(f"{folder}/answer", "rb") as file:
                answer = file.read()
        try:
            self.send_response(int(mode[0]))
            if len(mode) > 1:
                self.send_header("Retry-After", mode[1])
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        except OSError:
            pass

    def log_message(self, *_):
        pass


options = sys.argv[2:]
port = int(options[options.index("--port") + 1]) if "--port" in options else 0
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
server.daemon_threads = True
if "--tls" in options:
    at = options.index("--tls")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options[at + 1], options[at + 2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(f"{folder}/port.new", "w", encoding="ascii") as file:
    print(server.server_address[1], file=file)
os.rename(f"{folder}/port.new", f"{folder}/port")
server.serve_forever()
