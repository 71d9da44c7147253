"""culexc gen --plugin cpp: headers that compile, and runs that come and go by them on a real store.

    python3 layer_test.py CULEXC LIBCULEX REPOSITORY COMPILER [TEST...]

g++ builds the round trip as C++17 with sanitizers and runs it on SQLite, clang++ as C++20 on Redis.
"""

from __future__ import annotations

import base64
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from typing import List

CULEXC, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:3])
SEAL = os.path.join(os.path.dirname(LIBRARY), "libculex-seal.so")  # not there without libsodium
REPOSITORY, COMPILER = pathlib.Path(sys.argv[3]), sys.argv[4]
HERE = pathlib.Path(__file__).resolve().parent
FEATURE = REPOSITORY / "schemas/feature"
C_COMPILER = {"g++": "gcc", "clang++": "clang"}[COMPILER]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wcast-qual",
          "-Wdouble-promotion", "-Wold-style-cast", "-Werror"]
SANITIZED = ["-g", "-fsanitize=address,undefined"]

# What is no handler, and what is said of it.
MISTAKES = {
    "worker.on<jobs::greeting>([](culex::run &, const jobs::greeting &) { return 1; });":
        "a handler returns nothing, a culex_outcome, or the job's result",
    "client.enqueue_many(std::vector<jobs::old>());": "the job is deprecated or retired",
    "culex::worker_main(0, nullptr, [](culex::worker &) { return 1; });": "a setup returns nothing",
    "struct larger : jobs::greeting { int more; }; culex::list<jobs::greeting>(std::vector<larger>());": "larger",
    "worker.on_process([] { return new int; });": "what is called returns a std::unique_ptr, which closes what it has made",
    "client.enqueue(3);": "this is the struct of no job",
    "worker.on<int>([](culex::run &, const int &) {});": "this is the struct of no job",
    "(void)client.get<jobs::greeting>(culex_uuid()).result();": "the job returns nothing",
    "(void)client.metadata<jobs::greeting>();": "the job keeps no metadata",
    "client.enqueue(jobs::old());": "the job is deprecated or retired",
    "run.fail(\"and goes on\");": "fail",
}
MISTAKEN = """
#include "mistakes_job.hpp"
void mistake(culex::worker &worker, culex::client &client, culex::run &run);
void mistake(culex::worker &worker, culex::client &client, culex::run &run)
{
    CALLS
}
"""


