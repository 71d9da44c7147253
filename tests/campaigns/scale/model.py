"""A hot queue in partitions, simulated: servers that do one call at a time, producers, workers, and the wire between.

A node serves calls in the order in which they come; what each costs stands in figures.py. A producer sends
calls on its own clock, each to one partition, and leaves a partition alone that has `window` runs waiting. A worker asks
its partitions in turn. Whoever found all of them empty sleeps, until an enqueue wakes one sleeper of its
partition, or LOOK_S are over; whoever leaves runs behind wakes one more. All chance comes from one seed.
"""
import collections
import dataclasses
import heapq
import random

from figures import Figures

LOOK_S = 5.0
FULL_S = 0.001  # a producer's pause when every partition is full


@dataclasses.dataclass(frozen=True)
class World:
    figures: Figures
    partitions: int = 1
    nodes: int = 1
    producers: int = 8
    workers: int = 8
    rate: float = 100_000  # runs enqueued a second
    call_runs: int = 100
    step_runs: int = 128
    handler_us: float = 1.0  # a worker's time for a run
    wire_us: float = 100.0  # there and back
    serves: int = 0  # partitions of a worker; 0: all that it can reach
    is_bound: bool = True  # it reaches those of one server, as a worker with one URL does
    hot_share: float = 0.0  # of the calls that go to the first partition beside its part
    window: int = 1_000_000
    backlog: int = 0  # runs in each partition at the beginning
    seconds: float = 1.0
    warm: float = 0.2  # part of the time that does not count
    is_kept: bool = False
    seed: int = 1


@dataclasses.dataclass
class Node:
    queue: collections.deque = dataclasses.field(default_factory=collections.deque)  # (came, call)
    is_busy: bool = False
    busy: float = 0.0
    waited: float = 0.0
    calls: int = 0


@dataclasses.dataclass
class Partition:
    node: Node
    line: collections.deque = dataclasses.field(default_factory=collections.deque)  # (since, runs)
    depth: int = 0
    area: float = 0.0  # depth over time
    changed_at: float = 0.0
    asleep: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Worker:
    serves: list[int]
    turn: int = 0
    empty: int = 0  # partitions in a row that had nothing
    sleeps: int = 0  # number of its sleep, so that an old alarm is known
    is_asleep: bool = False


@dataclasses.dataclass
class Result:
    rate: float = 0.0  # runs granted a second
    enqueued: float = 0.0
    wait_p50_ms: float = 0.0
    wait_p99_ms: float = 0.0
    load: float = 0.0  # of the busiest node
    node_imbalance: float = 1.0  # of its load over the mean
    depth_imbalance: float = 1.0  # of the deepest partition over the mean, by time
    call_wait_us: float = 0.0  # of a call for its server
    empty_part: float = 0.0  # of the servers' time that went into steps that found nothing
    runs_a_step: float = 0.0


