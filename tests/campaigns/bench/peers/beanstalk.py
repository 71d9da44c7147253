"""beanstalkd, by its protocol, with the work of a benchmark: [pipelined] enqueue|drain PORT COUNT

Pipelined, a hundred commands go in one write; of the bodies that come back none is decoded, so that
the server is what is measured, and not Python.
"""
import json
import re
import socket
import sys
import time

PARAMS = {"to": "ann@shop.example", "subject": "Hello, is anybody there?", "flag": True,
          "campaign": "01020304-0506-0708-090a-0b0c0d0e0f10"}
WINDOW = 100
RESERVED = re.compile(rb"RESERVED (\d+) \d+\r\n[^\n]*\n")


def put_line(number: int) -> bytes:
    body = json.dumps({**PARAMS, "number": number}).encode()
    return b"put 0 0 60 %d\r\n%s\r\n" % (len(body), body)


def ask(stream, command: bytes, wanted: bytes) -> list[bytes]:
    stream.write(command)
    stream.flush()
    words = stream.readline().split()
    if words[0] != wanted:
        raise SystemExit(f"beanstalkd: {words}")
    return words


def put(stream, number: int) -> None:
    ask(stream, put_line(number), b"INSERTED")


def work(stream, _number: int) -> None:
    _, name, size = ask(stream, b"reserve\r\n", b"RESERVED")
    json.loads(stream.read(int(size) + 2))
    ask(stream, b"delete %s\r\n" % name, b"DELETED")


def answers(link: socket.socket, lines: int) -> bytes:
    """As many lines, of which none holds the end of another: a body is one, too."""
    got = b""
    while got.count(b"\n") < lines:
        part = link.recv(1 << 20)
        if not part:
            raise SystemExit("beanstalkd: it hung up")
        got += part
    return got


def put_many(link: socket.socket, numbers: range) -> None:
    link.sendall(b"".join(map(put_line, numbers)))
    if answers(link, len(numbers)).count(b"INSERTED") != len(numbers):
        raise SystemExit("beanstalkd: not all were put")


def work_many(link: socket.socket, numbers: range, last: list[bytes]) -> list[bytes]:
    """Deletes the last ones and reserves the next ones, in one write."""
    link.sendall(b"".join(b"delete %s\r\n" % name for name in last) + b"reserve\r\n" * len(numbers))
    got = answers(link, len(last) + 2 * len(numbers))
    names = RESERVED.findall(got)
    if len(names) != len(numbers) or got.count(b"DELETED") != len(last):
        raise SystemExit(f"beanstalkd: {got[:80]!r}")
    return names


def pipelined(link: socket.socket, verb: str, count: int) -> None:
    names: list[bytes] = []
    for first in range(0, count, WINDOW):
        numbers = range(first, min(first + WINDOW, count))
        if verb == "enqueue":
            put_many(link, numbers)
        else:
            names = work_many(link, numbers, names)
    if names:
        work_many(link, range(0), names)


def one_by_one(link: socket.socket, verb: str, count: int) -> None:
    with link.makefile("rwb") as stream:
        for number in range(count):
            (put if verb == "enqueue" else work)(stream, number)


def main(verb: str, port: int, count: int, run=one_by_one) -> None:
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        start = time.monotonic()
        run(link, verb, count)
        print(json.dumps({"count": count, "seconds": time.monotonic() - start}))


if sys.argv[1] == "pipelined":
    main(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), pipelined)
else:
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
