"""beanstalkd, by its protocol, with the work of a benchmark: enqueue|drain PORT COUNT"""
import json
import socket
import sys
import time

PARAMS = {"to": "ann@shop.example", "subject": "Hello, is anybody there?", "flag": True,
          "campaign": "01020304-0506-0708-090a-0b0c0d0e0f10"}


def ask(stream, command: bytes, wanted: bytes) -> list[bytes]:
    stream.write(command)
    stream.flush()
    words = stream.readline().split()
    if words[0] != wanted:
        raise SystemExit(f"beanstalkd: {words}")
    return words


def put(stream, number: int) -> None:
    body = json.dumps({**PARAMS, "number": number}).encode()
    ask(stream, b"put 0 0 60 %d\r\n%s\r\n" % (len(body), body), b"INSERTED")


def work(stream, _number: int) -> None:
    _, name, size = ask(stream, b"reserve\r\n", b"RESERVED")
    json.loads(stream.read(int(size) + 2))
    ask(stream, b"delete %s\r\n" % name, b"DELETED")


def main(verb: str, port: int, count: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as link, link.makefile("rwb") as stream:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        start = time.monotonic()
        for number in range(count):
            (put if verb == "enqueue" else work)(stream, number)
        print(json.dumps({"count": count, "seconds": time.monotonic() - start}))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
