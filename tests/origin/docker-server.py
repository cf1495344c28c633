#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""docker-server.py SOCKET LIST: the part of Docker's API that lists containers. LIST is the JSON that it answers from;
the filter is applied. Prints "listening", then the path of each request."""
import http.server
import json
import os
import socketserver
import sys
import urllib.parse


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        print(self.path, flush=True)
        url = urllib.parse.urlparse(self.path)
        query = urllib.parse.parse_qs(url.query)
        wanted = json.loads(query["filters"][0])["id"]
        with open(sys.argv[2], encoding="utf8") as file:
            body = json.dumps([c for c in json.load(file) if any(c["Id"].startswith(i) for i in wanted)]).encode()
        self.send_response(200 if url.path == "/containers/json" and query["all"] == ["1"] else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "client"

    def log_message(self, *arguments):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


os.umask(0o077)
server = Server(sys.argv[1], Handler)
print("listening", flush=True)
server.serve_forever()
