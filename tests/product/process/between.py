"""A worker is killed before each command that it sends to Redis, and after each one, before it has the answer:
every run is then in exactly one place, and the next worker brings all of them to their end.

usage: between.py REPOSITORY BUILD

The worker talks to the server through a door of this program, which counts commands. On the n-th one it kills the
worker, having passed the command on or not; n grows until a worker comes to its end before it is killed.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import door

RUNS = 3
DEADLINE_S = 30


def killer(process):
    """Kills the worker with all that belongs to it, and returns when it is dead."""
    def kill():
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return kill


class Scene:
    def __init__(self, build, folder):
        self.nap, self.folder = str(build / "tests/product/process/nap"), folder
        self.socket = str(folder / "redis.sock")
        runtime = folder / "run"
        runtime.mkdir(mode=0o700)
        self.environment = dict(os.environ, CULEX_URL=f"redis+unix://{self.socket}", XDG_RUNTIME_DIR=str(runtime))
        self.server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "",
                                        "--dir", folder], stdout=subprocess.DEVNULL)
        stop = time.monotonic() + DEADLINE_S
        # The file is there a moment before somebody listens.
        while subprocess.run(["redis-cli", "-s", self.socket, "ping"], capture_output=True, check=False).returncode != 0:
            if time.monotonic() > stop:
                sys.exit("the server does not start")
            time.sleep(0.01)
        self.door = door.Door(folder, self.socket)

    def say(self, *words):
        return subprocess.run([self.nap, *words], env=self.environment, check=True, capture_output=True, text=True,
                              timeout=DEADLINE_S).stdout

    def empty(self):
        subprocess.run(["redis-cli", "-s", self.socket, "flushall"], check=True, stdout=subprocess.DEVNULL)

    def worker(self):
        # By one URL: those by which they know each other for neighbours.
        log = open(self.folder / "log", "w")
        with log:
            return subprocess.Popen([self.nap, "--drain", "--lease", "60s", "--concurrency", "2"], stderr=log,
                                    env=dict(self.environment, CULEX_URL=f"redis+unix://{self.door.path}"), stdout=subprocess.DEVNULL,
                                    start_new_session=True)

    def killed_at(self, last, passes_it):
        """Whether the worker was killed on its command `last`, and not done before."""
        self.empty()
        for _ in range(RUNS):
            self.say("enqueue", "wink", "1")
        held = threading.Event()
        box = []
        def kill():
            held.wait()
            killer(box[0])()
        self.door.arm(kill, last, passes_it)
        box.append(self.worker())
        held.set()
        status = box[0].wait(timeout=DEADLINE_S)
        self.door.arm(None, 0, False)
        where = f"{'after' if passes_it else 'before'} command {last}"
        self.expect_places(where)
        if status != 0 and status != -signal.SIGKILL:
            sys.exit(f"{where}: the worker ended with {status}:\n{(self.folder / 'log').read_text()}")
        if status == -signal.SIGKILL:
            next_worker = self.worker()
            try:
                after = next_worker.wait(timeout=DEADLINE_S)
            except subprocess.TimeoutExpired:
                killer(next_worker)()
                after = "nothing, it goes on"
            if after != 0:
                sys.exit(f"{where}: the next worker ended with {after}:\n{(self.folder / 'log').read_text()}")
        self.expect_done(where)
        return status != 0

    def expect_places(self, where):
        runs = self.say("state").splitlines()
        if len(runs) != RUNS:
            sys.exit(f"{where}: {RUNS} runs are in {len(runs)} places: {runs}")

    def expect_done(self, where):
        runs = self.say("state").splitlines()
        if len(runs) != RUNS or not all(run.startswith("done ") for run in runs):
            sys.exit(f"{where}: the next worker leaves {runs}")


def main():
    if shutil.which("redis-server") is None:
        print("skipped: no redis-server")
        return 77
    build = pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(build, pathlib.Path(folder))
        try:
            for passes_it in (False, True):
                last = 1
                while scene.killed_at(last, passes_it):
                    last += 1
                print(f"killed {'after' if passes_it else 'before'} each of {last - 1} commands: "
                      f"{RUNS} runs were in {RUNS} places, and came to their end")
                if last < 8:
                    sys.exit("that is no worker's life")
        finally:
            scene.server.terminate()
            scene.server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
