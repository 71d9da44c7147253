"""A worker that has nothing to do hardly asks Redis, less than once a second; yet a run that comes is told to it: it
begins without a further question.

usage: idle.py REPOSITORY BUILD
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import door

IDLE_S, DEADLINE_S = 20, 30
# So long without a command: the worker has begun. It tells the store all its jobs' schemas first.
QUIET_S = 1
# What a worker sends to claim a run it was told of, and to begin to wait anew; an idle turn may fall in between.
ENOUGH = 8


def wait_until(is_true, what):
    stop = time.monotonic() + DEADLINE_S
    while not is_true():
        if time.monotonic() > stop:
            sys.exit(f"never: {what}")
        time.sleep(0.01)


def wait_until_quiet(way):
    """Until no command has come for QUIET_S."""
    asked, since = way.count, time.monotonic()

    def is_quiet():
        nonlocal asked, since
        if way.count != asked:
            asked, since = way.count, time.monotonic()
        return time.monotonic() - since >= QUIET_S

    wait_until(is_quiet, f"a worker without work is silent for {QUIET_S} s")


def is_open(sock):
    """The file is there a moment before somebody listens."""
    with socket.socket(socket.AF_UNIX) as link:
        return link.connect_ex(sock) == 0


def redis(sock, *words):
    return subprocess.run(["redis-cli", "-s", sock, *words], check=True, capture_output=True, text=True).stdout


def watch(nap, sock, folder):
    way = door.Door(folder, sock)
    started = folder / "started"
    environment = dict(os.environ, CULEX_URL=f"redis+unix://{way.path}")
    with open(started, "w") as out, open(folder / "log", "w") as log:
        worker = subprocess.Popen([nap, "--queues", "naps"], stdout=out, stderr=log, env=environment)
    try:
        wait_until(lambda: "cmd=blpop" in redis(sock, "client", "list"), "the worker waits for work")
        wait_until_quiet(way)
        before, since = way.count, time.monotonic()
        time.sleep(IDLE_S)
        asked, took = way.count - before, time.monotonic() - since
        print(f"an idle worker sent {asked} commands in {took:.1f} s")
        if asked >= took:
            sys.exit("that is once a second, or more")
        before = way.count
        subprocess.run([nap, "enqueue", "wink", "0"], check=True, env=dict(environment, CULEX_URL=f"redis+unix://{sock}"))
        wait_until(lambda: started.read_text().startswith("start 1 "), "the run begins")
        print(f"a run that came began after {way.count - before} more")
        if way.count - before > ENOUGH:
            sys.exit("it was looked for")
    finally:
        worker.terminate()
        worker.wait()


def main():
    if shutil.which("redis-server") is None:
        print("skipped: no redis-server")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sock = str(folder / "redis.sock")
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", sock, "--save", "", "--dir", name],
                                  stdout=subprocess.DEVNULL)
        try:
            wait_until(lambda: is_open(sock), "the server starts")
            watch(str(pathlib.Path(sys.argv[2]) / "tests/product/process/nap"), sock, folder)
        finally:
            server.terminate()
            server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
