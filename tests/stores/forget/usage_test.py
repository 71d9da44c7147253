"""What is no number of runs is refused, and nothing is looked at.

usage: usage_test.py FORGET
"""
import subprocess
import sys
import unittest

FORGET = sys.argv.pop(1)


class Usage(unittest.TestCase):
    def test_what_is_no_number_from_1_is_refused(self):
        for word in ("abc", "1e6", "0", "-5", "+5", " 5", "5x", "", "1000000000"):
            with self.subTest(word):
                told = subprocess.run([FORGET, "memory", word], capture_output=True, text=True, timeout=60)
                self.assertEqual(2, told.returncode)
                self.assertIn(f"RUNS is '{word}'", told.stderr)
                self.assertEqual("", told.stdout)


if __name__ == "__main__":
    unittest.main()
