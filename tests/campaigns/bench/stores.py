"""Where the runs of a measurement lie: a server or a file, ways to it, and how many bytes it holds."""
import contextlib
import pathlib
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator

import machine
from server import PATIENCE_S, Server


class Redis:
    def __init__(self, server: Server, url: str) -> None:
        self.server, self.url = server, url

    def place(self, cores: list[int]) -> None:
        machine.place_set(self.server.process.pid, cores)

    def clear(self) -> None:
        self.server.ask("FLUSHALL")

    def settle(self, _side: str) -> None:
        """Waits until the server has let go of the clients that have gone, and collects what its scripts
        have left: since Redis 7.4 its own figure counts that too, a megabyte at some moments."""
        deadline = time.monotonic() + PATIENCE_S
        while self.server.figure("clients", "connected_clients") > 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.server.ask("EVAL", "return(collectgarbage())", "0")

    def bytes_held(self, _side: str) -> float:
        return self.server.figure("memory", "used_memory")

    def processor_s(self) -> float:
        return machine.processor_s(self.server.process.pid)

    def resident_kib(self) -> int:
        return machine.resident_kib(self.server.process.pid)


def pages_bytes(file: pathlib.Path) -> int:
    """What the header of an SQLite file says: its pages without the free ones."""
    with file.open("rb") as opened:
        header = opened.read(100)
    size = int.from_bytes(header[16:18], "big")
    return (int.from_bytes(header[28:32], "big") - int.from_bytes(header[36:40], "big")) * size


class Sqlite:
    server = None

    def __init__(self, folder: str) -> None:
        self.file = pathlib.Path(folder) / "jobs.db"
        self.url = f"sqlite:{self.file}"

    def place(self, _cores: list[int]) -> None:
        pass

    def files(self) -> list[pathlib.Path]:
        return list(self.file.parent.glob(self.file.name + "*"))

    def clear(self) -> None:
        for path in self.files():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def file_of(self, side: str) -> pathlib.Path:
        return self.file.with_name(f"{self.file.name}.floor") if side == "floor" else self.file

    def settle(self, side: str) -> None:
        """Brings the log, whose size says little of what is in the store, into the file."""
        with contextlib.closing(sqlite3.connect(self.file_of(side))) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def bytes_held(self, side: str) -> float:
        """Of the pages in use, and of the log."""
        base = self.file_of(side)
        log = base.with_name(f"{base.name}-wal")
        return pages_bytes(base) + (log.stat().st_size if log.exists() else 0)

    def processor_s(self) -> float:
        return 0

    def resident_kib(self) -> int:
        return 0


def url_of_port(server: Server) -> str:
    return f"redis://127.0.0.1:{server.port}"


@contextlib.contextmanager
def delayed(server: Server, program: pathlib.Path, ms: int) -> Iterator[str]:
    """The URL of a way to the server whose answers come so much later."""
    with subprocess.Popen([program, server.path, str(ms)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as way:
        yield way.stdout.readline().strip()
        way.stdin.close()


class Stores:
    """Opens the store of a row; a server serves the rows that follow each other and want the same."""

    def __init__(self, folder: str, build: pathlib.Path) -> None:
        self.folder, self.build = folder, build
        self.server: Server | None = None
        self.fsync = ""

    def server_of(self, fsync: str) -> Server:
        if self.server is None or self.fsync != fsync:
            self.close()
            self.server, self.fsync = Server(self.folder, fsync), fsync
        return self.server

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[Redis | Sqlite]:
        if name in ("sqlite", "none"):
            yield Sqlite(self.folder)
            return
        _, *words = name.split()
        server = self.server_of(words[1] if words[:1] == ["aof"] else "off")
        if words == ["tcp", "1ms"]:
            with delayed(server, self.build / "tests/campaigns/bench/delay", 1) as url:
                yield Redis(server, url)
        elif words == ["tcp"]:
            yield Redis(server, url_of_port(server))
        else:
            yield Redis(server, f"redis+unix://{server.path}")

    def server_version(self) -> str:
        return self.server_of("off").ask("INFO", "server").partition("redis_version:")[2].split()[0]

    def close(self) -> None:
        if self.server is not None:
            self.server.stop()
        self.server = None
