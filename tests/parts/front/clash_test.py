"""What two files must not both have: refused by `check` and `gen`, with both places, and nothing is written.

clash_test.py CULEXC
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CULEXC = pathlib.Path(sys.argv.pop(1)).resolve()


class Clash(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.work = pathlib.Path(holder.name)

    def write(self, files):
        for name, text in files.items():
            (self.work / name).parent.mkdir(exist_ok=True)
            (self.work / name).write_text(text, encoding="utf-8")

    def run_culexc(self, *words):
        env = {**os.environ, "CULEX_DATADIR": str(HERE / "standin"), "CULEX_PYTHON": sys.executable}
        done = subprocess.run([CULEXC, *words], cwd=self.work, env=env, capture_output=True, timeout=60,
                              check=False)
        return done.returncode, done.stdout.decode() + done.stderr.decode()

    def found(self, *words):
        """(id, file, line, files of the notes) of each error."""
        status, text = self.run_culexc(*words[:1], "--message-format=json", *words[1:])
        items = [json.loads(line) for line in text.splitlines()]
        return status, [(one["id"], one["file"], one["line"], [note["file"] for note in one["notes"]])
                        for one in items]

    def assert_clash(self, files, slug, first, second, line=1, verbs=("check", "gen")):
        self.write(files)
        for verb in verbs:
            for names in [[first, second], [first, second, first]]:
                options = ["--out", "out"] if verb == "gen" else []
                with self.subTest(files=files, verb=verb):
                    self.assertEqual(self.found(verb, *options, "-I", ".", *names),
                                     (1, [(slug, second, line, [first])]))
        self.assertFalse((self.work / "out").exists())
        for name in [first, second]:
            self.assertEqual(self.found("check", "-I", ".", name), (0, []))

    def test_one_stem_in_two_folders_is_one_output(self):
        self.assert_clash({"x/s.job": "package x;\njob a;\n", "y/s.job": "package y;\njob a;\n"},
                          "header-collision", "x/s.job", "y/s.job", verbs=["gen"])
        self.assertEqual(self.found("check", "x/s.job", "y/s.job"), (0, []))

    def test_a_file_beside_is_not_generated(self):
        self.write({"p.job": "job j;\n", "q.job": "job j;\n", "r.job": "job k;\n"})
        self.assertEqual(self.found("gen", "--out", "out", "--beside", "r.job", "--beside=p.job", "q.job"),
                         (1, [("c-name-collision", "q.job", 1, ["p.job"])]))
        self.assertFalse((self.work / "out").exists())
        status, text = self.run_culexc("gen", "--out", "out", "--beside", "none.job", "q.job")
        self.assertEqual((status, "cannot read 'none.job'" in text, (self.work / "out").exists()), (3, True, False))
        self.assertEqual(self.found("gen", "--out", "out", "--beside", "r.job", "q.job"), (0, []))
        self.assertEqual(sorted(path.name for path in (self.work / "out").iterdir()), ["q_job.c", "q_job.h"])

    def test_two_pages_of_one_name_are_refused(self):
        self.write({"x/s.job": "package x;\njob a;\n", "y/s.job": "package y;\njob a;\n"})
        status, text = self.run_culexc("doc", "--out", "out", "x/s.job", "y/s.job")
        self.assertEqual((status, text.count("would both generate")), (1, 1))
        self.assertFalse((self.work / "out").exists())
        self.assertEqual(self.run_culexc("doc", "x/s.job", "y/s.job")[0], 0)

    def test_outputs_that_differ_in_case_alone_are_refused(self):
        self.assert_clash({"x/s.job": "package x;\njob a;\n", "y/S.job": "package y;\njob a;\n"},
                          "header-collision", "x/s.job", "y/S.job", verbs=["gen"])

    def test_output_of_an_imports_name_is_refused(self):
        self.write({"x/s.job": "package x;\njob a;\n", "y/s.job": "package y;\nstruct t { int32 x; }\n",
                    "m.job": 'package m;\nimport "y/s.job";\njob b { params { y.t v; } }\n'})
        self.assertEqual(self.found("gen", "--out", "out", "m.job", "x/s.job"),
                         (1, [("header-collision", "x/s.job", 1, ["y/s.job"])]))
        self.assertFalse((self.work / "out").exists())

    def test_two_include_guards_of_one_name_are_refused(self):
        self.assert_clash({"c.job": "package a.b;\njob j;\n", "b_c.job": "package a;\njob k;\n"},
                          "c-name-collision", "c.job", "b_c.job")
        self.assert_clash({"a-b.job": "job m;\n", "a_b.job": "job n;\n"}, "c-name-collision", "a-b.job", "a_b.job")

    def test_include_guard_of_a_names_spelling_is_refused(self):
        for name in ["enum send_job { G, H }\n", "struct s { int32 SEND_JOB_H; }\n",
                     "job j { params { int32 SEND_JOB_H; } }\n",
                     "job j { returns { int32 SEND_JOB_H; } }\n"]:
            self.write({"send.job": "struct t { int32 x; }\n", "k.job": name})
            self.assertEqual([at[0] for at in self.found("check", "k.job", "send.job")[1]],
                             ["c-name-collision"], name)

    def test_include_guard_of_an_import_clashes_too(self):
        for name, use in [("enum send_job { G, H }\n", "send_job v;"), ("", "int32 SEND_JOB_H;")]:
            self.write({"send.job": "struct t { int32 x; }\n",
                        "k.job": f'import "send.job";\n{name}job k {{ params {{ t x; {use} }} }}\n'})
            for files in [["k.job"], ["k.job", "send.job"]]:
                self.assertEqual([at[0] for at in self.found("check", *files)[1]], ["c-name-collision"], name)
        self.write({"send.job": "enum m_job { G, H }\n",
                    "m.job": 'import "send.job";\njob o { params { m_job x; } }\n'})
        self.assertEqual(self.found("check", "m.job"), (1, [("c-name-collision", "m.job", 1, ["send.job"])]))

    def test_c_names(self):
        for first, second, line in [
                ("job j;\n", "job j { params { int32 x; } }\n", 1),
                ("package a.b;\njob j;\n", "package a;\njob b_j;\n", 2),
                ("struct s { int32 x; }\n", "enum s { A }\n", 1),
                ("job j { returns { int32 x; } }\n", "struct j_result { int32 x; }\n", 1),
                ("struct a_job { int32 x; }\n", "job a;\n", 1),
                ("job j { params { optional int32 x; } }\n", "enum j_job_set_x { A }\n", 1),
                ("struct s_set_x { int32 y; }\n", "struct s { int32 x[]; }\n", 1),
                ("enum e { F_G }\n", "enum e_f { G }\n", 1)]:
            self.assert_clash({"p.job": first, "q.job": second}, "c-name-collision", "p.job", "q.job", line)

    def test_stored_names_of_jobs(self):
        self.assert_clash({"p.job": 'package w;\njob j [[was("k")]];\n', "q.job": "package w;\njob k;\n"},
                          "duplicate-wire-name", "p.job", "q.job", 2)
        self.assert_clash({"p.job": 'package w;\njob j [[was("old")]];\n',
                           "q.job": 'package w;\njob k [[was("old")]];\n'},
                          "duplicate-wire-name", "p.job", "q.job", 2)

    def test_imports_of_different_files_count(self):
        self.write({"lib/u.job": "struct t { int32 x; }\n", "lib/v.job": "struct t { int32 y; }\n",
                    "p.job": 'import "lib/u.job";\njob p { params { t v; } }\n',
                    "q.job": 'import "lib/v.job";\njob q { params { t v; } }\n'})
        for verb in [["check"], ["gen", "--out", "out"]]:
            self.assertEqual(self.found(*verb, "p.job", "q.job"),
                             (1, [("c-name-collision", "lib/v.job", 1, ["lib/u.job"])]))
        for name in ["p.job", "q.job"]:
            self.assertEqual(self.found("check", name), (0, []))

    def test_what_imports_collide_in_is_said_once(self):
        self.write({"u.job": "struct t { int32 x; }\n", "v.job": "struct t { int32 y; }\n",
                    "p.job": 'import "u.job";\nimport "v.job";\njob p { params { t v; } }\n'})
        for verb in [["check"], ["gen", "--out", "out"]]:
            self.assertEqual([at[0] for at in self.found(*verb, "p.job")[1]].count("c-name-collision"), 1)

    def test_one_file_named_twice_is_one(self):
        self.write({"x/s.job": "job a;\n", "m.job": 'import "x/s.job"; // culexc:allow(unused-import)\njob m;\n'})
        (self.work / "s.job").symlink_to("x/s.job")
        self.assertEqual(self.found("check", "x/s.job", "./x/s.job", "s.job", "m.job"), (0, []))
        self.assertEqual(self.run_culexc("gen", "--out", "out", "x/s.job", "s.job", "m.job")[0], 0)

    def test_what_a_file_says_by_itself_is_said_once(self):
        self.write({"p.job": "job j { priority 99; }\n", "q.job": "job j;\n"})
        self.assertEqual([at[0] for at in self.found("check", "p.job", "q.job")[1]], ["out-of-range"])
        self.write({"p.job": "job j;\njob j;\nenum e { A, A }\n"})
        _, text = self.run_culexc("check", "--message-format=short", "p.job")
        self.assertEqual(self.run_culexc("gen", "--message-format=short", "--out", "out", "p.job"), (1, text))
        status, text = self.run_culexc("gen", "--out", "out", "none.job", "q.job")
        self.assertEqual((status, text.count("none.job")), (3, 1))

    def test_a_dry_run_looks_at_what_would_be_written(self):
        self.write({"p.job": "job j;\n", "q.job": "jobb j;\n"})
        status, text = self.run_culexc("check", "--fix", "--dry-run", "p.job", "q.job")
        self.assertEqual(status, 1)
        self.assertIn("both need the C name 'j_job'", text)
        self.assertIn("left: errors 1, warnings 0", text)


if __name__ == "__main__":
    unittest.main()
