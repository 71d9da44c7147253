#!/usr/bin/env python3
"""A worker with Python's standard library: worker.py QUEUE. Claims runs over HTTP until none comes for 2 s.

CULEX_HTTP is the console, CULEX_TOKEN a token with role work.
"""
import contextlib
import http.client
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request

API = os.environ.get("CULEX_HTTP", "http://127.0.0.1:7420") + "/api/v1/"
LEASE_S = 30
LOST = OSError, http.client.HTTPException  # the connection, or the answer; an HTTPError is an OSError, too


def post(path, body):
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("CULEX_TOKEN", "")}
    request = urllib.request.Request(API + path, json.dumps(body, ensure_ascii=False).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def post_again(path, body):
    """As post, but asks again: the console or its store may be back before the lease is over."""
    end = time.monotonic() + LEASE_S
    while True:
        try:
            return post(path, body)
        except LOST as failure:
            if getattr(failure, "code", 503) != 503 or time.monotonic() > end:
                raise
        time.sleep(1)


def beat(token, ended, cancelled):
    """Makes the lease longer while the run is at work; the store says when to stop."""
    while not ended.wait(10):
        with contextlib.suppress(*LOST):  # the answer at the end tells
            if post(f"claims/{token}/heartbeat", {})["order"] != "go_on":
                cancelled.set()


def handle(job, params, cancelled):
    print(job, params["words"], flush=True)


def run(claim):
    ended, cancelled = threading.Event(), threading.Event()
    beats = threading.Thread(target=beat, args=(claim["token"], ended, cancelled), daemon=True)
    beats.start()
    try:
        handle(claim["job"], claim["params"], cancelled)
    except Exception as failure:
        post_again(f"claims/{claim['token']}/fail", {"error": repr(failure)[:2000]})  # at most 4 KiB are kept
    else:
        post_again(f"claims/{claim['token']}/complete", {})
    finally:
        ended.set()


def work(queue):
    while claim := post_again(f"queues/{queue}/claim", {"wait": "2s", "lease": f"{LEASE_S}s"})["claim"]:
        try:
            run(claim)
        except urllib.error.HTTPError as refused:
            # 409: the lease was over, and another has the run.
            print(json.load(refused)["error"]["message"], file=sys.stderr)


try:
    work(sys.argv[1])
except urllib.error.HTTPError as refused:
    sys.exit(json.load(refused)["error"]["message"])
except LOST as away:
    sys.exit(f"{API}: {away}")
