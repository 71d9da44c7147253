"""GET /api/v1/stream: the queues' figures to all who listen, by one reading a second.

usage: stream_test.py CULEX-CONSOLE CULEX NAP HELD STORE [Class.test_NAME]...
"""
import json
import pathlib
import socket
import sys
import time
import unittest

from served import STORE, Served


class Stream(Served):
    def listen(self, **headers):
        """The answer, whose lines come as they are sent."""
        connection = self.connect(timeout=30)
        connection.request("GET", "/api/v1/stream", headers=headers)
        return connection.getresponse()

    def event(self, answer):
        """(name, data) of the next one."""
        name = answer.readline().decode().removeprefix("event: ").strip()
        data = json.loads(answer.readline().decode().removeprefix("data: "))
        self.assertEqual(answer.readline(), b"\n")
        return name, data

    def threads(self):
        return len(list(pathlib.Path(f"/proc/{self.console.pid}/task").iterdir()))

    def away(self):
        if STORE == "redis":
            self.server.terminate()
            self.server.wait()
            (self.folder / "redis.sock").unlink(missing_ok=True)
            return
        for end in ("", "-wal", "-shm"):
            (self.folder / f"jobs.db{end}").rename(self.folder / f"old.db{end}")

    def test_what_comes(self):
        self.fill()
        self.serve()
        answer = self.listen()
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/event-stream"))
        name, first = self.event(answer)
        self.assertEqual((name, first["queues"][0]["waiting"]), ("queues", 1))
        self.nap("enqueue", "wink", "1")
        self.until(lambda: self.event(answer)[1]["queues"][0]["waiting"] == 2)
        moments = [self.event(answer)[1]["queues"][0]["now_ms"] for _ in range(3)]
        self.assertTrue(all(900 <= later - now <= 3000 for now, later in zip(moments, moments[1:])), moments)

    def test_one_reading_is_for_all(self):
        self.fill()
        self.serve()
        answers = [self.listen() for _ in range(50)]
        for answer in answers:
            self.event(answer)
        seen = [{self.event(answer)[1]["queues"][0]["now_ms"] for _ in range(3)} for answer in answers]
        self.assertLessEqual(len(set.union(*seen)), 6, "each has a reading of its own")

    def test_a_store_that_goes(self):
        self.fill()
        self.serve()
        answer = self.listen()
        self.event(answer)
        self.away()
        name, failed = "queues", None
        while name == "queues":
            name, failed = self.event(answer)
        self.assertEqual(name, "failure")
        self.assertIn(failed["error"]["code"], ("store_away", "store_moved"))

    def is_let_in(self):
        """Who comes while places are being freed may be sent away."""
        connection = self.connect()
        try:
            connection.request("GET", "/api/v1/stream")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def test_there_is_an_end_of_streams(self):
        self.fill()
        self.serve("--connections", "16")
        connections = [self.connect() for _ in range(12)]
        for connection in connections:
            connection.request("GET", "/api/v1/stream")
            self.assertEqual(connection.getresponse().status, 200)
        status, headers, value = self.send("GET", "/api/v1/stream")
        self.assertEqual((status, headers["Retry-After"]), (503, "10"))
        self.refused(value, "busy")
        self.get("/queues")
        connections[0].close()
        self.until(self.is_let_in)

    def test_few_connections_have_streams_too(self):
        self.fill()
        for connections, streams in ((1, 1), (2, 1), (3, 2), (7, 5)):
            self.serve("--connections", str(connections))
            answers = [self.listen() for _ in range(streams)]
            self.assertEqual([answer.status for answer in answers], [200] * streams, connections)
            if connections > streams:
                self.refused(self.get("/stream", 503), "busy")
            self.stop()

    def test_a_thousand(self):
        self.fill()
        self.serve("--connections", "2000")
        answers = [self.listen() for _ in range(1000)]
        self.assertEqual({answer.status for answer in answers}, {200})
        self.refused(self.get("/stream", 503), "busy")
        begun = time.monotonic()
        self.get("/queues")
        self.assertLess(time.monotonic() - begun, 3, "they hold up the others")
        for answer in answers:
            self.assertEqual(self.event(answer)[0], "queues")

    def test_who_has_gone_costs_nothing(self):
        self.fill()
        self.serve()
        quiet = self.threads()
        gone = socket.create_connection(("127.0.0.1", self.port))
        gone.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.until(lambda: self.threads() > quiet)
        gone.close()
        self.until(lambda: self.threads() <= quiet)

    def test_it_ends_with_the_server(self):
        self.fill()
        self.serve()
        answer = self.listen()
        self.event(answer)
        begun = time.monotonic()
        self.stop()
        self.assertLess(time.monotonic() - begun, 4)
        answer.read()

    def test_who_may(self):
        self.fill()
        tokens = self.folder / "tokens"
        tokens.write_text("read read-0123456789abcdef\nenqueue enqueue-0123456789abcdef\n")
        tokens.chmod(0o600)
        self.serve("--tokens", tokens)
        self.refused(self.get("/stream", 401), "token")
        self.refused(self.get("/stream", 403, Authorization="Bearer enqueue-0123456789abcdef"), "role")
        self.assertEqual(self.event(self.listen(Authorization="Bearer read-0123456789abcdef"))[0], "queues")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
