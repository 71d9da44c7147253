"""What handlers in C++ throw, and how they crash, as the store tells it.

    python3 throws_test.py CULEXC LIBCULEX INCLUDE COMPILER

throws.cc says what its handler does; the generated source is compiled as C, as ever.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, List, Tuple

CULEXC, LIBRARY, INCLUDE = (os.path.abspath(path) for path in sys.argv[1:4])
COMPILER = sys.argv[4]
HERE = os.path.dirname(os.path.abspath(__file__))
C_COMPILER = {"g++": "gcc", "clang++": "clang"}[COMPILER]

THROWN = {
    "error": "threw post::no_such_box: no box of Ann",
    "number": "threw int",
    "odd": "threw post::odd",
    "text": "threw char const*: a word",
    "string": "threw std::string: words",
    "mute": "threw std::runtime_error",
    "nested": "threw std::logic_error: letters are lost; nested in it: post::no_such_box: no box of Bob",
    "memory": "threw std::bad_alloc: std::bad_alloc",
}

Row = Tuple[str, str, str, str]


class Throws(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.run_command([CULEXC, "gen", "--out", ".", os.path.join(HERE, "throws.job")])
        self.run_command([C_COMPILER, "-std=c11", f"-I{INCLUDE}", "-c", "throws_job.c"])

    def run_command(self, command: List[str]) -> str:
        env = {name: value for name, value in os.environ.items() if not name.startswith("CULEX_")}
        done = subprocess.run(command, cwd=self.folder.name, env=env, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def build(self, standard: str, *more: str, source: str = "throws.cc") -> None:
        self.run_command([COMPILER, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow",
                          "-Wold-style-cast", "-Werror", *more, f"-I{INCLUDE}", "-I.",
                          os.path.join(HERE, source), "throws_job.o", LIBRARY,
                          f"-Wl,-rpath,{os.path.dirname(LIBRARY)}", "-o", "throws"])

    def work(self, isolation: str, *what: str) -> Dict[str, Row]:
        said = self.run_command(["./throws", "sqlite:store.db", isolation, *what])
        rows = [line.split("|", 4) for line in said.splitlines()]
        return {row[0]: (row[1], row[2], row[3], row[4]) for row in rows}

    def test_what_is_thrown_is_a_failure(self) -> None:
        for standard, isolation in (("c++11", "process"), ("c++17", "none")):
            self.build(standard)
            told = self.work(isolation, *THROWN, "once", "nothing")
            for what, text in THROWN.items():
                self.assertEqual(told[what], ("dead", "2", "0", text), isolation)
            self.assertEqual(told["once"][:3], ("done", "2", "0"), isolation)
            self.assertEqual(told["nothing"][:3], ("done", "1", "0"), isolation)

    def test_callbacks_throw_no_further(self) -> None:
        for standard in ("c++11", "c++17"):
            self.build(standard, source="callbacks.cc")
            self.assertEqual(self.run_command(["./throws", "visit"]), "visitor 1\nvisitor 2\nvisitor 3\n")
            for isolation in ("process", "none"):
                said = self.run_command(["./throws", "hooks", isolation])
                self.assertIn("the enqueue hook refuses job cxx.thrower: threw std::runtime_error: no right\n", said)
                self.assertRegex(said, r"dead: hook 'second' before the run: threw std::runtime_error: before; then "
                                       r"hook 'first' after the run: threw std::runtime_error: after\n")
                said = self.run_command(["./throws", "open", isolation])
                self.assertRegex(said, r": threw std::runtime_error: no database\n")
                self.assertIn("the close of culex_worker_on_process threw std::runtime_error: still busy\n", said)
                self.assertEqual(said.count("main ends"), 1, said)
            self.assertIn("setup failed: threw std::runtime_error: no setting\nmain ends: 1\n",
                          self.run_command(["./throws", "setup"]))

    def test_functions_of_a_crash_have_their_names(self) -> None:
        self.build("c++11")
        state, _, crashes, text = self.work("process", "crash")["crash"]
        self.assertEqual(state, "dead")
        self.assertNotEqual(crashes, "0")
        self.assertIn("post::office::deliver(int) const+0x", text)
        self.assertIn("post::handle(", text)
        self.assertNotIn("_Z", text)
        self.assertNotIn("culex::", text)

    def test_thread_that_ends_in_a_handler_passes_the_guard(self) -> None:
        self.run_command([COMPILER, "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{INCLUDE}",
                          "-I.", os.path.join(HERE, "unwind.cc"), "-o", "unwind"])
        self.assertEqual(self.run_command(["./unwind"]), "threw int\n")

    def test_without_exceptions_there_is_no_guard(self) -> None:
        with open(os.path.join(self.folder.name, "plain.cc"), "w", encoding="ascii") as file:
            file.write('#include "throws_job.h"\n#ifdef CULEX_REGISTER\n#error a guard\n#endif\n')
        self.run_command([COMPILER, "-std=c++11", "-fno-exceptions", "-fno-rtti", f"-I{INCLUDE}", "-I.",
                          "-c", "plain.cc"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
