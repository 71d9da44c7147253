"""No name of a schema is one that the headers around generated code have taken.

    python3 c_names_test.py CULEXC

Asks the compilers which names these headers declare or define, calls a struct, a param and an
enum's value by each, and compiles what culexc does not refuse, all of it together.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, Set

CULEXC = os.path.abspath(sys.argv.pop(1))
INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "runtime", "include")
FEATURES = os.path.join(INCLUDE, "..", "..", "schemas", "feature")

# What every generated file includes, and what an application may include before it: all headers that
# POSIX names, but those that glibc has not (ndbm.h, stropts.h, trace.h) and tgmath.h, whose macros all
# take arguments; then what daemons on Linux include besides.
OWN = ["culex/culex.h"]
POSIX = """aio arpa/inet assert complex cpio ctype dirent dlfcn errno fcntl fenv float fmtmsg fnmatch ftw glob grp iconv
    inttypes iso646 langinfo libgen limits locale math monetary mqueue net/if netdb netinet/in netinet/tcp nl_types poll
    pthread pwd regex sched search semaphore setjmp signal spawn stdarg stdbool stddef stdint stdio stdlib string strings
    sys/ipc sys/mman sys/msg sys/resource sys/select sys/sem sys/shm sys/socket sys/stat sys/statvfs sys/time sys/times
    sys/types sys/uio sys/un sys/utsname sys/wait syslog tar termios time ulimit unistd utime utmpx wchar wctype wordexp"""
LINUX = "err getopt sys/epoll sys/eventfd sys/file sys/inotify sys/ioctl sys/param sys/signalfd sys/timerfd"
HEADERS = [*(f"{name}.h" for name in (POSIX + " " + LINUX).split()), *OWN]
LANGUAGES = {"c": ["gcc", "-xc", "-std=c11", "-D_XOPEN_SOURCE=700"], "gnu": ["gcc", "-xc", "-std=gnu2x", "-D_GNU_SOURCE"],
             "c++": ["g++", "-xc++", "-std=gnu++17"]}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")


def compiler(language: str, *flags: str, text: str = "") -> str:
    before = "".join(f"#include <{header}>\n" for header in HEADERS)
    done = subprocess.run([*LANGUAGES[language], f"-I{INCLUDE}", *flags, "-"], input=before + text, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
    if "fatal error" in done.stdout:
        raise AssertionError(done.stdout)
    return done.stdout


def declared() -> Set[str]:
    """Every word of the headers: more than they declare, and nothing they declare is missing."""
    text = "".join(compiler(language, "-E", "-P") for language in LANGUAGES)
    return {word for word in re.findall(r"\w+", text) if NAME.fullmatch(word)}


def defined() -> Set[str]:
    """Macros without arguments."""
    text = "".join(compiler(language, "-E", "-dM") for language in LANGUAGES)
    return {word for word in re.findall(r"^#define (\w+)(?: |$)", text, re.MULTILINE) if NAME.fullmatch(word)}


class CNames(unittest.TestCase):
    def taken(self, schemas: Dict[str, str]) -> Set[str]:
        """The names whose schemas culexc takes."""
        with tempfile.TemporaryDirectory() as place:
            for at, (name, text) in enumerate(schemas.items()):
                with open(os.path.join(place, f"n{at}.job"), "w", encoding="ascii") as file:
                    file.write(text)
            files = [f"n{at}.job" for at in range(len(schemas))]
            done = subprocess.run([CULEXC, "check", *files], cwd=place, stderr=subprocess.PIPE, text=True, timeout=120,
                                  check=False)
        self.assertIn(done.returncode, (0, 1))
        refused = {int(number) for number in re.findall(r"^n(\d+)\.job:.*error: ", done.stderr, re.MULTILINE)}
        return {name for at, name in enumerate(schemas) if at not in refused}

    def assert_compiles(self, lines: Dict[str, str]) -> None:
        """Each line of code stands for a name."""
        names = list(lines)
        for language in LANGUAGES:
            said = compiler(language, "-fsyntax-only", "-w", text="".join(lines.values()))
            wrong = {names[int(line) - 1 - len(HEADERS)] for line in re.findall(r"^<stdin>:(\d+):\d+: error:", said, re.MULTILINE)}
            self.assertEqual(sorted(wrong), [], language)

    def test_struct_that_is_taken_compiles_beside_all_headers(self) -> None:
        """As types at file scope, the widest of all."""
        names = declared()
        self.assertGreater(len(names), 500)
        taken = self.taken({name: f"struct {name} {{ int8 x; }}" for name in sorted(names)})
        self.assertGreater(len(taken), 20)
        self.assert_compiles({name: f"typedef struct {name} {{ char x; }} {name};\n" for name in sorted(taken)})

    def test_param_that_is_taken_compiles_beside_all_headers(self) -> None:
        names = defined()
        self.assertGreater(len(names), 500)
        taken = self.taken({name: f"job a {{ params {{ int8 {name}; }} }}" for name in sorted(names)})
        self.assert_compiles({name: f"struct holder_{at} {{ char {name}; }};\n"
                                            for at, name in enumerate(sorted(taken))})

    def test_value_that_is_taken_compiles_beside_all_headers(self) -> None:
        """LOG_ERR is the value ERR of an enum log, and TCP_LISTEN, no macro, LISTEN of an enum tcp."""
        known = sorted(defined() | declared())
        names = {name: name.split("_", 1) for name in known if name.isupper() and "_" in name}
        taken = self.taken({name: f"enum {enum.lower()} {{ {value} }}" for name, (enum, value) in names.items()})
        self.assert_compiles({name: f"enum {{ {name} = {at} }};\n" for at, name in enumerate(sorted(taken))})

    def test_every_name_of_the_table_is_refused(self) -> None:
        """Also those that this machine's headers have not. They are looked for by halves, so their order counts."""
        with open(os.path.join(INCLUDE, "..", "..", "codegen", "front", "c_library.def"), encoding="ascii") as file:
            names = set(re.findall(r"\b(?:C_MATH|C_NAME|C_CONSTANT)\((\w+)\)", file.read()))
        self.assertGreater(len(names), 4000)
        self.assertEqual(self.taken({name: f"struct {name} {{ int8 x; }}" for name in sorted(names)}), set())

    def test_generated_code_behind_all_headers(self) -> None:
        """Nothing that generated code or our headers call something is a macro of another header."""
        with tempfile.TemporaryDirectory() as place:
            schemas = [os.path.join(FEATURES, name) for name in sorted(os.listdir(FEATURES))
                       if name.endswith(".job") and name not in ("mail.job", "nightly.job")]  # settings that are not honoured yet
            subprocess.run([CULEXC, "gen", "-I", FEATURES, "--out", place, *schemas], timeout=120, check=True)
            names = sorted(os.listdir(place))
            self.assertGreater(len(names), 10)
            text = "".join(f'#include "{name}"\n' for name in names)
            for language in LANGUAGES:
                said = compiler(language, f"-I{place}", f"-I{FEATURES}", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", text=text)
                self.assertEqual(said, "", language)

    def refuses_macro(self, name: str) -> bool:
        with tempfile.TemporaryDirectory() as place:
            with open(os.path.join(place, "a.job"), "w", encoding="ascii") as file:
                file.write("job a;")
            done = subprocess.run([CULEXC, "ir", "--export-macro", name, "a.job"], cwd=place, text=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(done.returncode == 2, f"--export-macro: '{name}' is" in done.stderr, done)
        return done.returncode == 2

    def test_export_macro_that_c_has_taken_is_refused(self) -> None:
        """A generated header would define it as nothing."""
        for name in ("int", "class", "size_t", "printf", "sin", "defined", "_EXPORT", "NULL", "CULEX_API", "culex_uuid"):
            self.assertTrue(self.refuses_macro(name), name)
        for name in ("EXPORT", "SHOP_API", "M_API", "SIGNAL_API", "api"):
            self.assertFalse(self.refuses_macro(name), name)


if __name__ == "__main__":
    unittest.main()
