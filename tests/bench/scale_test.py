"""Twice the schema costs culexc twice the instructions and twice the memory, not four times.

usage: scale_test.py CULEXC [VALGRIND]
Instructions and bytes are counted, so it does not matter how busy the machine is.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import big_schema

CULEXC, *VALGRIND = sys.argv[1:]


def peak_kib(schema: pathlib.Path) -> int:
    with subprocess.Popen([CULEXC, "check", schema]) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


def instructions(schema: pathlib.Path) -> int:
    done = subprocess.run([*VALGRIND, "--tool=callgrind", "--callgrind-out-file=/dev/null", CULEXC,
                           "check", schema], capture_output=True, text=True, check=True, timeout=300)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


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
        self.assertLess(self.ratio(instructions, 250), 2.2)


unittest.main(argv=sys.argv[:1])
