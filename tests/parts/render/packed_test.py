"""The packed renderer does the same as the one in the source tree, with python3 alone.

    python3 packed_test.py PACKED_DIR
"""

from __future__ import annotations

import json
import os
import sys
import unittest

from rendering import RENDERER, encoded, run
from samples import KINDS, kinds

PACKED = sys.argv.pop(1)
BARE = [sys.executable, "-I", "-S"]  # -S: no site-packages


class Packed(unittest.TestCase):
    def test_same_files_without_site_packages(self) -> None:
        data = encoded(*[case() for case in KINDS])
        packed = json.loads(run(data, PACKED, BARE).stdout)
        self.assertEqual(packed["files"], json.loads(run(data).stdout)["files"])

    def test_source_tree_needs_what_was_packed(self) -> None:
        """Else the test above would prove nothing. The message has to name the remedy."""
        result = run(encoded(kinds()), RENDERER, BARE)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"this Python has no Jinja2", result.stderr)
        self.assertEqual(result.stderr.count(b"\n"), 1)

    def test_licences_go_along(self) -> None:
        for package in ("jinja2", "markupsafe"):
            self.assertTrue(os.path.isfile(os.path.join(PACKED, "vendor", package, "LICENCE")))

    def test_running_leaves_nothing_behind(self) -> None:
        before = self.listing()
        run(encoded(kinds()), PACKED, BARE)
        self.assertEqual(self.listing(), before)

    def listing(self) -> "list[str]":
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(PACKED) for name in names)


if __name__ == "__main__":
    unittest.main()
