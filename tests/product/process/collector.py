"""A collector of traces for tests, on a free port of this machine, which it prints.

usage: collector.py 200|503|mute FILE  answers so, and appends the bodies of good requests to the file
"""
import http.server
import signal
import socket
import sys

how, path = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        good = self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json"
        if good and how == "200":
            with open(path, "ab") as file:
                file.write(body)
        self.send_response(int(how) if good else 400)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


if how == "mute":
    listening = socket.create_server(("127.0.0.1", 0))  # whoever connects waits
    print(listening.getsockname()[1], flush=True)
    signal.pause()
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
