"""Celery with the work of a benchmark: enqueue|drain PORT COUNT"""
import json
import os
import sys
import time

import celery
from celery.signals import worker_ready

VERB, PORT, COUNT = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
PARAMS = {"to": "ann@shop.example", "subject": "Hello, is anybody there?", "flag": True,
          "campaign": "01020304-0506-0708-090a-0b0c0d0e0f10"}
app = celery.Celery("bench", broker=f"redis://127.0.0.1:{PORT}/0")
app.conf.task_ignore_result = True
app.conf.worker_redirect_stdouts = False
state = {"start": time.monotonic(), "done": 0}


def answer() -> None:
    print(json.dumps({"count": COUNT, "seconds": time.monotonic() - state["start"]}), flush=True)


@app.task(name="work")
def work(**_params) -> None:
    state["done"] += 1
    if state["done"] == COUNT:
        answer()
        os._exit(0)


@worker_ready.connect
def begin(**_facts) -> None:
    state["start"] = time.monotonic()


def main() -> None:
    if VERB == "drain":
        app.worker_main(["worker", "--pool=solo", "--loglevel=CRITICAL", "--without-gossip", "--without-mingle"])
        return
    with app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=3)
        state["start"] = time.monotonic()
        for number in range(COUNT):
            work.apply_async(kwargs={**PARAMS, "number": number})
    answer()


main()
