"""How each kind of row is measured: one function takes one value of one side.

`ready` stands before the rounds of a row, where something is filled or tuned once.
"""
import dataclasses
import statistics
import subprocess
import time
from collections.abc import Callable

import machine
import peers
from bed import Bed, Taken
from flat import SERIES, quarters

FILL = 100  # runs in a call of those that are only there to be worked off
SAMPLE_S, SAMPLES_MAX = 0.1, 3600  # of one series
GROWTH_S = 10  # in less time a store only fills up
FLOOR_S = 60  # the floor of an hour is measured for so long
HEADROOM = 1_200  # bytes of memory that a waiting run may take, both sides together
PERCENTILES = {"p50": 1, "p99": 200, "p999": 2000}  # and the fewest runs that they say something of
AHEAD = 32  # runs
HOUR_MS = 3_600_000
EVENTS = 10_000  # that are kept, fewer than there are


def fill(bed: Bed, side: str, count: int, **knobs) -> None:
    bed.run(side, "enqueue", count=count, batch=FILL, **{**bed.knobs_of("bytes", "keep_ms", "synchronous"), **knobs})


# --- runs a second ---------------------------------------------------------------------------

def enqueue(bed: Bed, side: str) -> Taken:
    bed.store.clear()
    return bed.run_rated(side, "enqueue", count=bed.count, **bed.knobs)


def drain(bed: Bed, side: str) -> Taken:
    bed.store.clear()
    fill(bed, side, bed.count)
    return bed.run_rated(side, "drain", count=bed.count, **bed.knobs)


def mixed(bed: Bed, side: str) -> Taken:
    bed.store.clear()
    return bed.run_rated(side, "mixed", count=bed.count, **bed.knobs)


def codec(bed: Bed, side: str) -> Taken:
    return bed.run_rated(side, "codec", count=bed.count)


# --- beside a backlog ------------------------------------------------------------------------

def backlog_ready(bed: Bed) -> None:
    backlog = bed.knobs["backlog"]
    if machine.memory_free_bytes() < backlog * HEADROOM:
        raise machine.Skip(f"not enough free memory for {backlog:,} runs")
    bed.store.clear()
    for side in ("floor", "product"):
        fill(bed, side, backlog)


def enqueue_beside(bed: Bed, side: str) -> Taken:
    taken = bed.run_rated(side, "enqueue", count=bed.count, batch=FILL)
    bed.run(side, "drain", stop_after=bed.count)
    return taken


def drain_beside(bed: Bed, side: str) -> Taken:
    taken = bed.run_rated(side, "drain", stop_after=bed.count)
    fill(bed, side, bed.count)
    return taken


# --- follow-ups ------------------------------------------------------------------------------

def follow(bed: Bed, side: str) -> Taken:
    """Drains runs with a follow-up each, and these; the floor is the product, that enqueues them by a call of their own."""
    bed.store.clear()
    fill(bed, "product", bed.count)
    how = {"product": 1, "floor": 2}[side]
    return Taken({"rate": bed.count / bed.run("product", "drain", count=2 * bed.count, follow=how, **bed.knobs).answer["seconds"]})


# --- batches ---------------------------------------------------------------------------------

def drain_in_batch(bed: Bed, side: str) -> Taken:
    """The floor is the product, with runs of no batch. Whoever drains has seen one callback, or fails."""
    bed.store.clear()
    how = {"in_batch": int(side == "product")}
    fill(bed, "product", bed.count, **how)
    return bed.run_rated("product", "drain", count=bed.count, **how, **bed.knobs)


# --- what is told of runs --------------------------------------------------------------------

def drain_told(bed: Bed, side: str, silent: dict, told: dict) -> Taken:
    """Processor time of both sides together; the floor is the product that tells nothing."""
    bed.store.clear()
    fill(bed, "product", bed.count)
    taken = bed.run_rated("product", "drain", count=bed.count, **bed.knobs, **(told if side == "product" else silent))
    return Taken({"cpu": taken.costs["cpu_us"] + taken.costs.get("server_cpu_us", 0), **taken.values}, taken.costs)


