"""Twice the schema costs culexc twice the instructions and twice the memory, not four times.

usage: scale_test.py CULEXC [VALGRIND]
Instructions and bytes are counted, so it does not matter how busy the machine is.
"""
import concurrent.futures
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import big_schema
import shapes

CULEXC, *VALGRIND = sys.argv[1:]
GROWTH_MAX = 2.3  # 2 and what sorting, longer numbers and growing tables cost; quadratic is 4


def peak_kib(schema: pathlib.Path) -> int:
    with subprocess.Popen([CULEXC, "check", schema]) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


def instructions(*words) -> int:
    """Of one call of culexc, whatever it finds; without those that fill memory which is not used yet."""
    env = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
    done = subprocess.run([*VALGRIND, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", CULEXC, *words],
                          capture_output=True, text=True, check=False, timeout=300, env=env)
    assert done.returncode in (0, 1), done.stderr
    return int(re.search(r"I +refs: +([\d,]+)", done.stderr).group(1).replace(",", ""))


@functools.cache
def instructions_to_start(verb: str) -> int:
    """Of a call with an empty schema."""
    with tempfile.NamedTemporaryFile(suffix=".job") as empty:
        return instructions(verb, empty.name)


def instructions_checked(schema: pathlib.Path) -> int:
    return instructions("check", schema)


class Scale(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def ratio(self, measure, jobs: int) -> float:
        """What twice the schema costs beside the schema."""
        costs = []
        for count in (jobs, 2 * jobs):
            path = self.folder / f"big{count}.job"
            big_schema.write(path, count)
            costs.append(measure(path))
        print(measure.__name__, costs)
        return costs[1] / costs[0]

    def test_memory_is_linear(self):
        # The peak of a new process begins at that of the Python that started it: be well above.
        self.assertGreater(self.ratio(peak_kib, 1000), 1.5)
        self.assertLess(self.ratio(peak_kib, 1000), 2.2)

    @unittest.skipUnless(VALGRIND, "needs valgrind")
    def test_time_is_linear(self):
        self.assertLess(self.ratio(instructions_checked, 250), 2.2)

    @unittest.skipUnless(VALGRIND, "needs valgrind")
    def test_time_is_linear_in_files(self):
        files = [self.folder / f"m{number}.job" for number in range(80)]
        for path in files:
            big_schema.write(path, 2, path.stem)
        costs = [instructions("check", *some) for some in (files[:20], files)]
        print("20 and 80 files", costs)
        self.assertLess(costs[1] / costs[0], 4.4)

    def path(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / (name.replace(" ", "_").replace(",", "") + ".job")
        path.write_text(text, encoding="utf-8")
        return path

    def growth(self, shape: str) -> float:
        """What twice as many cost beside so many, the start of the program left out."""
        verb, count, text = shapes.SHAPES[shape]
        costs = [instructions(verb, self.path(f"{shape}{times}", text(times))) for times in (count, 2 * count)]
        start = instructions_to_start(verb)
        return (costs[1] - start) / (costs[0] - start)

    def growth_of_change(self, change: str, verb: str) -> float:
        """The same of a change, by breaking or by lock."""
        count, old, new = shapes.CHANGES[change]
        costs = []
        for times in (count, 2 * count):
            before = self.path(f"{change} {verb} {times} old", old(times))
            after = self.path(f"{change} {verb} {times}", new(times))
            lock = before.with_suffix(".lock")
            subprocess.run([CULEXC, "lock", "--lock", lock, before], check=True)
            option = "--against" if verb == "breaking" else "--lock"
            costs.append(instructions(verb, option, lock, after))
        start = instructions_to_start("check")
        return (costs[1] - start) / (costs[0] - start)

    def is_linear(self, measure, *names):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            growths = dict(zip(names[0], pool.map(measure, *names)))
        for name, growth in growths.items():
            print(f"{name}: {growth:.2f}")
        self.assertEqual([], [name for name, growth in growths.items() if growth > GROWTH_MAX])

    @unittest.skipUnless(VALGRIND, "needs valgrind")
    def test_time_is_linear_in_each_thing_that_may_be_many(self):
        self.is_linear(self.growth, shapes.SHAPES)

    @unittest.skipUnless(VALGRIND, "needs valgrind")
    def test_time_of_breaking_is_linear(self):
        self.is_linear(self.growth_of_change, shapes.CHANGES, ["breaking"] * len(shapes.CHANGES))

    @unittest.skipUnless(VALGRIND, "needs valgrind")
    def test_time_of_lock_is_linear(self):
        self.is_linear(self.growth_of_change, shapes.CHANGES, ["lock"] * len(shapes.CHANGES))


unittest.main(argv=sys.argv[:1])
