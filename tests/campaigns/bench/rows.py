"""The table of all that ./dev bench measures: one row is one figure of the product beside its floor."""
import dataclasses
import itertools


@dataclasses.dataclass(frozen=True)
class Row:
    group: str  # rows that are plotted together
    name: str  # within its group
    what: str  # a function of measures.py
    floor: str  # in words
    store: str = "redis"  # a row of stores.py
    place: str = "cross"  # a row of machine.py
    knobs: tuple[tuple[str, object], ...] = ()  # of knobs.h
    count: int = 20000  # runs in a round; where a backlog is made, those that are measured
    quick: int = 0  # the same with --quick; 0: not there
    axis: tuple[str, float] | None = None  # its place on a plot of lines, and what that axis is


SCRIPT = "one script a call: a record, a payload and a place in line for each run"
TAKE = "one script a call: forget the last ones, take the next ones with their payloads"
HANDS = {"none": "", "process": "; a byte to a child and back for each run", "job": "; a fork for each run"}
DECLARED = "bare calls that keep a unique key for each run and count what starts and ends"
INSERT = "one transaction a call: a row of the same columns and one index"
QUICK_STARTS = {("redis", "none", "idle"), ("redis", "process", "idle"), ("redis", "none", "half load"), ("sqlite", "none", "idle")}


HOUR_S = 3600


def knobs(**values) -> tuple[tuple[str, object], ...]:
    return tuple(values.items())


def batch_name(batch: int) -> str:
    return f"batch {batch}" if batch else "batch auto"


def drains() -> list[Row]:
    rows = []
    for isolation, batch in itertools.product(("none", "process", "job"), (1, 8, 32, 128, 0)):
        count, quick = {"none": (60000, 3000), "process": (30000, 1500), "job": (3000, 150)}[isolation]
        few = 5 if batch == 1 else 1
        rows.append(Row("drain", f"{isolation}, {batch_name(batch)}", "drain", TAKE + HANDS[isolation],
                        knobs=knobs(isolation=isolation, batch=batch), count=count // few,
                        quick=quick // few if batch in (1, 32, 0) and (isolation != "job" or batch == 0) else 0,
                        axis=("runs in a step", batch) if batch else None))
    for isolation, handlers in itertools.product(("none", "process"), (2, 4, 8)):
        rows.append(Row("drain by handlers", f"{isolation}, {handlers} handlers", "drain", TAKE + HANDS[isolation], place="free",
                        knobs=knobs(isolation=isolation, handlers=handlers), count=60000,
                        quick=2000 if handlers == 8 else 0))
    for isolation in ("none", "process"):
        rows.append(Row("drain by handlers", f"{isolation}, 2 workers", "drain", TAKE + HANDS[isolation] + "; two of them",
                        place="free", knobs=knobs(isolation=isolation, processes=2), count=60000,
                        quick=2000 if isolation == "none" else 0))
    for percent in (1, 50):
        rows.append(Row("drain with failures", f"{percent} % fail once", "drain", TAKE + "; nothing fails",
                        knobs=knobs(fail_percent=percent), count=30000, quick=1000 if percent == 50 else 0))
    for store, place in (("redis", "same"), ("redis tcp", "cross"), ("redis tcp", "same")):
        rows.append(Row("drain", "none, batch auto", "drain", TAKE, store=store, place=place, count=60000,
                        quick=3000 if (store, place) != ("redis tcp", "same") else 0))
    rows.append(Row("drain", "none, batch auto, keep 0", "drain", TAKE, knobs=knobs(keep_ms=0), count=60000))
    rows.append(Row("drain", "none, batch auto", "drain", "one transaction a call, as of Redis", store="sqlite", place="one",
                    count=60000, quick=3000))
    return rows


def told() -> list[Row]:
    rows = []
    for (store, place), what in itertools.product((("redis", "cross"), ("sqlite", "one")), ("events", "figures")):
        rows.append(Row("what is told of runs", what, f"drain_with_{what}", f"the same without {what}", store=store, place=place,
                        count=60000, quick=3000 if what == "events" else 0))
    return rows


def batches() -> list[Row]:
    return [Row("drain of one batch", f"{count:,} members", "drain_in_batch", "the same in no batch", store=store, place=place,
                count=count, quick=2000 if count == 60000 else 0)
            for (store, place), count in itertools.product((("redis", "cross"), ("sqlite", "one")), (60000, 1000000))]


