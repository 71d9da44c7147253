"""What the product's work costs one build beside another, in instructions and in processor time.

usage: compare.py BUILD OTHER [--pairs N] [--limit RATIO]
A row is BUILD's figure beside OTHER's. Instructions are counted by valgrind. A busy machine moves
those of a worker, by when its threads meet: the fewest of several runs are shown, and --limit leaves
drains out. Time is that of user and system, the median ratio of runs that take turns.
"""
import argparse
import itertools
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

import big_schema
from server import Server

COUNT_COUNTED, COUNT_TIMED = 2000, 20000  # runs or payloads; a schema has a twentieth of it in jobs
CACHEGRIND = ["valgrind", "--fair-sched=yes", "--tool=cachegrind", "--cache-sim=no",
              "--cachegrind-out-file=/dev/null"]

Measure = Callable[[list[str]], float]


def instructions(words: list[str]) -> float:
    """Of the program and of the processes that it forks."""
    done = subprocess.run([*CACHEGRIND, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"compare: {' '.join(words)} failed:\n{done.stderr}")
    return sum(int(text.replace(",", "")) for text in re.findall(r"I +refs: +([\d,]+)", done.stderr))


def processor_s(words: list[str]) -> float:
    """Of the program and of the processes that it waits for."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"compare: {' '.join(words)} failed")
    return usage.ru_utime + usage.ru_stime


class Work:
    """A piece of work in an empty store, or one that needs no store."""

    def __init__(self, store: str, piece: str, empty_url: Callable[[], str]) -> None:
        self.name, self.piece, self.empty_url = f"{store} {piece}", piece, empty_url
        self.is_steady = not piece.startswith("drain")
        self.tries = 1 if self.is_steady else 5

    def measure(self, build: pathlib.Path, how: Measure, count: int) -> float:
        work, url = str(build / "tests/campaigns/bench/work"), self.empty_url()
        if not self.is_steady:  # a drain needs what it drains
            subprocess.run([work, "enqueue-many", url, str(count)], check=True)
        return how([work, self.piece, url, str(count)])


class Compile:
    """A verb of the compiler for a schema of many jobs."""

    is_steady = True
    tries = 1

    def __init__(self, verb: str, folder: pathlib.Path) -> None:
        self.name, self.verb, self.schema = f"culexc {verb}", verb, folder / "big.job"

    def measure(self, build: pathlib.Path, how: Measure, count: int) -> float:
        big_schema.write(self.schema, count // 20)
        return how([str(build / "codegen/cli/culexc"), self.verb, str(self.schema)])


def pieces(folder: pathlib.Path, redis: Server) -> Iterator[Work | Compile]:
    numbers = itertools.count()

    def sqlite_url() -> str:
        return f"sqlite:{folder}/jobs{next(numbers)}.db"

    def redis_url() -> str:
        redis.ask("FLUSHALL")
        return f"redis+unix://{redis.path}"

    yield Work("no store:", "codec", lambda: "-")
    for verb in ("check", "lint", "fmt", "ir"):
        yield Compile(verb, folder)
    for store, url in (("sqlite", sqlite_url), ("redis", redis_url)):
        for piece in ("enqueue", "enqueue-many", "drain", "drain-isolated"):
            yield Work(store, piece, url)


def fewest(piece: Work | Compile, *builds: pathlib.Path) -> list[float]:
    """For each build; they take turns, so that a busy minute meets all of them."""
    counts = [[piece.measure(build, instructions, COUNT_COUNTED) for build in builds]
              for _ in range(piece.tries)]
    return [min(of_build) for of_build in zip(*counts)]


def time_ratio(piece: Work | Compile, build: pathlib.Path, other: pathlib.Path, pairs: int) -> float:
    def spent(which: pathlib.Path) -> float:
        return piece.measure(which, processor_s, COUNT_TIMED)

    return statistics.median(spent(build) / spent(other) for _ in range(pairs))


def row_print(piece: Work | Compile, args: argparse.Namespace) -> float:
    count, beside = fewest(piece, args.build, args.other)
    time = f"{time_ratio(piece, args.build, args.other, args.pairs):8.3f}" if args.pairs else f"{'-':>8}"
    print(f"{piece.name:24} {count:14,.0f} {beside:14,.0f} {count / beside:8.3f} {time}", flush=True)
    return count / beside


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("other", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=9, help="runs of each whose time is taken (9)")
    parser.add_argument("--limit", type=float, default=float("inf"),
                        help="fail where a steady count is more than this ratio of the other")
    args = parser.parse_args()
    print(f"{'what':24} {'instructions':>14} {'of the other':>14} {'ratio':>8} {'of time':>8}")
    with tempfile.TemporaryDirectory() as folder:
        redis = Server(folder)
        try:
            above = [piece.name for piece in pieces(pathlib.Path(folder), redis)
                     if row_print(piece, args) > args.limit and piece.is_steady]
        finally:
            redis.stop()
    if above:
        sys.exit(f"compare: above {args.limit}: {', '.join(above)}")


main()
