"""The Redis server that the benchmarks run against."""
import os
import re
import subprocess
import time


class Server:
    """A private redis-server on core 0, loopback and UNIX socket, without persistence."""

    def __init__(self, folder: str) -> None:
        self.path = f"{folder}/redis.sock"
        self.port = 20000 + os.getpid() % 20000
        self.process = subprocess.Popen(
            ["taskset", "-c", "0", "redis-server", "--port", str(self.port), "--bind", "127.0.0.1",
             "--unixsocket", self.path, "--save", "", "--appendonly", "no", "--dir", folder],
            stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while not os.path.exists(self.path):
            if time.monotonic() > deadline:
                raise SystemExit("bench: redis-server did not start")
            time.sleep(0.02)

    def ask(self, *command: str) -> str:
        return subprocess.run(["redis-cli", "-s", self.path, *command], capture_output=True,
                              text=True, check=True).stdout

    def calls(self) -> dict[str, int]:
        """Calls per command since the last CONFIG RESETSTAT."""
        found = re.findall(r"cmdstat_([^:]+):calls=(\d+)", self.ask("INFO", "commandstats"))
        return {name: int(count) for name, count in found}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