class Layer(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *command: object, status: int = 0) -> str:
        env = {name: value for name, value in os.environ.items() if not name.startswith("CULEX_")}
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=600, check=False)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def generate(self, *schemas: pathlib.Path, out: str = "out") -> List[str]:
        self.run_command(CULEXC, "gen", "-I", FEATURE, "--out", out, *schemas)
        self.run_command(CULEXC, "gen", "--plugin", "cpp", "-I", FEATURE, "--out", out, *schemas)
        return sorted(path.name for path in (self.folder / out).glob("*.hpp"))

    def compile(self, source: str, *flags: object, status: int = 0) -> str:
        return self.run_command(COMPILER, *STRICT, f"-I{REPOSITORY}/runtime/include", *flags, source, status=status)

    def test_every_schema_compiles(self) -> None:
        plain = FEATURE / "mail_plain.job"  # the same job as mail.job
        groups = {"feature": [path for path in FEATURE.glob("*.job") if path != plain], "plain": [plain],
                  "examples": [*REPOSITORY.glob("examples/*/*.job"), HERE / "reserved.job"]}
        made = {folder: self.generate(*schemas, out=folder) for folder, schemas in groups.items()}
        self.assertEqual([len(headers) for headers in made.values()], [len(schemas) for schemas in groups.values()])
        for folder, headers in made.items():
            source = "".join(f'#include "{name}"\n#include "{name}"\n' for name in headers)
            (self.folder / f"{folder}.cc").write_text(source)
        for standard in ("c++17", "c++20"):
            for folder in made:
                self.compile(f"{folder}.cc", f"-std={standard}", f"-I{folder}", "-Ifeature", f"-I{FEATURE}", "-fsyntax-only")

    def test_type_that_no_memory_is_aligned_for_is_refused(self) -> None:
        """The memory of params is aligned as that of malloc."""
        (self.folder / "wide.job").write_text('type wide = string with "wide.h" wide_parse wide_format;\n'
                                              "job lift { params { wide load; } }\n")
        self.generate(self.folder / "wide.job")
        for size, status in ((16, 0), (32, 1)):
            (self.folder / "wide.h").write_text(
                f"typedef struct {{ char bytes[32]; }} __attribute__((aligned({size}))) wide;\n"
                "bool wide_parse(const char *text, size_t len, wide *ret_value);\n"
                "int wide_format(const wide *value, char *ret_text, size_t size);\n")
            for command in ([C_COMPILER, "-std=c11"], [C_COMPILER, "-std=c2x"], [COMPILER, "-x", "c++", "-std=c++11"]):
                said = self.run_command(*command, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                                        f"-I{REPOSITORY}/runtime/include", "-I.", "-fsyntax-only", "out/wide_job.c",
                                        status=status)
                self.assertEqual("more than max_align_t" in said, status == 1, said)

    def test_functions_of_a_type_are_of_their_types(self) -> None:
        """C would convert what one returns, and store 1 for any value."""
        good = {"parse": "bool wide_parse(const char *text, size_t len, wide *ret_value)",
                "format": "int wide_format(const wide *value, char *ret_text, size_t size)"}
        (self.folder / "wide.job").write_text('type wide = string with "wide.h" wide_parse wide_format;\n'
                                              "job lift { params { wide load; } }\n")
        self.generate(self.folder / "wide.job")
        for mistake in ({}, {"parse": good["parse"].replace("bool", "int")}, {"format": good["format"].replace("int", "bool")},
                        {"parse": good["parse"].replace("wide_parse", "wide_format"),
                         "format": good["format"].replace("wide_format", "wide_parse")},
                        {"format": good["format"].replace("const wide", "wide")}):
            lines = {**good, **mistake}
            (self.folder / "wide.h").write_text("#include <stdbool.h>\n#include <stddef.h>\n"
                                                f"typedef struct {{ int x; }} wide;\n{lines['parse']};\n{lines['format']};\n")
            for command in ([C_COMPILER, "-std=c11"], [COMPILER, "-x", "c++", "-std=c++11"]):
                said = self.run_command(*command, "-Wall", "-Wextra", "-Wpedantic", *["-Werror"] * (not mistake),
                                        f"-I{REPOSITORY}/runtime/include", "-I.", "-fsyntax-only", "out/wide_job.c",
                                        status=1 if mistake else 0)
                self.assertEqual("error" in said, bool(mistake), said)
                if mistake and "c++" not in command:
                    self.assertRegex(said, "declare (bool wide_parse|int wide_format)")

    def test_what_is_enqueued_is_what_a_handler_gets(self) -> None:
        self.generate(*(FEATURE / f"types{more}.job" for more in ("", "_defaults", "_optional")), FEATURE / "own_types.job",
                      HERE / "reserved.job")
        self.build("layer")
        for isolation in ("none", "process"):
            said = self.run_command("./layer", self.store(isolation), isolation)
            self.assertEqual(said.count(" dead: "), 2, said)
            self.assertIn("layer: setup failed: job new.goto is registered already\n", said)
            self.assertIn(": on_process made a null pointer\n", said)
            self.assertIn("the close of culex_worker_on_process threw std::runtime_error: still busy\n", said)

    def test_runs_that_belong_together(self) -> None:
        is_sealed = os.path.exists(SEAL)
        self.generate(FEATURE / "metadata.job", REPOSITORY / "examples/thumbnails/thumbnails.job",
                      *[FEATURE / "encrypted.job"] * is_sealed)
        keys = self.folder / "keys"
        keys.touch(mode=0o600)
        keys.write_text(f"one {base64.b64encode(bytes(range(1, 33))).decode()}\n")
        self.build("together", *[SEAL] if is_sealed else ["-DUNSEALED"])
        for isolation in ("none", "process"):
            self.assertEqual(self.run_command("./together", self.store(isolation), isolation), "")

    def build(self, program: str, *more: str) -> None:
        sources = [f"out/{path.name}" for path in (self.folder / "out").glob("*.c")]
        self.run_command(C_COMPILER, "-std=c11", f"-I{REPOSITORY}/runtime/include", f"-I{FEATURE}", "-c", *sources)
        objects = [path.name for path in self.folder.glob("*.o")]
        how = ["-std=c++17", *SANITIZED] if COMPILER == "g++" else ["-std=c++20"]
        self.compile(str(HERE / f"{program}.cc"), *how, "-Iout", f"-I{FEATURE}", *objects, LIBRARY, *more,
                     f"-Wl,-rpath,{os.path.dirname(LIBRARY)}", "-o", program)

    def store(self, name: str) -> str:
        return f"sqlite:{name}.db" if COMPILER == "g++" else self.redis(name)

    def redis(self, name: str) -> str:
        if shutil.which("redis-server") is None:
            return f"sqlite:{name}.db"
        socket = self.folder / f"{name}.sock"
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", self.folder],
                                  stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        deadline = time.monotonic() + 20
        # The file is there a moment before somebody listens.
        while time.monotonic() < deadline and subprocess.run(["redis-cli", "-s", socket, "ping"], capture_output=True, check=False).returncode != 0:
            time.sleep(0.02)
        return f"redis+unix://{socket}"

    def test_documented_program_compiles(self) -> None:
        self.generate(REPOSITORY / "examples/mail/mail.job")
        page = (REPOSITORY / "schemas/plugin.md").read_text()
        unset = "void tell(culex::run run); void tell(culex::run run) { run.progress(50); run.log({}); }\n"
        (self.folder / "page.cc").write_text(page.split("```cpp\n")[1].split("```")[0] + unset)
        self.compile("page.cc", "-std=c++17", "-O2", "-Iout", "-c")  # some warnings come from the optimiser

    def test_mistakes_are_told(self) -> None:
        schema = self.folder / "mistakes.job"
        schema.write_text('job greeting { params { string name; } }\njob old [[deprecated("no more")]];\n')
        self.generate(schema)
        (self.folder / "mistake.cc").write_text(MISTAKEN.replace("CALLS", "\n".join(MISTAKES)))
        said = self.compile("mistake.cc", "-std=c++17", "-Iout", "-fsyntax-only", status=1)
        for line, (call, words) in enumerate(MISTAKES.items(), 6):
            self.assertRegex(said, f"mistake.cc:{line}:", call)
            self.assertIn(words, said)

    def test_type_and_namespace_of_one_name_are_refused(self) -> None:
        for name, text in {"a": "struct s { int32 x; }\njob mail;\n", "mail": "package mail;\njob send;\n",
                           "b": "job post { returns { int32 x; } }\n", "post": "package post.result;\nenum e { A, }\n",
                           "c": "struct jobs { int32 x; }\n", "new": "package new;\njob send;\n",
                           "d": "job new;\n", "same": "package mail;\njob mail;\n"}.items():
            (self.folder / f"{name}.job").write_text(text)
        command = (CULEXC, "gen", "--plugin", "cpp", "--out", "out")
        mail = ("a.job:2:1: error: 'mail' is jobs::mail in C++, and so is package 'mail' of 'mail.job': "
                "rename one of them, or give 'mail' a package")
        post = "b.job:1:1: error: what 'post' returns is jobs::post_result in C++, and so is package 'post.result'"
        for words, files in {mail: ("a.job", "mail.job"), post: ("post.job", "b.job"),
                             "'new' is jobs::new_ in C++": ("new.job", "d.job")}.items():
            for call in (files, (files[0], "--beside", files[1]), (files[1], "--beside", files[0])):
                self.assertIn(words, self.run_command(*command, *call, status=1))
        own = "c.job:1:1: error: 'jobs' is jobs in C, which is the namespace of all: choose another one by --option namespace="
        self.assertIn(own, self.run_command(*command, "c.job", status=1))
        self.assertIn("'s' is s in C", self.run_command(*command, "--option", "namespace=s::t", "a.job", status=1))
        self.assertFalse((self.folder / "out").exists())
        self.run_command(*command, "--option", "namespace=acme", "c.job")
        self.run_command(*command, "same.job", "mail.job")

    def test_what_the_compiler_lacks_is_told_and_nothing_else(self) -> None:
        self.generate(REPOSITORY / "examples/parcels/parcels.job")
        (self.folder / "old.cc").write_text('#include "parcels_job.hpp"\njobs::post::pack_parcel parcel;\n')
        for flag in ("-std=c++14", "-fno-exceptions"):
            said = self.compile("old.cc", "-std=c++17", flag, "-Iout", "-fsyntax-only", status=1)
            self.assertRegex(said, "error: .*culex/culex.hpp needs C\\+\\+17 or later, and exceptions")
            self.assertEqual(said.count("error:"), 2, said)  # the second one ends the compilation

    def test_namespace(self) -> None:
        schema = self.folder / "a.job"
        schema.write_text("package p.q;\njob j;\n")
        command = [CULEXC, "gen", "--plugin", "cpp", "--out", "out", schema, "--option"]
        self.run_command(*command, "namespace=acme::work")
        self.assertIn("namespace acme::work::p_q\n", (self.folder / "out/a_job.hpp").read_text())
        for name in ("std", "culex::x", "new", "a b", "a::", "", "a__b"):
            self.assertIn(f"'{name}' can be no namespace of yours", self.run_command(*command, f"namespace={name}", status=3))
        self.assertIn("there is no option 'name'", self.run_command(*command, "name=x", status=3))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[5:]])
