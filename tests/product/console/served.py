"""A store with runs in it, and culex-console that serves it: what the tests of the console share.

usage: as of console_test.py
"""
import base64
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest

CONSOLE, CULEX, NAP, HELD = (pathlib.Path(word).resolve() for word in sys.argv[1:5])
STORE = sys.argv[5]


class Served(unittest.TestCase):
    """Each test has a store of its own; `serve` begins the server."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("CULEX_")}
        self.env["CULEX_URL"] = f"sqlite:{self.folder}/jobs.db" if STORE == "sqlite" else self.redis()

    def redis(self):
        place = self.folder / "redis.sock"
        self.server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", place, "--save", "",
                                        "--dir", self.folder], stdout=subprocess.DEVNULL)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.terminate)
        self.until(lambda: self.is_open(place))
        return f"redis+unix://{place}"

    @staticmethod
    def is_open(place):
        """The file is there a moment before somebody listens."""
        with socket.socket(socket.AF_UNIX) as link:
            return link.connect_ex(str(place)) == 0

    def until(self, is_so, seconds=60):
        end = time.monotonic() + seconds
        while not is_so():
            self.assertLess(time.monotonic(), end, "it never comes to that")
            time.sleep(0.02)

    def nap(self, *words, program=NAP):
        done = subprocess.run([program, *words], env=self.env, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def seal(self):
        """Has the store know vault.pay, whose params are encrypted, and returns the file of its keys."""
        path = self.folder / "keys"
        path.write_text(f"one {base64.b64encode(os.urandom(32)).decode()}\n", encoding="ascii")
        path.chmod(0o600)
        subprocess.run([NAP.parent / "vault", "--drain", "--isolation", "none", "--log-level", "error"],
                       env=self.env | {"CULEX_KEYS": str(path)}, check=True)
        return path

    def drain(self):
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--log-level", "error")

    def fill(self):
        """Three dead runs, one that is done with five log lines, and one that waits for an hour."""
        for text in ("no route", "no route", "disk full"):
            self.nap("enqueue", "tell", text, "hush")
        self.nap("enqueue", "scribe", "9", "done", "hush")
        self.drain()
        self.nap("enqueue", "wink", "1")

    def serve(self, *options, program=CONSOLE, port=0):
        """Begins it at this port, 0 is a free one, and waits until it tells where."""
        self.log = self.folder / "console.log"
        with self.log.open("w") as log:
            self.console = subprocess.Popen([program, "--listen", f"127.0.0.1:{port}", *options], env=self.env, stderr=log,
                                            cwd=self.folder)
        self.addCleanup(self.stop)
        self.until(lambda: "listening at" in self.log.read_text() or self.console.poll() is not None)
        found = re.search(r"listening at http://127\.0\.0\.1:(\d+)", self.log.read_text())
        self.assertTrue(found, self.log.read_text())
        self.port = int(found.group(1))

    def stop(self):
        if self.console.poll() is None:
            self.console.terminate()
        code = self.console.wait(30)
        self.assertEqual(code, 0, self.log.read_text()[-2000:])
        self.assertNotIn("ERROR:", self.log.read_text())

    def lines_of_audit(self, path=None):
        text = (path or self.log).read_text()
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def connect(self, timeout=70):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        self.addCleanup(connection.close)
        return connection

    def send(self, method, path, body=None, connection=None, **headers):
        """Status, headers, and the JSON that came."""
        used = connection or self.connect()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if method == "POST":
            headers.setdefault("Content-Type", "application/json")
            body = "" if body is None else body if isinstance(body, (str, bytes)) else json.dumps(body)
        used.request(method, path, body=body, headers=headers)
        answer = used.getresponse()
        text = answer.read()
        if not connection:
            used.close()
        is_json = answer.headers.get("Content-Type") == "application/json" and text
        return answer.status, answer.headers, json.loads(text) if is_json else text

    def get(self, path, code=200, **headers):
        status, _, value = self.send("GET", "/api/v1" + path, **headers)
        self.assertEqual(status, code, (path, value))
        return value

    def post(self, path, body=None, code=200, **headers):
        status, _, value = self.send("POST", "/api/v1" + path, body, **headers)
        self.assertEqual(status, code, (path, body, value))
        return value

    def refused(self, value, code, param=None, *parts):
        """The shape of a failure."""
        error = value["error"]
        self.assertEqual(list(value), ["error"])
        self.assertEqual(error["code"], code, error)
        self.assertEqual(error.get("param"), param, error)
        for part in parts:
            self.assertIn(part, error["message"])
        self.assertLessEqual(set(error), {"code", "message", "param", "hint"})
