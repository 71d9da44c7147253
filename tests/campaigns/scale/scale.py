"""How far a hot queue reaches in partitions on several servers: arithmetic and a simulation.

usage: ./dev scale                     the tables of docs/scale.md, from its figures
       ./dev scale --write             writes them into that page
       ./dev scale --refill            measures the product's column of the figures first, by what ./dev bench measures
       ./dev scale --world KEY=VALUE...    one world of the simulation; keys are those of World in model.py

--column product takes that column where it is known, in place of the prototype's.
"""
import argparse
import dataclasses
import math
import pathlib
import sys

import arithmetic
import figures
from model import Result, World, simulate

# What the page shows: what a row is about, and the world.
FOUR = {"rate": 1_000_000, "nodes": 4, "workers": 32, "producers": 32}
WORLDS = [
    ("one partition on one server, half its load", {"rate": 180_000, "workers": 8}),
    ("one partition on one server, as much as it takes", {"rate": 2_000_000, "window": 20_000, "workers": 16}),
    ("4 servers with a partition each", {**FOUR, "partitions": 4}),
    ("4 servers, 16 partitions, a worker serves the 4 of its server", {**FOUR, "partitions": 16}),
    ("4 servers, 64 partitions, a worker serves the 16 of its server", {**FOUR, "partitions": 64}),
    ("4 servers, 64 partitions, a worker serves 4 of its server", {**FOUR, "partitions": 64, "serves": 4}),
    ("the same, a tenth of the calls goes to one partition", {**FOUR, "partitions": 64, "serves": 4, "hot_share": 0.1}),
    ("4 servers, 64 partitions, a worker that reached all would serve 64", {**FOUR, "partitions": 64, "is_bound": False}),
    ("4 servers, 16 partitions, nearly idle", {**FOUR, "rate": 1_000, "call_runs": 1, "partitions": 16}),
]
HEAD = ["world", "runs/s", "wait p50, ms", "wait p99, ms", "busiest server", "its load over the mean", "deepest partition over the mean",
        "servers' time for empty steps", "runs a step"]


def result_cells(result: Result) -> list[str]:
    return [f"{result.rate:,.0f}", f"{result.wait_p50_ms:.2f}", f"{result.wait_p99_ms:.2f}", f"{100 * result.load:.0f} %",
            f"{result.node_imbalance:.2f}", f"{result.depth_imbalance:.2f}", f"{100 * result.empty_part:.1f} %", f"{result.runs_a_step:.0f}"]


def simulation_table(known: figures.Figures) -> str:
    rows = [[name, *result_cells(simulate(World(figures=known, **world)))] for name, world in WORLDS]
    return arithmetic.table(HEAD, rows).replace("| ---: |", "|---|", 1)


def page_written(page: str, column: str) -> str:
    """The page with both tables made of its figures."""
    known = figures.figures_read(column, page)
    page = figures.part_replaced(page, "arithmetic", arithmetic.arithmetic_table(known))
    return figures.part_replaced(page, "simulation", simulation_table(known))


POSITIVE = ("partitions", "nodes", "call_runs", "step_runs", "seconds")
WORDS = {"0": False, "false": False, "1": True, "true": True}


def value_read(word: str, kind: type) -> int | float | bool:
    """What KEY=VALUE says, or the end of the program."""
    name, _, text = word.partition("=")
    try:
        value = WORDS[text] if kind is bool else kind(text)
    except (KeyError, ValueError):
        value = math.nan
    if not 0 <= value < math.inf or (name in POSITIVE and value == 0):
        wanted = {bool: "0 or 1", int: "a whole number", float: "a number"}[kind]
        least = "" if kind is bool else " above 0" if name in POSITIVE else " from 0 on"
        sys.exit(f"scale: {name} takes {wanted}{least}, not '{text}'")
    return value


def world_read(words: list[str], known: figures.Figures) -> World:
    kinds = {field.name: field.type for field in dataclasses.fields(World)}
    values = {}
    for word in words:
        name = word.partition("=")[0]
        if kinds.get(name) not in (int, float, bool):
            sys.exit(f"scale: no such key: {word}; there are {', '.join(name for name in kinds if name != 'figures')}")
        values[name] = value_read(word, kinds[name])
    return World(figures=known, **values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("--build", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--column", choices=figures.COLUMNS, default="prototype")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--refill", action="store_true")
    parser.add_argument("--world", nargs="*", metavar="KEY=VALUE")
    args = parser.parse_args()
    page = figures.PAGE.read_text(encoding="utf-8")
    if args.refill:
        import refill  # it needs a build and a server
        page = figures.product_replaced(page, refill.measured(args.build))
    known = figures.figures_read(args.column, page)
    if args.world is not None:
        print(simulate(world_read(args.world, known)))
        return
    if args.write or args.refill:
        figures.PAGE.write_text(page_written(page, args.column), encoding="utf-8")
        return
    print(arithmetic.arithmetic_table(known), simulation_table(known), sep="\n")


if __name__ == "__main__":
    main()