def drain_with_events(bed: Bed, side: str) -> Taken:
    return drain_told(bed, side, {}, {"events": EVENTS})


def drain_with_figures(bed: Bed, side: str) -> Taken:
    return drain_told(bed, side, {"is_uncounted": 1}, {})


# --- unique runs and limits ------------------------------------------------------------------

def through(bed: Bed, side: str) -> Taken:
    """From enqueue to done, one after the other; the floor is the product, with nothing declared."""
    bed.store.clear()
    knobs = {"count": bed.count, "is_declared": int(side == "product"), **bed.knobs}
    spent = [bed.run("product", verb, **knobs).answer["seconds"] for verb in ("enqueue", "drain")]
    return Taken({"rate": bed.count / sum(spent)})


def through_declared(bed: Bed, side: str) -> Taken:
    """As above; the floor has what is declared, too, by bare calls."""
    bed.store.clear()
    spent = [bed.run(side, verb, count=bed.count, is_declared=1, **bed.knobs).answer["seconds"] for verb in ("enqueue", "drain")]
    return Taken({"rate": bed.count / sum(spent)})


def drain_beside_parked(bed: Bed, side: str) -> Taken:
    """The floor is the product, with nothing parked."""
    bed.store.clear()
    if side == "product":
        fill(bed, side, bed.knobs["backlog"], is_parked=1)
        bed.run(side, "drain", stop_after=1)
    fill(bed, "product", bed.count)
    return bed.run_rated("product", "drain", stop_after=bed.count)


# --- from enqueue to start -------------------------------------------------------------------

def start(bed: Bed, side: str) -> Taken:
    bed.store.clear()
    spent = bed.run(side, "start", count=bed.count, **bed.knobs)
    return Taken({name: spent.answer[name] for name, least in PERCENTILES.items() if bed.count >= least})


def load_ready(bed: Bed) -> None:
    """Half of what the product can do in this minute, enqueued one by one and started meanwhile, few ahead."""
    bed.store.clear()
    answer = bed.run("product", "mixed", count=bed.count, window=AHEAD, bulk=1, **bed.knobs).answer
    bed.knobs["rate"] = max(1, int(answer["count"] / answer["seconds"] / 2))


# --- a worker without work -------------------------------------------------------------------

def idle(bed: Bed, side: str) -> Taken:
    """Only Redis counts calls; those inside scripts count too."""
    bed.store.clear()
    process = bed.start(side, "idle", stdin=subprocess.PIPE, seconds=bed.count, **bed.knobs)
    worker = int(process.stdout.readline().split()[1])
    bed.store.server.ask("CONFIG", "RESETSTAT")
    process.stdout.readline()
    calls = sum(count for name, count in bed.store.server.calls().items() if not name.startswith(("config", "info")))
    resident = machine.resident_kib(worker) / 1024
    process.stdin.close()
    machine.program_end(process)
    return Taken({"calls": calls / bed.count, "resident": resident})


# --- bytes of a run --------------------------------------------------------------------------

def bytes_of(bed: Bed, side: str, keep_ms: int, is_done: bool) -> Taken:
    """What `count` runs have added; as many again are there before, for what all of them share."""
    bed.store.clear()
    held = []
    for _ in range(2):
        fill(bed, side, bed.count, keep_ms=keep_ms)
        if is_done:
            bed.run(side, "drain", count=bed.count, keep_ms=keep_ms)
        bed.store.settle(side)
        held.append(bed.store.bytes_held(side))
    return Taken({"bytes": (held[1] - held[0]) / bed.count})


def bytes_waiting(bed: Bed, side: str) -> Taken:
    return bytes_of(bed, side, HOUR_MS, False)


def bytes_done(bed: Bed, side: str) -> Taken:
    return bytes_of(bed, side, HOUR_MS, True)


