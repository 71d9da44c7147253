"""Measures rows: each side in turn, several times, so that both meet the same minutes."""
import pathlib
import statistics
from collections.abc import Callable, Iterable, Iterator

import machine
from bed import Bed, Taken
from measures import MEASURES, Measure
from rows import Row
from stores import Stores

SIDES = ("floor", "product")

# The figures that measures give: their unit, and which is better.
FIGURES = {
    "rate": ("runs/s", "more"), "p50": ("us", "less"), "p99": ("us", "less"), "p999": ("us", "less"),
    "cpu": ("us a run", "less"),
    "bytes": ("B a run", "less"), "calls": ("calls/s", "less"), "resident": ("MiB", "less"),
    "store_growth": ("%", "less"), "resident_growth": ("%", "less"), "server_growth": ("%", "less"),
}


def summary(values: list[float]) -> dict:
    """The median, and how far apart the values are, as a part of it."""
    middle = statistics.median(values)
    spread = (max(values) - min(values)) / abs(middle) if middle else 0
    return {"median": round(middle, 3), "spread": round(spread, 3), "values": [round(value, 3) for value in values]}


def ratio_of(product: list[float], floor: list[float]) -> float | None:
    """The median of the rounds' ratios; None where a floor is nothing."""
    if any(value <= 0 for value in floor):
        return None
    return round(statistics.median(ours / bare for ours, bare in zip(product, floor)), 4)


def is_compared(unit: str) -> bool:
    """Growth has no ratio: the floor's is about zero."""
    return unit != "%"


def figure_of(name: str, rounds: dict[str, list[Taken]]) -> dict:
    product, floor = ([taken.values[name] for taken in rounds[side]] for side in ("product", "floor"))
    unit, better = FIGURES[name]
    return {"unit": unit, "better": better, "product": summary(product), "floor": summary(floor), 
            "ratio": ratio_of(product, floor) if is_compared(unit) else None}


def costs_of(rounds: dict[str, list[Taken]]) -> dict:
    return {side: {name: round(statistics.median(taken.costs[name] for taken in rounds[side]), 2) for name in rounds[side][0].costs}
            for side in SIDES}


def rounds_take(bed: Bed, measure: Measure, count: int) -> dict[str, list[Taken]]:
    rounds: dict[str, list[Taken]] = {side: [] for side in SIDES}
    if measure.ready is not None:
        measure.ready(bed)
    for number in range(count):
        for side in SIDES if number % 2 == 0 else SIDES[::-1]:
            rounds[side].append(measure.take(bed, side))
    return rounds


def row_head(row: Row) -> dict:
    head = {"group": row.group, "name": row.name, "store": row.store, "place": row.place, "floor": row.floor,
            "knobs": dict(row.knobs)}
    if row.axis is not None:
        head["axis"] = {"name": row.axis[0], "value": row.axis[1]}
    return head


def row_measure(row: Row, stores: Stores, build: pathlib.Path, count: int, round_count: int) -> dict:
    """A row of the document; one that cannot be measured here says why."""
    head = {**row_head(row), "count": count}
    try:
        with stores.open(row.store) as store:
            rounds = rounds_take(Bed(row, store, build, count), MEASURES[row.what], round_count)
            store.clear()
    except machine.Skip as skip:
        return {**head, "skipped": str(skip)}
    names = rounds["product"][0].values
    measured = {**head, "figures": {name: figure_of(name, rounds) for name in names}, "costs": costs_of(rounds)}
    if rounds["product"][0].series:
        measured["series"] = {side: rounds[side][-1].series for side in SIDES}
    return measured


def rows_measure(rows: Iterable[tuple[Row, int]], stores: Stores, build: pathlib.Path, round_count: int,
                 tell: Callable[[dict], None]) -> Iterator[dict]:
    for row, count in rows:
        measured = row_measure(row, stores, build, count, round_count)
        tell(measured)
        yield measured