class Simulation:
    def __init__(self, world: World) -> None:
        self.world, self.chance, self.now = world, random.Random(world.seed), 0.0
        self.nodes = [Node() for _ in range(world.nodes)]
        self.partitions = [Partition(self.nodes[at % world.nodes]) for at in range(world.partitions)]
        self.workers = [Worker(self.served(at)) for at in range(world.workers)]
        self.events: list = []
        self.order = 0
        self.waits: list[tuple[float, int]] = []
        self.granted = self.enqueued = self.full_steps = 0
        self.empty_s = 0.0
        self.begun = world.seconds * world.warm

    def served(self, at: int) -> list[int]:
        """Those of worker `at`: neighbours on its server, and each partition by as many workers as may be."""
        world = self.world
        reached = [one for one in range(world.partitions) if not world.is_bound or one % world.nodes == at % world.nodes]
        count, row = world.serves or len(reached), at // world.nodes if world.is_bound else at
        return [reached[(row * count + step) % len(reached)] for step in range(count)]

    def later(self, at: float, act, *words) -> None:
        self.order += 1
        heapq.heappush(self.events, (at, self.order, act, words))

    @property
    def is_counted(self) -> bool:
        return self.now >= self.begun

    # --- servers ---

    def arrive(self, node: Node, call, *words) -> None:
        """A call, which tells its cost when its turn comes, and what follows."""
        node.queue.append((self.now, call, words))
        if not node.is_busy:
            self.call_begin(node)

    def call_begin(self, node: Node) -> None:
        came, call, words = node.queue.popleft()
        cost_us, after = call(*words)
        if self.is_counted:
            node.busy += cost_us / 1e6
            node.waited += self.now - came
            node.calls += 1
        node.is_busy = True
        self.later(self.now + cost_us / 1e6, self.call_end, node, after)

    def call_end(self, node: Node, after) -> None:
        node.is_busy = False
        after()
        if node.queue and not node.is_busy:
            self.call_begin(node)

    def depth_change(self, partition: Partition, by: int) -> None:
        since = max(partition.changed_at, self.begun)
        partition.area += partition.depth * max(self.now - since, 0)
        partition.changed_at = self.now
        partition.depth += by

    # --- producers ---

    def partition_choose(self) -> int | None:
        world = self.world
        first = 0 if self.chance.random() < world.hot_share else self.chance.randrange(world.partitions)
        for step in range(world.partitions):
            at = (first + step) % world.partitions
            if self.partitions[at].depth < world.window:
                return at
        return None

    def produce(self) -> None:
        world, at = self.world, self.partition_choose()
        gap = self.chance.expovariate(world.rate / world.call_runs / world.producers) if at is not None else FULL_S
        self.later(self.now + gap, self.produce)
        if at is not None:
            self.later(self.now + world.wire_us / 2e6, self.enqueue_come, at)

    def enqueue_come(self, at: int) -> None:
        self.arrive(self.partitions[at].node, self.enqueue, at)

    def enqueue(self, at: int):
        figures, runs = self.world.figures, self.world.call_runs
        return figures.enqueue_call + runs * figures.enqueue_run, lambda: self.enqueue_end(at)

    def enqueue_end(self, at: int) -> None:
        partition, runs = self.partitions[at], self.world.call_runs
        partition.line.append((self.now, runs))
        self.depth_change(partition, runs)
        self.enqueued += runs if self.is_counted else 0
        self.wake_one(partition, at)

    def wake_one(self, partition: Partition, at: int) -> None:
        while partition.asleep:
            worker = partition.asleep.pop(0)
            if worker.is_asleep:
                self.wake(worker, at)
                return

    # --- workers ---

    def wake(self, worker: Worker, at: int) -> None:
        worker.is_asleep, worker.empty = False, 0
        worker.turn = worker.serves.index(at)
        self.later(self.now + self.world.wire_us / 2e6, self.ask, worker)

    def look(self, worker: Worker, number: int) -> None:
        if worker.is_asleep and worker.sleeps == number:
            self.wake(worker, worker.serves[worker.turn])

    def ask(self, worker: Worker) -> None:
        at = worker.serves[worker.turn]
        worker.turn = (worker.turn + 1) % len(worker.serves)
        self.later(self.now + self.world.wire_us / 2e6, self.step_come, worker, at)

    def step_come(self, worker: Worker, at: int) -> None:
        self.arrive(self.partitions[at].node, self.step, worker, at)

    def step(self, worker: Worker, at: int):
        """What it grants is known when its server comes to it."""
        partition, figures = self.partitions[at], self.world.figures
        runs = self.take(partition)
        cost_us = figures.step_call + runs * (figures.step_run + (figures.forget_run if self.world.is_kept else 0))
        if self.is_counted:
            self.full_steps += runs > 0
            self.empty_s += 0 if runs else cost_us / 1e6
        return cost_us, lambda: self.step_end(worker, at, runs)

    def step_end(self, worker: Worker, at: int, runs: int) -> None:
        if self.partitions[at].depth > 0:
            self.wake_one(self.partitions[at], at)
        self.later(self.now + self.world.wire_us / 2e6, self.granted_take, worker, runs)

    def take(self, partition: Partition) -> int:
        wanted = self.world.step_runs
        taken = min(wanted, partition.depth)
        left = taken
        while left > 0:
            since, runs = partition.line.popleft()
            part = min(runs, left)
            if part < runs:
                partition.line.appendleft((since, runs - part))
            if self.is_counted:
                self.waits.append((self.now - since, part))
            left -= part
        self.depth_change(partition, -taken)
        self.granted += taken if self.is_counted else 0
        return taken

    def granted_take(self, worker: Worker, runs: int) -> None:
        worker.empty = 0 if runs else worker.empty + 1
        if worker.empty < len(worker.serves):
            self.later(self.now + runs * self.world.handler_us / 1e6, self.ask, worker)
            return
        worker.is_asleep, worker.sleeps = True, worker.sleeps + 1
        for at in worker.serves:
            self.partitions[at].asleep.append(worker)
        self.missed_take(worker)
        self.later(self.now + LOOK_S, self.look, worker, worker.sleeps)

    def missed_take(self, worker: Worker) -> None:
        """What came while it went to sleep has left a token."""
        for at in worker.serves:
            if worker.is_asleep and self.partitions[at].depth > 0:
                self.wake(worker, at)

    # --- all ---

    def begin(self) -> None:
        world = self.world
        for partition in self.partitions if world.backlog else ():
            partition.line.append((0.0, world.backlog))
            partition.depth = world.backlog
        for at in range(world.producers if world.rate > 0 else 0):
            self.later(at * world.call_runs / world.rate, self.produce)
        for at, worker in enumerate(self.workers):
            self.later(at * 1e-6, self.ask, worker)

    def run(self) -> Result:
        self.begin()
        while self.events and self.events[0][0] < self.world.seconds:
            self.now, _, act, words = heapq.heappop(self.events)
            act(*words)
        self.now = self.world.seconds
        return self.result()

    def result(self) -> Result:
        for partition in self.partitions:
            self.depth_change(partition, 0)
        span = self.world.seconds - self.begun
        busy, areas = [node.busy / span for node in self.nodes], [partition.area for partition in self.partitions]
        calls = sum(node.calls for node in self.nodes)
        return Result(
            rate=self.granted / span, enqueued=self.enqueued / span, wait_p50_ms=1e3 * percentile(self.waits, 0.5),
            wait_p99_ms=1e3 * percentile(self.waits, 0.99), load=max(busy), node_imbalance=over_mean(busy),
            depth_imbalance=over_mean(areas), call_wait_us=1e6 * sum(node.waited for node in self.nodes) / max(calls, 1),
            empty_part=self.empty_s / span / self.world.nodes, runs_a_step=self.granted / max(self.full_steps, 1))


def over_mean(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return max(values) / mean if mean else 1.0


def percentile(waits: list[tuple[float, int]], part: float) -> float:
    """Of values that count as often as their second member says."""
    left = part * sum(count for _, count in waits)
    for value, count in sorted(waits):
        left -= count
        if left <= 0:
            return value
    return 0.0


def simulate(world: World) -> Result:
    return Simulation(world).run()
