"""One row as it stands to be measured: its store, its processors, its counts, and the program."""
import dataclasses
import pathlib
import subprocess

import machine
from rows import Row


@dataclasses.dataclass
class Taken:
    """One value of each figure of a row, and what it cost; the series of what was sampled meanwhile."""
    values: dict[str, float]
    costs: dict[str, float] = dataclasses.field(default_factory=dict)
    series: list[list[float]] = dataclasses.field(default_factory=list)


class Bed:
    def __init__(self, row: Row, store, build: pathlib.Path, count: int) -> None:
        self.server_cores, self.cores = machine.PLACES[row.place]
        if not self.cores:
            raise machine.Skip("this machine has one processor")
        store.place(self.server_cores)
        self.store, self.count, self.knobs = store, count, dict(row.knobs)
        self.bench = build / "tests/campaigns/bench/bench"
        self.peers_folder = build / "peers"

    def knobs_of(self, *names: str) -> dict:
        return {name: self.knobs[name] for name in names if name in self.knobs}

    def words(self, side: str, verb: str, knobs: dict) -> list[str]:
        return [self.bench, side, verb, f"url={self.store.url}", *(f"{name}={value}" for name, value in knobs.items())]

    def start(self, side: str, verb: str, stdin: int | None = None, **knobs) -> subprocess.Popen:
        return machine.program_start(self.words(side, verb, knobs), self.cores, stdin=stdin)

    def run(self, side: str, verb: str, **knobs) -> machine.Spent:
        return machine.program_run(self.words(side, verb, knobs), self.cores)

    def run_rated(self, side: str, verb: str, **knobs) -> Taken:
        before = self.store.processor_s()
        return self.rated(self.run(side, verb, **knobs), before)

    def rated(self, spent: machine.Spent, server_before_s: float | None = None) -> Taken:
        """Runs a second, and what each run cost: our processor time with the program's start, and the server's."""
        count = spent.answer["count"]
        costs = {"cpu_us": 1e6 * spent.cpu_s / count, "peak_mib": spent.peak_kib / 1024}
        if self.store.server is not None and server_before_s is not None:
            costs["server_cpu_us"] = 1e6 * (self.store.processor_s() - server_before_s) / count
            costs["server_mib"] = self.store.resident_kib() / 1024
        return Taken({"rate": count / spent.answer["seconds"]}, costs)
