"""Twice the schema costs culexc twice the instructions and twice the memory, not four times.

usage: scale_test.py CULEXC [VALGRIND]
Instructions and bytes are counted, so it does not matter how busy the machine is.
"""
import concurrent.futures
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
GROWTH_MAX = 2.4  # 2 and what sorting, longer numbers and growing tables cost; quadratic is 4


def peak_kib(schema: pathlib.Path) -> int:
    with subprocess.Popen([CULEXC, "check", schema]) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


def instructions(*words) -> int:
    """Of one call of culexc, whatever it finds."""
    done = subprocess.run([*VALGRIND, "--tool=callgrind", "--callgrind-out-file=/dev/null", CULEXC, *words],
                          capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in (0, 1), done.stderr
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


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

    def growth(self, shape: str) -> float:
        """What twice as many cost beside so many, the start of the program left out."""
        verb, count, text = shapes.SHAPES[shape]
        costs = []
        for at, times in enumerate((0, count, 2 * count)):
            path = self.folder / f"{shape.replace(' ', '_')}{at}.job"
            path.write_text(text(times) if times > 0 else "", encoding="utf-8")
            costs.append(instructions(verb, path))
        return (costs[2] - costs[0]) / (costs[1] - costs[0])

    @unittest.skipUnless(VALGRIND, "needs valgrind")
    def test_time_is_linear_in_each_thing_that_may_be_many(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            growths = list(pool.map(self.growth, shapes.SHAPES))
        for shape, growth in zip(shapes.SHAPES, growths):
            print(f"{shape}: {growth:.2f}")
        self.assertEqual([], [shape for shape, growth in zip(shapes.SHAPES, growths) if growth > GROWTH_MAX])


unittest.main(argv=sys.argv[:1])
