#!/usr/bin/env python3
"""A worker with Python's standard library: worker.py QUEUE. Claims runs over HTTP until none comes for 2 s.

CULEX_HTTP is the console, CULEX_TOKEN a token with role work.
"""
import contextlib
import json
import os
import sys
import threading
import urllib.error
import urllib.request

API = os.environ.get("CULEX_HTTP", "http://127.0.0.1:7420") + "/api/v1/"


def post(path, body):
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("CULEX_TOKEN", "")}
    request = urllib.request.Request(API + path, json.dumps(body, ensure_ascii=False).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def beat(token, ended, cancelled):
    """Makes the lease longer while the run is at work; the store says when to stop."""
    while not ended.wait(10):
        with contextlib.suppress(OSError):  # the answer at the end tells
            if post(f"claims/{token}/heartbeat", {"lease": "30s"})["order"] != "go_on":
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
        post(f"claims/{claim['token']}/fail", {"error": repr(failure)[:2000]})  # at most 4 KiB are kept
    else:
        post(f"claims/{claim['token']}/complete", {})
    finally:
        ended.set()


def work(queue):
    while claim := post(f"queues/{queue}/claim", {"wait": "2s", "lease": "30s"})["claim"]:
        try:
            run(claim)
        except urllib.error.HTTPError as refused:
            # 409: the lease was over, and another has the run.
            print(json.load(refused)["error"]["message"], file=sys.stderr)


try:
    work(sys.argv[1])
except urllib.error.HTTPError as refused:
    sys.exit(json.load(refused)["error"]["message"])
except urllib.error.URLError as away:
    sys.exit(f"{API}: {away.reason}")
