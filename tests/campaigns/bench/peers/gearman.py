"""Gearman, by its protocol, with the work of a benchmark: enqueue|drain PORT COUNT"""
import json
import socket
import struct
import sys
import time

PARAMS = {"to": "ann@shop.example", "subject": "Hello, is anybody there?", "flag": True,
          "campaign": "01020304-0506-0708-090a-0b0c0d0e0f10"}
CAN_DO, JOB_CREATED, GRAB_JOB, JOB_ASSIGN, WORK_COMPLETE, SUBMIT_JOB_BG = 1, 8, 9, 11, 13, 18


def send(stream, kind: int, *parts: bytes) -> None:
    body = b"\0".join(parts)
    stream.write(b"\0REQ" + struct.pack(">II", kind, len(body)) + body)
    stream.flush()


def receive(stream, wanted: int) -> list[bytes]:
    magic, kind, size = struct.unpack(">4sII", stream.read(12))
    body = stream.read(size)
    if magic != b"\0RES" or kind != wanted:
        raise SystemExit(f"gearmand: an answer of kind {kind}: {body!r}")
    return body.split(b"\0", 2)


def put(stream, number: int) -> None:
    send(stream, SUBMIT_JOB_BG, b"bench", b"", json.dumps({**PARAMS, "number": number}).encode())
    receive(stream, JOB_CREATED)


def work(stream, _number: int) -> None:
    send(stream, GRAB_JOB)
    handle, _, body = receive(stream, JOB_ASSIGN)
    json.loads(body)
    send(stream, WORK_COMPLETE, handle, b"")


def main(verb: str, port: int, count: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as link, link.makefile("rwb") as stream:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if verb == "drain":
            send(stream, CAN_DO, b"bench")
        start = time.monotonic()
        for number in range(count):
            (put if verb == "enqueue" else work)(stream, number)
        print(json.dumps({"count": count, "seconds": time.monotonic() - start}))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
