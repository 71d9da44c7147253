"""The regular expressions of the JSON Schema plug-in take just what they are for."""
import pathlib
import random
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "codegen" / "plugins" / "lib"))

import patterns  # noqa: E402


class Patterns(unittest.TestCase):
    def takes(self, low, high):
        found = re.compile(patterns.whole(patterns.integers(low, high)))
        return lambda text: found.search(text) is not None

    def test_every_number_of_a_range_and_no_other(self):
        noise = random.Random(7)
        for reach in [3, 30, 300, 5000]:
            for _ in range(60):
                low, high = sorted(noise.randint(-reach, reach) for _ in range(2))
                takes = self.takes(low, high)
                around = {*range(low - 11, low + 300), *range(high - 300, high + 11), -1, 0, 1, 9, 10, 99, 100}
                for number in around:
                    self.assertEqual(takes(str(number)), low <= number <= high, (low, high, number))

    def test_ends_of_the_types(self):
        for bits in [8, 16, 32, 64, 128]:
            for low, high in [(0, (1 << bits) - 1), (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)]:
                takes = self.takes(low, high)
                for number in [end + step for end in (low, high, 0) for step in range(-2, 3)]:
                    self.assertEqual(takes(str(number)), low <= number <= high, (bits, number))

    def test_one_spelling_only(self):
        takes = self.takes(-100, 100)
        for text in ["", "-", "-0", "00", "01", "-01", "+1", "1.0", "1e1", " 1", "1 ", "1\n", "\n1", "١"]:
            self.assertFalse(takes(text), text)

    def test_days_that_no_month_has_are_refused(self):
        takes = re.compile(patterns.whole(patterns.TIMESTAMP)).search
        for day, is_one in [("2024-02-29", 1), ("2024-02-30", 0), ("2024-04-30", 1), ("2024-04-31", 0),
                            ("2024-12-31", 1), ("2024-13-01", 0), ("2024-00-01", 0), ("2024-01-00", 0),
                            ("1677-09-21", 1), ("1676-12-31", 0), ("2262-04-11", 1), ("2263-01-01", 0)]:
            self.assertEqual(takes(day + "T00:00:00Z") is not None, bool(is_one), day)


unittest.main()
