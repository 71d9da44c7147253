"""Whether what a long loop takes stays as it is: the quarters of a series, and the verdict on a row.

A row is flat when the rate that was asked for was kept, and neither the store nor the server nor our own
processes had more in the last quarter than in the second, by the mean of their samples, by more than
FLAT_PERCENT and FLAT_MIB. The first quarter is for filling up: a kept success stays for its time, an idempotency key
and a producer for theirs. A leak of one byte a run would add 90 MB from the middle of the second quarter of an
hour at 50,000 runs a second to that of the last: far more than either.
"""
import statistics

SERIES = ("store", "resident", "server")  # behind the seconds of a sample
SCALES = {"store": 2 ** 20, "resident": 2 ** 10, "server": 2 ** 10}  # to MiB
FLAT_PERCENT, FLAT_MIB = 2, 1  # the second for what is small and varies
RATE_PART = 0.98


def quarters(values: list[float]) -> list[float]:
    size = len(values) // 4
    return [statistics.mean(values[at * size:(at + 1) * size] or [0]) for at in range(4)]


def quarters_of(row: dict, side: str) -> dict[str, list[float]]:
    """MiB of each series of a row of the document."""
    return {name: [mean / SCALES[name] for mean in quarters([sample[at] for sample in row["series"][side]])]
            for at, name in enumerate(SERIES, 1)}


def faults(row: dict) -> list[str]:
    """What keeps a paced row from being flat."""
    figures, asked = row["figures"], row["knobs"]["rate"]
    rate = figures["rate"]["product"]["median"]
    found = [f"{rate:,.0f} runs/s of {asked:,}"] if rate < RATE_PART * asked else []
    for name, (_, early, _, late) in quarters_of(row, "product").items():
        if late - early > max(FLAT_MIB, early * FLAT_PERCENT / 100):
            found.append(f"{name} grew by {late - early:.1f} MiB")
    return found


def is_judged(row: dict) -> bool:
    """One that was paced, for long enough to tell."""
    return "rate" in row["knobs"] and "store_growth" in row.get("figures", {})


def verdict(row: dict) -> str:
    return ", ".join(faults(row)) or "flat"
