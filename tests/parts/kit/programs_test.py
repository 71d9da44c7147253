"""The kit in plain C and in C++, as a program that has nothing but the installed headers.

    python3 programs_test.py CULEXC LIBCULEX INCLUDE COMPILER
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from typing import List

CULEXC, LIBRARY, INCLUDE = (os.path.abspath(path) for path in sys.argv[1:4])
COMPILER = sys.argv[4]
HERE = os.path.dirname(os.path.abspath(__file__))
CXX = {"gcc": "g++", "clang": "clang++"}[COMPILER]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


class Programs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.good([CULEXC, "gen", "--out", ".", os.path.join(HERE, "kit.job")])
        self.good([COMPILER, "-std=c11", *WARNINGS, f"-I{INCLUDE}", "-c", "kit_job.c"])

    def call(self, command: List[str]) -> subprocess.CompletedProcess:
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)

    def good(self, command: List[str]) -> str:
        done = self.call(command)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def build(self, compiler: str, standard: str, source: str, *more: str) -> None:
        self.good([compiler, f"-std={standard}", *WARNINGS, *more, f"-I{INCLUDE}", "-I.", os.path.join(HERE, source),
                   "kit_job.o", LIBRARY, f"-Wl,-rpath,{os.path.dirname(LIBRARY)}", "-o", "program"])

    def test_plain_c(self) -> None:
        self.build(COMPILER, "c11", "plain.c")
        self.assertEqual(self.good(["./program"]), "1\n")
        done = self.call(["./program", "bob"])
        self.assertEqual(done.returncode, -signal.SIGABRT)
        with open(os.path.join(HERE, "plain.c"), encoding="utf-8") as file:
            line = 1 + [text.lstrip()[:19] for text in file].index("CULEX_TEST_ENQUEUED")
        self.assertEqual(done.stderr.splitlines()[0],
                         f"{os.path.join(HERE, 'plain.c')}:{line}: expected one pending run of kit.letter "
                         "with to = bob, found 0")

    def test_cpp(self) -> None:
        for standard in ("c++11", "c++17", "c++20"):
            with self.subTest(standard):
                self.build(CXX, standard, "throws.cc", "-Wold-style-cast")
                self.assertEqual(self.good(["./program"]), "holds\n")

    def test_types(self) -> None:
        """Another job's params are not the wanted ones; nor is a name that is no job's, nor a number a text."""
        for claim, is_right in (("const kit_letter_job *one = CULEX_TEST_ONE(test, kit_letter_job)", True),
                                ("const kit_letter_job *one = CULEX_TEST_ONE(test, kit_receipt_job)", False),
                                ("const kit_letter_job *one = CULEX_TEST_PARAMS(test, kit_receipt_job)", False),
                                ('const char *to = "a"; const void *one = CULEX_TEST_ENQUEUED('
                                 'test, kit_letter_job, "to", to, "copies", "1")', True),
                                ('const void *one = CULEX_TEST_ENQUEUED(test, kit_letter_job, "copies", 1)', False),
                                ('int n = 1; const void *one = CULEX_TEST_ENQUEUED(test, kit_letter_job, "copies", n)',
                                 False),
                                ("const kit_letter_result *r = NULL; "
                                 "bool one = CULEX_TEST_FAKE_RESULT(test, kit_letter_job, r)", True),
                                ("const kit_weigh_result *r = NULL; "
                                 "bool one = CULEX_TEST_FAKE_RESULT(test, kit_letter_job, r)", False),
                                ("bool one = CULEX_TEST_NONE(test, kit_lettre_job)", False)):
            for compiler, name in ((COMPILER, "claim.c"), (CXX, "claim.cc")):
                with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                    file.write('#include <culex_test.h>\n#include "kit_job.h"\n'
                               f"void claim(culex_test *test);\nvoid claim(culex_test *test)\n{{\n    {claim};\n"
                               "    (void)one;\n}\n")
                with self.subTest(claim=claim, compiler=compiler):
                    done = self.call([compiler, *WARNINGS, f"-I{INCLUDE}", "-fsyntax-only", name])
                    self.assertEqual(done.returncode == 0, is_right, done.stderr)


unittest.main(argv=sys.argv[:1])