def enqueues() -> list[Row]:
    rows = []
    for (store, place), (name, batch, count) in itertools.product(
            (("redis", "cross"), ("redis", "same"), ("redis tcp", "cross"), ("redis tcp", "same")),
            (("one by one", 1, 20000), ("bulk of 100", 100, 60000))):
        rows.append(Row("enqueue", name, "enqueue", SCRIPT, store=store, place=place, knobs=knobs(batch=batch), count=count,
                        quick=0 if (store, place) == ("redis tcp", "same") else count // 20))
    rows.append(Row("enqueue", "8 threads", "enqueue", SCRIPT + "; 8 threads", place="free", knobs=knobs(batch=1, threads=8),
                    count=24000, quick=1200))
    for store, floor, values in (("redis", SCRIPT, {}), ("sqlite", INSERT, {"synchronous": "full"})):
        rows.append(Row("enqueue", "8 threads, one client", "enqueue", floor + "; 8 threads, each with a connection", store=store,
                        place="free", knobs=knobs(batch=1, threads=8, is_shared=1, **values), count=24000 if store == "redis" else 8000,
                        quick=1200 if store == "redis" else 400))
    rows.append(Row("enqueue", "worked off meanwhile", "mixed", "the same two scripts beside each other", place="free",
                    count=60000, quick=3000))
    rows.append(Row("enqueue", "one by one, worked off meanwhile", "mixed", "the same two scripts beside each other", place="free",
                    knobs=knobs(bulk=1), count=20000, quick=1000))
    return rows


def limits() -> list[Row]:
    rows = []
    for store, place in (("redis", "cross"), ("sqlite", "one")):
        for name, batch, count in (("one by one", 1, 20000), ("bulk of 100", 100, 60000)):
            rows.append(Row("unique, rate and concurrency", f"from enqueue to done, {name}", "through", "the same job without them",
                            store=store, place=place, knobs=knobs(batch=batch), count=count,
                            quick=count // 20 if batch == 100 else 0))
            rows.append(Row("unique, rate and concurrency", f"beside bare calls, {name}", "through_declared", DECLARED,
                            store=store, place=place, knobs=knobs(batch=batch), count=count))
        for parked in (10 ** 4, 10 ** 6):
            rows.append(Row("drain beside parked runs", f"{parked:,} parked", "drain_beside_parked", "the same with nothing parked",
                            store=store, place=place, knobs=knobs(backlog=parked), count=20000,
                            quick=1000 if parked == 10 ** 4 else 0, axis=("runs that are parked", parked)))
    return rows


def follow_ups() -> list[Row]:
    rows = []
    for (store, place), isolation in itertools.product((("redis", "cross"), ("sqlite", "one")), ("none", "process")):
        rows.append(Row("follow-ups", f"one for each run, {isolation}", "follow", "each by a call of its own", store=store, place=place,
                        knobs=knobs(isolation=isolation), count=4000, quick=200 if isolation == "process" else 0))
    return rows


def starts() -> list[Row]:
    rows = []
    for store, isolation, load in itertools.product(("redis", "sqlite"), ("none", "process"), ("idle", "half load")):
        rows.append(Row("start", f"{isolation}, {load}", "start" if load == "idle" else "start_at_half_load",
                        "a blocking pop, or a bell beside SQLite" + HANDS[isolation] + ("" if load == "idle" else "; the same load"),
                        store=store, place="free", knobs=knobs(isolation=isolation),
                        count=2000 if load == "idle" else 6000, quick=200 if (store, isolation, load) in QUICK_STARTS else 0))
    rows.append(Row("idle", "a worker without work", "idle", "a blocking pop", place="free", count=20, quick=1))
    return rows


def sizes_of_runs() -> list[Row]:
    kept = "the same record and payload, bare"
    return [Row("memory", f"a {state} run", f"bytes_{state}", kept if state == "waiting" else "nothing", store=store, place="free",
                count=50000, quick=1500) for store in ("redis", "sqlite") for state in ("waiting", "done", "forgotten")]


def sustained() -> list[Row]:
    return [Row("sustained", "closed loop", "sustained", "the bare scripts, or transactions, in such a loop",
                store=store, place="free", knobs=knobs(window=1000), count=60, quick=1) for store in ("redis", "sqlite")]


def hours() -> list[Row]:
    """Those of --hour: at a rate that is kept, what is taken must not grow."""
    return [Row("an hour", f"{rate:,} runs/s, keep {keep_ms} ms", "paced", "the bare scripts, or transactions, in such a loop, for a minute",
                store=store, place="free", knobs=knobs(window=1000, rate=rate, keep_ms=keep_ms), count=HOUR_S)
            for store, rate in (("redis", 50000), ("sqlite", 20000)) for keep_ms in (0, 1000)]


def payloads() -> list[Row]:
    rows = []
    for verb, size in itertools.product(("enqueue", "drain"), (20, 200, 2048, 16384, 65536)):
        count = 20000 if size < 10000 else 3000
        rows.append(Row(f"{verb} by payload", f"{size} B", verb, SCRIPT if verb == "enqueue" else TAKE,
                        knobs=knobs(bytes=size, **({"batch": 1} if verb == "enqueue" else {})), count=count,
                        quick=count // 20 if size == 65536 else 0, axis=("bytes of a payload", size)))
    return rows


def backlogs() -> list[Row]:
    rows = []
    for store, power in itertools.product(("redis", "sqlite"), range(3, 8)):
        if store == "sqlite" and power > 6:
            continue  # the file alone would take minutes
        waiting, few = 10 ** power, min(10 ** power // 2, 20000)
        for verb in ("enqueue", "drain"):
            rows.append(Row(f"{verb} by backlog", f"{waiting:,} waiting", f"{verb}_beside", SCRIPT if verb == "enqueue" else TAKE,
                            store=store, place="cross" if store == "redis" else "one", knobs=knobs(backlog=waiting), count=few,
                            quick=1000 if power == 4 and store == "redis" else 0, axis=("runs that wait", waiting)))
    return rows


def sqlite_processes() -> list[Row]:
    rows = []
    counts = {("full", "enqueue"): 5000, ("normal", "enqueue"): 20000}  # a drain of fewer than these is over before all have begun
    for synchronous, processes, verb in itertools.product(("full", "normal"), (1, 2, 4, 8), ("enqueue", "drain")):
        rows.append(Row(f"SQLite {synchronous}", f"{verb}, {processes} process{'es' if processes > 1 else ''}", verb,
                        INSERT if verb == "enqueue" else "a transaction a call", store="sqlite", place="free",
                        knobs=knobs(synchronous=synchronous, processes=processes),
                        count=counts.get((synchronous, verb), 400000), quick=240 if processes in (1, 8) else 0, axis=("processes", processes)))
    return rows


def persistence() -> list[Row]:
    rows = []
    for mode in ("off", "everysec", "always"):
        store = "redis" if mode == "off" else f"redis aof {mode}"
        for name, verb, values in (("enqueue one by one", "enqueue", knobs(batch=1)), ("enqueue, bulk of 100", "enqueue", knobs(batch=100)),
                                   ("drain", "drain", ())):
            rows.append(Row("append-only file", f"{mode}: {name}", verb, SCRIPT if verb == "enqueue" else TAKE, store=store,
                            knobs=values, count=20000 if values != knobs(batch=1) else 5000,
                            quick=(200 if values == knobs(batch=1) else 1000) if mode == "always" else 0))
    return rows


def far_away() -> list[Row]:
    return [Row("1 ms away", name, verb, floor, store="redis tcp 1ms", place="free", knobs=values, count=count, quick=count // 10)
            for name, verb, floor, values, count in (
                ("enqueue one by one", "enqueue", SCRIPT, knobs(batch=1), 1000),
                ("enqueue, bulk of 100", "enqueue", SCRIPT, knobs(batch=100), 40000),
                ("drain, batch auto", "drain", TAKE, (), 40000),
                ("drain by 2 workers", "drain", TAKE, knobs(processes=2), 40000))]


def codecs() -> list[Row]:
    return [Row("codec", "five params, there and back", "codec", "packed and unpacked by hand, without names", store="none", place="one",
                count=1000000, quick=100000)]


def peers() -> list[Row]:
    rows = []
    names = ("culex", "bullmq", "sidekiq", "rq", "celery", "beanstalkd", "beanstalkd, pipelined", "gearman")
    places = [("free", names), *((place, ("culex", "bullmq", "sidekiq", "beanstalkd, pipelined")) for place in ("cross", "same"))]
    for verb, (place, present) in itertools.product(("enqueue", "drain"), places):
        for name in present:
            is_fast = name.endswith("pipelined") or (name, verb) == ("culex", "drain")
            rows.append(Row(f"peers: {verb}", name, f"peer_{verb}",
                            (SCRIPT if verb == "enqueue" else TAKE) + "; in Redis, also beside a peer with a server of its own",
                            store="redis tcp", place=place,
                            knobs=knobs(peer=name), count=60000 if is_fast else 5000, quick=300 if place == "free" else 0))
    return rows


ROWS = [*drains(), *batches(), *told(), *enqueues(), *limits(), *follow_ups(), *starts(), *sizes_of_runs(), *sustained(), *payloads(), *backlogs(), *sqlite_processes(),
        *persistence(), *far_away(), *codecs(), *peers()]
HOURS = hours()
