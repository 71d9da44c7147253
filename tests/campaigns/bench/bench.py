"""Measures the product beside its floors: one JSON document, a table and plots of it.

usage: ./dev bench [--quick] [--peers] [--only TEXT]... [--rounds N] [--out FOLDER] [--list]
       ./dev bench --hour [--seconds N] [--only TEXT]...    flat or not; ends with 1 when it is not
       ./dev bench compiler    culexc, beside what a build does anyway
       ./dev bench asserts     what asserts cost

A floor is what the store can do at best for the same work, by bare calls: each row names its own.
Sides take turns, --rounds times (3), so both meet the same minutes. The median is shown, the median
of the rounds' ratios, and how far apart the values of a side were (spread). Absolute numbers are this
machine's; compare ratios, and those only from a machine that does nothing else.

Places: "same" has server and us on one processor, "cross" on two, "one" is one processor without a
server, "free" is all of them for everybody. build-release/bench gets bench.json (its form is
tests/campaigns/bench/document.schema.json) and the plots; draw.py beside it shows a document again.
--peers installs other job systems by their packages' names, and adds rows in which they do the same
work as ours; one that is missing or fails says so in its row. All rows take about an hour.
"""
import argparse
import datetime
import json
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile

import draw
import flat
import machine
from rows import HOUR_S, HOURS, ROWS, Row
from runner import rows_measure
from stores import Stores

ROUNDS = 3


def title(row: Row) -> str:
    return f"{row.group}: {row.name}, {row.store}, {row.place}"


def chosen(args: argparse.Namespace) -> list[tuple[Row, int]]:
    """Rows and their counts."""
    words = args.only or [""]
    if args.hour:
        return [(row, args.seconds) for row in HOURS if any(word in title(row) for word in words)]
    rows = [row for row in ROWS if (args.peers or not row.group.startswith("peers")) and any(word in title(row) for word in words)]
    counted = [(row, row.quick if args.quick else row.count) for row in rows]
    return [(row, count) for row, count in counted if count]


def commit() -> str:
    done = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True, text=True, check=False,
                          cwd=pathlib.Path(__file__).parent)
    return done.stdout.strip()


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("build", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="fewer rows and few runs: under two minutes where little else runs")
    parser.add_argument("--peers", action="store_true", help="rows of other job systems, too; ./dev installs them")
    parser.add_argument("--only", action="append", metavar="TEXT", help="rows with this in what --list prints")
    parser.add_argument("--rounds", type=int, help="how often each side is measured (3; with --hour 1)")
    parser.add_argument("--hour", action="store_true", help="runs at a steady rate for an hour: does anything grow?")
    parser.add_argument("--seconds", type=int, default=HOUR_S, help="so long in place of the hour")
    parser.add_argument("--out", type=pathlib.Path, help="where the document and the plots go (BUILD/bench)")
    parser.add_argument("--list", action="store_true", help="name the rows, measure nothing")
    args = parser.parse_args(words)
    args.rounds = args.rounds or (1 if args.hour else ROUNDS)
    return args


def measured(args: argparse.Namespace, rows: list[tuple[Row, int]]) -> dict:
    """The document. Each row is told when it is there."""
    def tell(row: dict) -> None:
        print("\n".join(f"{line}  {row['group']}" for line in draw.row_lines(row)), flush=True)

    with tempfile.TemporaryDirectory(prefix="culex-bench-") as folder:
        stores = Stores(folder, args.build.resolve())
        try:
            document = {"format": 1, "made_at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "is_quick": args.quick,
                        "rounds": args.rounds, "machine": machine.facts(),
                        "product": {"commit": commit(), "redis": stores.server_version(), "sqlite": sqlite3.sqlite_version}}
            document["rows"] = list(rows_measure(rows, stores, args.build.resolve(), args.rounds, tell))
        finally:
            stores.close()
    return document


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that programs and servers end, too
    args = arguments()
    rows = chosen(args)
    if args.list:
        print("\n".join(title(row) for row, _ in rows))
        return
    if not rows:
        sys.exit("bench: no row has that in its name; --list names them")
    try:
        document = measured(args, rows)
    except machine.Failure as failure:
        sys.exit(f"bench: {failure}")
    out = args.out or args.build / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "bench.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    draw.plots_write(document, out)
    print(f"\n{draw.table(document)}\n\n{out}: bench.json and {len(list(out.glob('*.svg')))} plots")
    if any(flat.is_judged(row) and flat.faults(row) for row in document["rows"]):
        sys.exit("bench: what a store or a process takes has grown, or the rate was not kept")


if __name__ == "__main__":
    main()
