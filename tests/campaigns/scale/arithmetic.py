"""How far servers, wires and programs reach, by the figures alone."""
import math

from figures import Figures

CALL_RUNS, STEP_RUNS = 100, 128  # runs in a producer's call and in a worker's step when there is much to do
LOAD = 0.7  # of a server: beyond that, calls wait for each other
PACKET_BYTES = 1448
RATES = (100_000, 1_000_000, 10_000_000)


def enqueue_us(figures: Figures, runs: float) -> float:
    """A run's share of a call."""
    return figures.enqueue_call / runs + figures.enqueue_run


def step_us(figures: Figures, runs: float, is_kept: bool = False) -> float:
    return figures.step_call / runs + figures.step_run + (figures.forget_run if is_kept else 0)


def life_us(figures: Figures, is_kept: bool = False) -> float:
    """A run's whole life on the server."""
    return enqueue_us(figures, CALL_RUNS) + step_us(figures, STEP_RUNS, is_kept)


def nodes_for(figures: Figures, rate: float, is_kept: bool) -> int:
    return math.ceil(rate * life_us(figures, is_kept) / 1e6 / LOAD)


def life_bytes(figures: Figures) -> float:
    return (figures.enqueue_bytes + figures.step_bytes + figures.call_bytes * (1 / CALL_RUNS + 1 / STEP_RUNS))


def packets(figures: Figures) -> float:
    """A run's share of full packets, and one each way a call at least."""
    return sum(max(2, 1 + math.ceil(size * runs / PACKET_BYTES)) / runs
               for size, runs in ((figures.enqueue_bytes, CALL_RUNS), (figures.step_bytes, STEP_RUNS)))


def row_of(figures: Figures, rate: int) -> list[str]:
    nodes = [nodes_for(figures, rate, is_kept) for is_kept in (False, True)]
    gigabits = 8 * rate * life_bytes(figures) / 1e9
    return [f"{rate:,}", f"{nodes[0]}", f"{nodes[1]}", f"{gigabits:.2f}", f"{gigabits / nodes[0]:.2f}", f"{rate * packets(figures):,.0f}",
            f"{rate * figures.producer_run / 1e6:.1f}", f"{rate * figures.worker_run / 1e6:.1f}",
            f"{rate * figures.waiting_bytes / 2 ** 30:.2f}"]


HEAD = ["runs/s", "servers, keep 0", "servers, keep 1 s", "Gbit/s, all", "Gbit/s a server", "packets/s, all", "processors of producers",
        "processors of workers", "GiB for a second's backlog"]


def table(head: list[str], rows: list[list[str]]) -> str:
    return "".join("| " + " | ".join(cells) + " |\n" for cells in [head, ["---:"] * len(head), *rows])


def arithmetic_table(figures: Figures) -> str:
    return table(HEAD, [row_of(figures, rate) for rate in RATES])
