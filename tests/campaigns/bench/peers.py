"""Other job systems, run beside ours with the same work: five params, a handler that does nothing.

A row of PEERS each. Its program is called PROGRAM enqueue|drain PORT COUNT, has one worker with one
handler at a time and else what that system takes by itself, and answers as bench does.
"""
import contextlib
import dataclasses
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import machine
from server import port_free

if TYPE_CHECKING:
    from bed import Bed

HERE = pathlib.Path(__file__).parent / "peers"
PYTHON = "/usr/bin/python3"  # that of the packages
PATIENCE_S = 120


@dataclasses.dataclass(frozen=True)
class Peer:
    package: str
    program: tuple[str, ...]
    probe: tuple[str, ...]  # succeeds where the package is installed; {folder} is that of BullMQ
    server: tuple[str, ...] = ()  # its own, beside Redis; {port} and {folder}


PEERS = {
    "bullmq": Peer("bullmq with ioredis, of npm", ("node", str(HERE / "bullmq.js")), ("node", "-e", "require('bullmq'); require('ioredis')")),
    "sidekiq": Peer("ruby-sidekiq", ("ruby", str(HERE / "sidekiq.rb")), ("ruby", "-e", "require 'sidekiq'")),
    "rq": Peer("python3-rq", (PYTHON, str(HERE / "rq_peer.py")), (PYTHON, "-c", "import rq")),
    "celery": Peer("python3-celery with python3-redis", (PYTHON, str(HERE / "celery_peer.py")), (PYTHON, "-c", "import celery, redis")),
    "beanstalkd": Peer("beanstalkd", (PYTHON, str(HERE / "beanstalk.py")), ("beanstalkd", "-v"),
                       ("beanstalkd", "-l", "127.0.0.1", "-p", "{port}")),
    "beanstalkd, pipelined": Peer("beanstalkd", (PYTHON, str(HERE / "beanstalk.py"), "pipelined"), ("beanstalkd", "-v"),
                                  ("beanstalkd", "-l", "127.0.0.1", "-p", "{port}")),
    "gearman": Peer("gearman-job-server", (PYTHON, str(HERE / "gearman.py")), ("gearmand", "--version"),
                    ("gearmand", "--listen=127.0.0.1", "--port={port}", "--log-file=stderr", "--verbose=FATAL")),
}


def environment(folder: pathlib.Path) -> dict[str, str]:
    return {**os.environ, "NODE_PATH": str(folder / "node_modules"), "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin"}


def check(name: str, folder: pathlib.Path) -> None:
    """Skips a row whose package is missing."""
    if name == "culex":
        return
    probe, env = PEERS[name].probe, environment(folder)
    if shutil.which(probe[0], path=env["PATH"]) is None or subprocess.run(probe, capture_output=True, env=env, check=False).returncode:
        raise machine.Skip(f"{PEERS[name].package} is not installed; ./dev bench --peers does that")


@dataclasses.dataclass
class Running:
    """A peer with its server."""
    peer: Peer
    port: int
    folder: pathlib.Path
    cores: list[int]

    def run(self, verb: str, count: int) -> machine.Spent:
        """Versions of peers differ: one that fails is told in its row, and the others go on."""
        try:
            return machine.program_run([*self.peer.program, verb, str(self.port), str(count)], self.cores, PATIENCE_S,
                                       env=environment(self.folder))
        except machine.Failure as failure:
            raise machine.Skip(f"it failed: {next((line for line in str(failure).splitlines()[1:] if 'rror' in line), failure)}") from None


def server_start(peer: Peer, port: int, cores: list[int], folder: str) -> subprocess.Popen:
    words = [word.format(port=port) for word in peer.server]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, env=environment(pathlib.Path()),
                               preexec_fn=lambda: os.sched_setaffinity(0, cores))
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return process
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise SystemExit(f"bench: {words[0]} did not start")
        time.sleep(0.02)


@contextlib.contextmanager
def running(name: str, bed: "Bed") -> Iterator[Running]:
    peer, folder, cores = PEERS[name], bed.peers_folder, bed.cores
    if not peer.server:
        yield Running(peer, bed.store.server.port, folder, cores)
        return
    port = port_free()
    with tempfile.TemporaryDirectory() as own:
        process = server_start(peer, port, bed.server_cores, own)
        try:
            yield Running(peer, port, folder, cores)
        finally:
            process.kill()
            process.wait()