def bytes_forgotten(bed: Bed, side: str) -> Taken:
    return bytes_of(bed, side, 0, True)


# --- for long --------------------------------------------------------------------------------

def sampled(bed: Bed, process: subprocess.Popen, side: str, seconds: float) -> list[list[float]]:
    """Rows of seconds, bytes in the store, resident KiB of our processes, and of the server."""
    begun, rows = time.monotonic(), []
    while time.monotonic() - begun < seconds:
        time.sleep(max(SAMPLE_S, seconds / SAMPLES_MAX))
        rows.append([round(time.monotonic() - begun, 2), bed.store.bytes_held(side), machine.family_kib(process.pid),
                     bed.store.resident_kib()])
    return rows


def growth_percent(values: list[float]) -> float:
    """Of the last quarter over the second one; the first is for filling up."""
    _, early, _, late = quarters(values)
    return 100 * (late - early) / early if early else 0


def loop(bed: Bed, side: str, seconds: int) -> Taken:
    bed.store.clear()
    process = bed.start(side, "mixed", seconds=seconds, **bed.knobs)
    series = sampled(bed, process, side, seconds)
    answer = machine.program_end(process).answer
    values = {"rate": answer["count"] / answer["seconds"]}
    if bed.count >= GROWTH_S:
        for at, name in enumerate(SERIES, 1):
            values[f"{name}_growth"] = growth_percent([row[at] for row in series])
    return Taken(values, series=series)


def sustained(bed: Bed, side: str) -> Taken:
    return loop(bed, side, bed.count)


def paced(bed: Bed, side: str) -> Taken:
    """At a rate, for long. The floor is there to be compared with, not to be judged."""
    return loop(bed, side, min(bed.count, FLOOR_S) if side == "floor" else bed.count)


# --- peers -----------------------------------------------------------------------------------

def peer_ready(bed: Bed) -> None:
    peers.check(bed.knobs["peer"], bed.peers_folder)


def peer_enqueue(bed: Bed, side: str) -> Taken:
    bed.store.clear()
    if side == "floor" or bed.knobs["peer"] == "culex":
        return bed.run_rated(side, "enqueue", count=bed.count, batch=1)
    with peers.running(bed.knobs["peer"], bed) as peer:
        return bed.rated(peer.run("enqueue", bed.count))


def peer_drain(bed: Bed, side: str) -> Taken:
    bed.store.clear()
    if side == "floor" or bed.knobs["peer"] == "culex":
        fill(bed, side, bed.count)
        return bed.run_rated(side, "drain", count=bed.count)
    with peers.running(bed.knobs["peer"], bed) as peer:
        peer.run("enqueue", bed.count)
        return bed.rated(peer.run("drain", bed.count))


@dataclasses.dataclass(frozen=True)
class Measure:
    take: Callable[[Bed, str], Taken]
    ready: Callable[[Bed], None] | None = None


MEASURES = {
    "enqueue": Measure(enqueue), "drain": Measure(drain), "mixed": Measure(mixed), "codec": Measure(codec),
    "enqueue_beside": Measure(enqueue_beside, backlog_ready), "drain_beside": Measure(drain_beside, backlog_ready),
    "follow": Measure(follow), "through": Measure(through), "through_declared": Measure(through_declared), "drain_beside_parked": Measure(drain_beside_parked),
    "drain_in_batch": Measure(drain_in_batch), "drain_with_events": Measure(drain_with_events), "drain_with_figures": Measure(drain_with_figures),
    "start": Measure(start), "start_at_half_load": Measure(start, load_ready), "idle": Measure(idle),
    "bytes_waiting": Measure(bytes_waiting), "bytes_done": Measure(bytes_done), "bytes_forgotten": Measure(bytes_forgotten),
    "sustained": Measure(sustained), "paced": Measure(paced), "peer_enqueue": Measure(peer_enqueue, peer_ready), "peer_drain": Measure(peer_drain, peer_ready),
}
