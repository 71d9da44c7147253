"""Schemas, files, links and command lines that are hostile each in a way of its own.

    python3 tricks_test.py CULEXC

Whatever is tried, culexc ends by itself with 0 to 3 and in time, nothing outside the output
folder changes, and no message holds what a terminal would obey: Tricks.run holds every call to
that. The tests say what else is expected.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Dict, List, Tuple, Union

CULEXC = os.path.abspath(sys.argv.pop(1))
SECONDS = 60
FILE_BYTES = 1 << 20
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
# A sanitizer that speaks up must not look like diagnostics.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1:exitcode=98"}
CLEAN, DIAGNOSTICS, USAGE, BROKEN = 0, 1, 2, 3

slowest: Tuple[float, str] = (0.0, "")


class Tricks(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        self.work = self.root / "work"
        self.out = self.work / "out"
        self.work.mkdir()
        (self.root / "victim").write_text("precious")
        (self.root / "victim.job").write_text("enum precious { A }")

    def tree(self) -> Dict[bytes, bytes]:
        """Everything below the root but the output folder, links not followed."""
        found = {}
        for folder, folders, names in os.walk(os.fsencode(self.root)):
            for name in names + folders:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    found[path] = b"-> " + os.readlink(path)
                elif os.path.isfile(path):
                    with open(path, "rb") as file:
                        found[path] = file.read()
                else:
                    found[path] = b""
            if folder == os.fsencode(self.work) and b"out" in folders and not os.path.islink(os.fsencode(self.out)):
                folders.remove(b"out")
                found.pop(os.fsencode(self.out))
        return found

    def run_culexc(self, *arguments: Union[str, bytes]) -> Tuple[int, str]:
        global slowest
        before, begin = self.tree(), time.monotonic()
        done = subprocess.run([CULEXC, *arguments], cwd=self.work, stdin=subprocess.DEVNULL, capture_output=True,
                              env=ENVIRONMENT, timeout=SECONDS, check=False)
        slowest = max(slowest, (time.monotonic() - begin, self.id()))
        self.assertEqual(self.tree(), before, "something outside the output folder changed")
        text = done.stderr.decode("utf-8")
        self.assertIn(done.returncode, (CLEAN, DIAGNOSTICS, USAGE, BROKEN), text[-2000:])
        self.assertIsNone(FORBIDDEN.search(text), repr(text[:2000]))
        self.assertLess(len(text), 200000)
        self.assertTrue(text or done.returncode == CLEAN)
        return done.returncode, text

    def gen(self, *arguments: Union[str, bytes]) -> Tuple[int, str]:
        return self.run_culexc("gen", "--out", "out", *arguments)

    def gen_text(self, text: Union[str, bytes], *options: str) -> Tuple[int, str]:
        data = text if isinstance(text, bytes) else text.encode("utf-8")
        (self.work / "x.job").write_bytes(data)
        return self.gen(*options, "x.job")

    def assert_refused(self, answer: Tuple[int, str], fault: str) -> None:
        self.assertEqual(answer[0], DIAGNOSTICS, answer[1])
        self.assertIn(f"[{fault}]", answer[1])

    def written(self) -> List[str]:
        return sorted(os.listdir(self.out)) if self.out.exists() else []


class Sizes(Tricks):
    def padded(self, text: str, size: int, padding: str = "\n") -> str:
        return text + padding * (size - len(text))

    def test_file_of_the_largest_size_is_taken_and_one_byte_more_is_not(self) -> None:
        self.assertEqual(self.gen_text(self.padded("job a;", FILE_BYTES))[0], CLEAN)
        status, text = self.gen_text(self.padded("job a;", FILE_BYTES + 1))
        self.assertEqual(status, BROKEN)
        self.assertIn("larger than 1 MiB", text)

    def test_package_that_is_too_long_is_refused_beside_another_file(self) -> None:
        (self.work / "y.job").write_text("package y; job b;")
        for name in ("a" * 100000, ".".join("a" * 50000)):
            with self.subTest(name=name[:5]):
                self.assert_refused(self.gen_text(f"package {name}; job a;", "y.job"), "name-too-long")

    def test_endless_texts_are_carried(self) -> None:
        long = "*/??/\\ " * 100000
        for text in (f"/// {long}\njob a;", f'job a {{ params {{ string s = "{long[:-2] * 1}"; }} }}'.replace("\\", "/"),
                     f"// {long}\njob a;", f"job a [[deprecated(\"{'x' * 500000}\")]];",
                     "/// line */\n" * 80000 + "job a;"):
            with self.subTest(text=text[:20]):
                self.assertEqual(self.gen_text(text)[0], CLEAN)

    def test_full_file_of_one_thing_is_refused_in_time(self) -> None:
        for piece in ("{", "[", "[[", "(", "}", '"', "'", "/*", "/", "\\", "-", "a", "a ", "_", "9", "9 ", "\0", "\x01", "\ufeff",
                      "job ", "job a;", "job a{", "enum{", "import \"a.job\";", "struct s{s s;}", "x\"", "1h", "\r",
                      "package a.", "a.", "[[x_a(", "reserved 1,", "///<", "\u202e", "enum e { A, ", "tags \"a\","):
            with self.subTest(piece=piece):
                text = self.padded("", FILE_BYTES // len(piece.encode()), "a")
                (self.work / "x.job").write_text(text.replace("a", piece))
                is_blank = piece in ("/", "///<")
                self.assertEqual(self.run_culexc("check", "x.job")[0], CLEAN if is_blank else DIAGNOSTICS)

    def test_as_many_of_everything_as_there_may_be(self) -> None:
        fields = "".join(f'string f{at} = "\\x01";' for at in range(1024))
        values = ", ".join(f"V{at}" for at in range(4096))
        self.assertEqual(self.gen_text(f"enum e {{ {values} }} struct s {{ {fields} }} job a {{ params {{ {fields} }} }}")[0],
                         CLEAN)
        self.assert_refused(self.gen_text(f"enum e {{ {values}, ONE_MORE }}"), "too-many")
        self.assert_refused(self.gen_text(f"job a {{ params {{ {fields} int8 one_more; }} }}"), "too-many")

    def test_two_thousand_jobs_are_compiled(self) -> None:
        self.assertEqual(self.gen_text("".join(f"job j{at};" for at in range(2000)))[0], CLEAN)

    def test_structs_that_grow_by_doubling_are_refused(self) -> None:
        """Each holds the one before a hundred times: small text, endless values."""
        text = "struct s0 { int8 x[65535]; }" + "".join(
            f"struct s{at} {{ s{at - 1} x[100]; }}" for at in range(1, 12))
        self.assert_refused(self.gen_text(text), "struct-too-large")
        text = "struct s0 { int8 x; }" + "".join(
            f"struct s{at} {{ s{at - 1} a; s{at - 1} b; optional s{at - 1} c; s{at - 1} d[]; }}" for at in range(1, 300))
        self.assert_refused(self.gen_text(text), "struct-too-deep")

    def test_structs_in_a_circle_are_refused(self) -> None:
        for count, fault in ((1, "recursive-struct"), (5, "recursive-struct"), (500, "struct-too-deep")):
            text = "".join(f"struct s{at} {{ s{(at + 1) % count} next[]; }}" for at in range(count))
            self.assert_refused(self.gen_text(text), fault)


class Bytes(Tricks):
    def test_what_is_no_text(self) -> None:
        for data in (b"\0" * 1000, b"\xff\xfej\0o\0b\0", b"job a;\0", b"job a\0;", b"job a; // \xff", b'job \xc0\x80;', b"\x7fELF",
                     b"job a; /* \xed\xa0\x80 */", b"\x80", b"PK\3\4", b"\x1f\x8b", b"job \xf5a;", bytes(range(256))):
            with self.subTest(data=data[:20]):
                self.assertEqual(self.gen_text(data)[0], DIAGNOSTICS)
        self.assertEqual(self.written(), [])

    def test_line_ends_of_all_kinds(self) -> None:
        for end in ("\n", "\r\n"):
            self.assertEqual(self.gen_text(f"/// a{end}job a {{{end}}}{end}")[0], CLEAN, repr(end))
        for end in ("\r", "\n\r", "\r\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"):
            with self.subTest(end=end):
                self.assert_refused(self.gen_text(f"job a; // the comment{end}job b;\n"), "deceptive-text")

    def test_what_reorders_or_hides_text(self) -> None:
        """Each is named by its number, in comments, documentation and strings, and may be escaped in the last."""
        for code in (0x01, 0x08, 0x1B, 0x7F, 0x9B, 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)):
            for text in (f"// {chr(code)}\njob a;", f"/* {chr(code)} */ job a;", f"/// {chr(code)}\njob a;",
                         f'job a [[deprecated("{chr(code)}")]];'):
                with self.subTest(text=text):
                    done = self.gen_text(text)
                    self.assert_refused(done, "deceptive-text")
                    self.assertIn(f"U+{code:04X} ", done[1])
            self.assertEqual(self.gen_text(f'job a [[deprecated("\\u{{{code:x}}}")]];')[0], CLEAN)
        self.assertEqual(self.gen_text("/// \u0646\u200c\u0645 \u2764\ufe0f \U0001f469\u200d\U0001f4bb\njob a;")[0], CLEAN)

    def test_empty_files_are_compiled(self) -> None:
        for data in (b"", b"\n", b"// nothing", b"/**/"):
            self.assertEqual(self.gen_text(data)[0], CLEAN, data)


class Names(Tricks):
    def test_files_with_odd_names(self) -> None:
        for name in (b".job", b"..job", b"...job", b"-.job", b"-I.job", b"--out.job", b"--help.job", b"a b.job", b"a;b.job", b"a\nb.job",
                     b"a\x1b[31mb.job", b"\xff.job", b"\xc3\xa9.job", b"a\xe2\x80\xaeb.job", b"a'b.job", b'a"b.job', b"a\\b.job", b"*.job",
                     b"a*b.job", b"$(id).job", b"1.job", b"_a.job", b"a.JOB", b"a.b.job", b"a", b"x" * 65 + b".job", b"%s%n.job"):
            with self.subTest(name=name):
                with open(os.path.join(os.fsencode(self.work), name), "wb") as file:
                    file.write(b"job a;")
                self.assert_refused(self.gen("--", name), "bad-file-name")
                self.assertEqual(self.gen(os.path.join(b".", name))[0], DIAGNOSTICS)
        self.assertEqual(self.written(), [])

    def test_longest_name_is_compiled(self) -> None:
        (self.work / ("x" * 64 + ".job")).write_text("job a;")
        self.assertEqual(self.gen("x" * 64 + ".job")[0], CLEAN)

    def test_folders_in_the_path_leave_no_trace(self) -> None:
        odd = self.work / "a */ \x1b[31m\n" / "\u202e"
        odd.mkdir(parents=True)
        (odd / "x.job").write_text("job a;")
        self.assertEqual(self.gen("-I", str(self.work), str(odd / "x.job"))[0], CLEAN)
        for name in self.written():
            text = (self.out / name).read_text()
            self.assertIsNone(FORBIDDEN.search(text))
            self.assertNotIn("*/ ", text.replace("edit */\n", "").split("\n")[0])
        (odd / "x.job").write_text("job a { params { sting x; } }")
        self.assert_refused(self.gen(str(odd / "x.job")), "unknown-type")

    def test_odd_words_on_the_command_line_are_refused(self) -> None:
        for words in (["gen"], ["gen", "--out"], ["gen", "--out", "", "x.job"], ["\x1b[31m"], ["gen", "--\x1b[31m", "x.job"], [""],
                      ["gen", "--out", "out", "--export-macro", "a;b", "x.job"], ["gen", "--out", "out", "\x1b[31m.job"],
                      ["gen", "--out", "out", "\u202e"], ["check", "--message-format=\x1b", "x.job"], ["check", "\udcff"],
                      ["gen", "--out", "out", "x" * 100000], ["gen", "--out", "o\x1b/ut", "x.job"],
                      ["gen", "--out", "out", "--depfile", "no/\x1b", "x.job"]):
            with self.subTest(words=words):
                (self.work / "x.job").write_text("job a;")
                self.assertIn(self.run_culexc(*map(os.fsencode, words))[0], (USAGE, BROKEN))

    def test_every_verb_prints_names_safely(self) -> None:
        shown = subprocess.run([CULEXC, "--help"], stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=True).stdout
        verbs = re.findall(r"^  ([a-z]+)  ", shown, re.MULTILINE)
        self.assertIn("check", verbs)
        for verb in verbs:
            for words in (["\x1b[31m.job"], ["--\x1b[31m"], ["\u202e"], ["--out", "out", "\x1b.job"], ["-I", "\x1b", "no/\x1b.job"]):
                with self.subTest(verb=verb, words=words):
                    self.run_culexc(verb, *words)


class Imports(Tricks):
    def test_import_that_leads_elsewhere_is_refused(self) -> None:
        for path in ("../victim.job", "/etc/passwd", "./x.job", "a/../../victim.job", "a//b.job", "", ".", "..", "a\\\\b.job", "x.job/",
                     str(self.root / "victim.job"), "~/x.job", "file:///x.job", "\\u{202e}.job", "a" * 2000 + ".job", "\\x1b.job"):
            with self.subTest(path=path):
                status, text = self.gen_text(f'import "{path}"; job a {{ params {{ precious p; }} }}')
                self.assertEqual(status, DIAGNOSTICS)
                self.assertRegex(text, r"\[(bad-import-path|import-not-found|invalid-utf8|bad-string)\]")

    def test_link_is_followed_to_a_schema_of_the_folder_only(self) -> None:
        folder = self.work / "lib"
        folder.mkdir()
        (folder / "inside.job").write_text("enum precious { A }")
        use = 'import "{}"; job a {{ params {{ precious p; }} }}'
        for name, target, fault in (("out.job", self.root / "victim.job", "bad-import-path"), ("loop.job", "loop.job", "import-not-found"),
                                    ("zero.job", "/dev/zero", "import-not-found"), ("tty.job", "/dev/stdin", "import-not-found"),
                                    ("folder.job", folder, "import-not-found"), ("none.job", "nowhere", "import-not-found"),
                                    ("proc.job", "/proc/self/environ", "bad-import-path")):
            (self.work / name).symlink_to(target)
            with self.subTest(name=name):
                answer = self.gen_text(use.format(name))
                self.assert_refused(answer, fault)
                self.assertNotIn("PATH=", answer[1])
        (self.work / "way").symlink_to(self.root)
        self.assert_refused(self.gen_text(use.format("way/victim.job")), "bad-import-path")
        (self.work / "near.job").symlink_to(folder / "inside.job")
        self.assertEqual(self.gen_text(use.format("near.job"))[0], CLEAN)

    def test_pipe_is_not_waited_for(self) -> None:
        os.mkfifo(self.work / "pipe.job")
        self.assert_refused(self.gen_text('import "pipe.job"; job a;'), "import-not-found")
        self.assertEqual(self.gen("pipe.job")[0], BROKEN)

    def test_circle_of_imports_is_refused(self) -> None:
        self.assert_refused(self.gen_text('import "x.job"; job a;'), "import-cycle")
        for at in range(5):
            (self.work / f"c{at}.job").write_text(f'import "c{(at + 1) % 5}.job"; job j{at};')
        self.assert_refused(self.gen("c0.job"), "import-cycle")

    def test_chain_of_imports_that_is_too_long_is_refused(self) -> None:
        for at in range(40):
            (self.work / f"c{at}.job").write_text(f'import "c{at + 1}.job"; enum e{at} {{ E{at}_A }}')
        (self.work / "c40.job").write_text("")
        self.assert_refused(self.gen("c0.job"), "import-too-deep")

    def test_ladder_of_imports_is_no_tree(self) -> None:
        """Each imports the two below, so there are 2^25 ways down."""
        for at in range(25):
            (self.work / f"c{at}.job").write_text(f'import "c{at + 1}.job"; import "d{at + 1}.job";')
            (self.work / f"d{at}.job").write_text(f'import "c{at + 1}.job"; import "d{at + 1}.job";')
        for letter in "cd":
            (self.work / f"{letter}25.job").write_text("")
        self.assertEqual(self.run_culexc("check", "c0.job")[0], CLEAN)

    def test_more_files_than_there_may_be(self) -> None:
        for at in range(1100):
            (self.work / f"c{at}.job").write_text("")
        self.assert_refused(self.gen_text("".join(f'import "c{at}.job";' for at in range(1100))), "too-many")


class Output(Tricks):
    def test_folder_may_be_a_link_and_files_may_not(self) -> None:
        real = self.work / "out"
        real.mkdir()
        (self.work / "x.job").write_text("job a;")
        (self.work / "way").symlink_to("out")
        self.assertEqual(self.run_culexc("gen", "--out", "way", "x.job")[0], CLEAN)
        self.assertEqual(self.written(), ["x_job.c", "x_job.h"])
        for target in (self.root / "victim", "x_job.h", "/dev/full", "nowhere"):
            (real / "x_job.h").unlink()
            (real / "x_job.h").symlink_to(target)
            self.assertEqual(self.gen("x.job")[0], CLEAN)
            self.assertFalse((real / "x_job.h").is_symlink())

    def test_what_cannot_be_written_is_said(self) -> None:
        (self.work / "x.job").write_text("job a;")
        (self.work / "file").write_text("")
        for out in ("file", "no/such", "/proc", "/dev/null", "loop", "x" * 300):
            if out == "loop":
                (self.work / "loop").symlink_to("loop")
            self.assertEqual(self.run_culexc("gen", "--out", out, "x.job")[0], BROKEN, out)
        (self.out / "x_job.h").mkdir(parents=True)
        self.assertEqual(self.gen("x.job")[0], BROKEN)
        self.assertEqual(self.written(), ["x_job.h"])

    def test_pipe_in_the_place_of_a_file_is_replaced(self) -> None:
        (self.work / "x.job").write_text("job a;")
        self.out.mkdir()
        os.mkfifo(self.out / "x_job.h")
        self.assertEqual(self.gen("x.job")[0], CLEAN)
        self.assertTrue((self.out / "x_job.h").is_file())


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    print(f"slowest: {slowest[0]:.2f} s in {slowest[1]}", file=sys.stderr)
    sys.exit(not result.wasSuccessful())
