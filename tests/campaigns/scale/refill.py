"""Measures the product for the figures of docs/scale.md, with the programs and servers of ./dev bench.

What a call costs and what a run costs are told apart by two sizes of calls. Bytes are the server's own count.
"""
import pathlib
import sys
import tempfile

sys.path.insert(1, str(pathlib.Path(__file__).parents[1] / "bench"))

from bed import Bed, Taken  # noqa: E402
from rows import Row, knobs  # noqa: E402
from stores import Stores  # noqa: E402

KEEP_MS, SECONDS = 3_600_000, 8
SMALL, LARGE = {"enqueue": (1, 5000), "drain": (32, 60000)}, {"enqueue": (500, 100000), "drain": (128, 120000)}


def two_parts(small: tuple[float, float], large: tuple[float, float]) -> tuple[float, float]:
    """What a call costs and what a run costs, of (runs a call, cost a run) in two sizes."""
    call = (small[1] - large[1]) / (1 / small[0] - 1 / large[0])
    return call, large[1] - call / large[0]


def wire_bytes(bed: Bed) -> int:
    info = bed.store.server.ask("INFO", "stats")
    return sum(int(info.partition(f"total_net_{way}_bytes:")[2].split()[0]) for way in ("input", "output"))


def taken(bed: Bed, verb: str, batch: int, count: int, **more) -> tuple[Taken, float]:
    """The row's costs, and bytes a run."""
    bed.store.clear()
    if verb == "drain":
        bed.run("product", "enqueue", count=count, batch=100, keep_ms=KEEP_MS)
    before = wire_bytes(bed)
    made = bed.run_rated("product", verb, count=count, batch=batch, **{"keep_ms": KEEP_MS, **more})
    return made, (wire_bytes(bed) - before) / count


def verb_parts(bed: Bed, verb: str) -> dict[str, tuple[float, float]]:
    """Of the server's time and of the wire: a call's part and a run's; our own time a run, in large calls."""
    sizes = [SMALL[verb], LARGE[verb]]
    made = [taken(bed, verb, *size) for size in sizes]
    points = [[(size[0], value) for size, value in zip(sizes, values)]
              for values in ([row.costs["server_cpu_us"] for row, _ in made], [size for _, size in made])]
    return {"server": two_parts(*points[0]), "wire": two_parts(*points[1]), "own": (0, made[1][0].costs["cpu_us"])}


def loop_us(bed: Bed, keep_ms: int) -> float:
    """Of the server, each run that comes and goes."""
    bed.store.clear()
    return bed.run_rated("product", "mixed", seconds=SECONDS, window=1000, keep_ms=keep_ms).costs["server_cpu_us"]


def waiting_bytes(bed: Bed, count: int = 50000) -> float:
    bed.store.clear()
    before = bed.store.bytes_held("product")
    bed.run("product", "enqueue", count=count, batch=100, bytes=32)
    return (bed.store.bytes_held("product") - before) / count - 32


def figures_of(bed: Bed) -> dict[str, float]:
    enqueue, step = verb_parts(bed, "enqueue"), verb_parts(bed, "drain")
    return {"enqueue_call": enqueue["server"][0], "enqueue_run": enqueue["server"][1], "step_call": step["server"][0],
            "step_run": step["server"][1], "forget_run": max(0, loop_us(bed, 1000) - loop_us(bed, 0)),
            "enqueue_bytes": enqueue["wire"][1], "step_bytes": step["wire"][1],
            "call_bytes": (enqueue["wire"][0] + step["wire"][0]) / 2, "waiting_bytes": waiting_bytes(bed),
            "producer_run": enqueue["own"][1], "worker_run": step["own"][1]}


def measured(build: pathlib.Path) -> dict[str, float]:
    row = Row("scale", "figures", "enqueue", "", store="redis tcp", place="cross", knobs=knobs())
    with tempfile.TemporaryDirectory(prefix="culex-scale-") as folder:
        stores = Stores(folder, build.resolve())
        try:
            with stores.open(row.store) as store:
                return figures_of(Bed(row, store, build.resolve(), 0))
        finally:
            stores.close()
