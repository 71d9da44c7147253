"""The Redis server that the benchmarks run against."""
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time

from machine import CORES

PATIENCE_S = 60


def port_free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A private redis-server on loopback and a UNIX socket; `fsync` is that of its append-only file, or "off"."""

    def __init__(self, folder: str, fsync: str = "off", cores: list[int] | None = None) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=folder)
        self.path = f"{self.folder.name}/redis.sock"
        self.port = port_free()
        persistence = ["--appendonly", "no"] if fsync == "off" else ["--appendonly", "yes", "--appendfsync", fsync]
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.path, "--save", "",
             "--dir", self.folder.name, *persistence],
            stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, cores or CORES[:1]))
        self.link = self.connect()

    def connect(self) -> socket.socket:
        deadline = time.monotonic() + PATIENCE_S
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(PATIENCE_S)
        while True:
            try:
                link.connect(self.path)
                return link
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit("bench: redis-server did not start") from None
                time.sleep(0.01)

    def ask(self, *command: str) -> str:
        """The answer of a command that has a line or one text for an answer."""
        self.link.sendall(" ".join(command).encode() + b"\r\n")
        answer = self.receive(b"\r\n")
        if answer.startswith(b"-"):
            raise SystemExit(f"bench: redis-server: {answer.decode()}")
        if not answer.startswith(b"$"):
            return answer[1:].decode()
        size = int(answer[1:])
        return self.receive(size=size + 2)[:-2].decode()

    def receive(self, end: bytes = b"", size: int = 0) -> bytes:
        got = b""
        while not (got.endswith(end) if end else len(got) >= size):
            some = self.link.recv(1 if end else size - len(got))
            if not some:
                raise SystemExit("bench: redis-server has ended")
            got += some
        return got[:-len(end)] if end else got

    def figure(self, section: str, name: str) -> float:
        return float(re.search(rf"^{name}:([\d.]+)", self.ask("INFO", section), re.M)[1])

    def calls(self) -> dict[str, int]:
        """Calls per command since the last CONFIG RESETSTAT."""
        found = re.findall(r"cmdstat_([^:]+):calls=(\d+)", self.ask("INFO", "commandstats"))
        return {name: int(count) for name, count in found}

    def disk_bytes(self) -> int:
        return sum(path.stat().st_size for path in pathlib.Path(self.folder.name).rglob("*") if path.is_file())

    def stop(self) -> None:
        self.link.close()
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
