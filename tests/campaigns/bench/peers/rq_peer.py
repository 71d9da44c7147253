"""RQ with the work of a benchmark: enqueue|drain PORT COUNT"""
import json
import sys
import time

import redis
import rq

PARAMS = {"to": "ann@shop.example", "subject": "Hello, is anybody there?", "flag": True,
          "campaign": "01020304-0506-0708-090a-0b0c0d0e0f10"}


def work(**_params) -> None:
    """The handler."""


def main(verb: str, port: int, count: int) -> None:
    connection = redis.Redis(port=port)
    queue = rq.Queue(connection=connection)
    worker = rq.SimpleWorker([queue], connection=connection)
    start = time.monotonic()
    if verb == "enqueue":
        for number in range(count):
            queue.enqueue("rq_peer.work", result_ttl=0, kwargs={**PARAMS, "number": number})
    else:
        worker.work(burst=True, logging_level="ERROR")
    print(json.dumps({"count": count, "seconds": time.monotonic() - start}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
