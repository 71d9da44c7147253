"""What `culexc gen --plugin` promises: what the program reads, and what becomes of its answer.

plugin_test.py CULEXC
"""
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

CULEXC = pathlib.Path(sys.argv.pop(1)).resolve()
ONE = [{"name": "a.txt", "content": "é\n"}]


class Plugin(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.work = pathlib.Path(holder.name)
        self.out = self.work / "out"
        self.env = {**os.environ, "PATH": f"{self.work}:{os.environ['PATH']}"}
        (self.work / "types.job").write_text("package t; struct s { int32 x; }")
        (self.work / "a.job").write_text('package p; import "types.job"; job a { params { t.s v; } }')
        (self.work / "b.job").write_text('package q; import "types.job"; job b { params { t.s v; } }')

    def program(self, text, name="plugin"):
        path = self.work / name
        path.write_text(f"#!{sys.executable} -IS\nimport json, os, sys, time\n" + textwrap.dedent(text))
        path.chmod(0o755)

    def answer(self, value):
        self.program(f"sys.stdout.write({value if isinstance(value, str) else json.dumps(value)!r})")

    def gen(self, *arguments, status=0, plugin="./plugin", files=("a.job", "b.job")):
        command = [CULEXC, "gen", "--out", "out", "--plugin", plugin, *arguments, *files]
        done = subprocess.run(command, cwd=self.work, env=self.env, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def refused(self, part, *arguments, status=3, **more):
        self.assertIn(part, self.gen(*arguments, status=status, **more))
        self.assertFalse(self.out.exists())

    # What it reads.

    def asked(self, *arguments, **more):
        self.program("""json.dump({"files": [{"name": "read", "content": sys.stdin.read()}]}, sys.stdout)""")
        self.gen(*arguments, **more)
        return json.loads((self.out / "read").read_text())

    def test_it_reads_what_ir_prints(self):
        printed = subprocess.run([CULEXC, "ir", "b.job", "a.job"], cwd=self.work, capture_output=True,
                                 check=True, timeout=60).stdout
        self.assertEqual(self.asked(files=("b.job", "a.job")), json.loads(printed))

    def test_named_files_come_first_and_each_once(self):
        for files, names in [(("b.job", "a.job"), ["b.job", "a.job", "types.job*"]),
                             (("a.job", "types.job", "./a.job"), ["a.job", "types.job"]),
                             (("types.job",), ["types.job"])]:
            read = self.asked(files=files)["files"]
            self.assertEqual([file["file"] + "*" * (not file["named"]) for file in read], names)

    def test_files_beside_are_read_and_not_named(self):
        (self.work / "faulty.job").write_text("job f { priority 99; }")
        read = self.asked("--beside", "b.job", "--beside=./a.job", "--beside", "faulty.job", "--depfile", "d",
                          files=("a.job",))["files"]
        self.assertEqual([file["file"] + "*" * (not file["named"]) for file in read],
                         ["a.job", "b.job*", "types.job*"])
        self.assertNotIn("b.job", (self.work / "d").read_text())

    def test_file_beside_that_cannot_be_read_is_told(self):
        self.answer({"files": ONE})
        self.refused("cannot read 'none.job'", "--beside", "none.job")

    def test_complaint_about_a_file_beside_has_its_place(self):
        self.answer({"errors": [{"file": "b.job", "line": 1, "message": "no"}]})
        self.refused("b.job:1:1: error: no", "--beside", "b.job", status=1, files=("a.job",))

    def test_options_arrive_in_order(self):
        self.assertEqual(self.asked()["options"], {})
        read = self.asked("--option", "b=1=2", "--option=a=", "--option", "c d=\u20ac")
        self.assertEqual(list(read["options"].items()), [("b", "1=2"), ("a", ""), ("c d", "\u20ac")])
        for options in [["--option", "x"], ["--option", "=x"], ["--option", "x=1", "--option", "x=2"]]:
            self.gen(*options, status=2)

    def test_wrong_schema_is_not_shown(self):
        self.answer({"files": ONE})
        (self.work / "b.job").write_text("job b { priority 99; }")
        self.refused("priority", status=1)

    # What becomes of its files.

    def test_files_are_written_if_they_change(self):
        self.answer({"more": [1, {}], "files": ONE + [{"name": "x/y/b-1.json", "content": "\0", "more": 1}]})
        self.gen()
        self.assertEqual((self.out / "a.txt").read_text(), "é\n")
        self.assertEqual((self.out / "x/y/b-1.json").read_bytes(), b"\0")
        os.utime(self.out / "a.txt", (1, 1))
        self.answer({"files": ONE})
        self.gen()
        self.assertEqual((self.out / "a.txt").stat().st_mtime, 1)

    def test_check_names_what_differs(self):
        self.answer({"files": ONE + [{"name": "x/b", "content": "b"}]})
        self.refused("'out/x/b' is missing", "--check", status=1)
        self.gen()
        self.assertEqual(self.gen("--check"), "")
        (self.out / "a.txt").write_text("edited")
        self.assertIn("'out/a.txt' is out of date", self.gen("--check", status=1))
        self.assertEqual((self.out / "a.txt").read_text(), "edited")

    def test_depfile_names_plugin_schemas_and_files(self):
        self.answer({"files": ONE})
        self.gen("--depfile", "d", files=("a.job",))
        text = (self.work / "d").read_text()
        self.assertTrue(text.startswith("out/a.txt:"), text)
        for name in ["./plugin:\n", "a.job:\n", "types.job:\n"]:
            self.assertIn(name, text)

    def test_no_file_is_fine(self):
        for value in [{}, {"files": []}, {"errors": []}, {"errors": [], "files": []}]:
            self.answer(value)
            self.gen()

    def test_names_stay_in_the_folder(self):
        for name in ["", "/abs", "..", ".", "../a", "x/../a", "x/..", "./a", "x/", "x//a", "/", ".hidden",
                     "x/.git", "-rf", "a\\b", "a\nb", "a b", "a\0b", "é", "C:", "a" * 2000]:
            with self.subTest(name=name):
                self.answer({"files": ONE + [{"name": name, "content": "x"}]})
                self.refused("the plug-in './plugin'")
        self.answer({"files": ONE + ONE})
        self.refused("'a.txt'")
        self.assertFalse((self.work / "a").exists())

    def test_names_are_apart_in_every_file_system(self):
        for names in [("x", "X"), ("a/x", "A/X"), ("x", "x/y"), ("x/y/z", "X"), ("x-1", "x", "x.y", "x/y")]:
            with self.subTest(names=names):
                self.answer({"files": [{"name": name, "content": "x"} for name in names]})
                self.refused("the plug-in './plugin' answers with a file that")
        self.answer({"files": [{"name": name, "content": "x"} for name in ("x-1/y", "x", "x.y/z", "y/a", "Y/b", "xy")]})
        self.gen()

    def test_text_is_utf8(self):
        for answer in [b'{"files": [{"name": "a", "content": "\xff"}]}', b'{"errors": [{"message": "\xc3("}]}']:
            self.program(f"sys.stdout.buffer.write({answer!r})")
            self.refused("the plug-in './plugin'")

    def test_link_to_a_folder_is_not_followed(self):
        (self.work / "elsewhere").mkdir()
        self.out.mkdir()
        (self.out / "x").symlink_to(self.work / "elsewhere")
        self.answer({"files": ONE + [{"name": "x/a", "content": ""}]})
        self.assertIn("out/x/a", self.gen(status=3))
        self.assertEqual((list((self.work / "elsewhere").iterdir()), (self.out / "a.txt").exists()), ([], False))

    def test_link_in_the_way_is_replaced(self):
        victim = self.work / "victim"
        victim.write_text("precious")
        self.out.mkdir()
        (self.out / "a.txt").symlink_to(victim)
        self.answer({"files": ONE})
        self.gen()
        self.assertEqual(victim.read_text(), "precious")

    def test_file_where_a_folder_should_be_is_told(self):
        self.out.mkdir()
        (self.out / "x").write_text("")
        self.answer({"files": [{"name": "x/a", "content": ""}]})
        self.assertIn("out/x/a", self.gen(status=3))

    def test_any_other_answer_is_refused(self):
        whole = json.dumps({"files": ONE})
        for text in ["", "x", "[]", "7", "null", '"x"', whole[:-1], whole + "x", whole + whole, "[" * 100000,
                     '{"files": {}}', '{"files": [7]}', '{"files": [{}]}', '{"files": [{"name": "a"}]}',
                     '{"files": [{"content": "a"}]}', '{"files": [{"name": 1, "content": "a"}]}',
                     '{"files": [{"name": "a", "content": null}]}', '{"errors": [{}]}', '{"errors": [7]}',
                     '{"errors": [{"message": 7}]}', '{"errors": [{"message": "m", "line": -1}]}',
                     '{"errors": [{"message": "m", "line": "1"}]}', '{"files": [], "files": []}',
                     '{"errors": [], "errors": []}', '{"files": [{"name": "a", "name": "b", "content": ""}]}',
                     '{"files": [{"name": "a", "content": "", "content": ""}]}',
                     '{"errors": [{"message": "m", "message": "n"}]}', '{"errors": [{"message": "m", "line": 1, "line": 1}]}']:
            with self.subTest(text=text[:40]):
                self.answer(text)
                self.refused("does not answer as schemas/plugin.md says")

    def test_refused_answer_is_told_with_fault_and_place(self):
        for text, said in [("", "after 0 bytes, no object where one must be"),
                           ('{"x": 01}', "after 8 bytes, malformed number"),
                           ('{"x": "\t"}', "after 7 bytes, raw control character in a string"),
                           ('{"x": ' + "[" * 65, "after 70 bytes, too many objects and lists inside each other"),
                           ('{"errors": [{"message": "m", "line": 1.5}]}', "after 37 bytes, number that is not whole or needs more than 64 bits"),
                           ('{"files": [{"name": "a"}]}', "after 24 bytes, a file has no name or no content"),
                           ("{} x", "after 3 bytes, more behind the end")]:
            with self.subTest(text=text[:40]):
                self.answer(text)
                self.refused("the plug-in './plugin' does not answer as schemas/plugin.md says: " + said)

    # What becomes of its complaints.

    def test_complaint_without_a_place_is_shown(self):
        for error in [{"message": "too\u202e bad"}, {"message": "too\u202e bad", "file": "other.job", "line": 1}]:
            self.answer({"errors": [error], "files": ONE})
            self.refused("the plug-in './plugin' says: too")
            self.assertNotIn("\u202e", self.gen(status=3))

    def test_complaint_is_a_diagnostic_in_every_format(self):
        self.answer({"errors": [{"file": "b.job", "line": 1, "column": 9, "message": "no"}]})
        self.refused("b.job:1:9: error: no [plugin-error]", "--message-format=short", status=1)
        self.refused('"id":"plugin-error"', "--message-format=json", status=1)
        self.refused('"plugin-error"', "--message-format=sarif", status=1)

    def test_warnings_are_shown_once(self):
        (self.work / "b.job").write_text('import "types.job"; job b;')
        self.answer({"errors": [{"file": "b.job", "message": "no"}]})
        self.assertEqual(self.gen(status=1).count("[unused-import]"), 1)

    # How it ends.

    def test_failure_is_told_and_its_words_are_shown(self):
        self.program('sys.stderr.write("its own words\\n"); print(json.dumps({"files": []})); sys.exit(7)')
        self.refused("its own words")
        self.refused("failed with exit status 7")
        self.program("os.kill(os.getpid(), 9)")
        self.refused("ended by signal 9")

    def test_time_is_bounded(self):
        for text in ["time.sleep(60)", "os.close(1); time.sleep(60)",
                     'while True: print(" ", flush=True); time.sleep(0.01)']:
            with self.subTest(text):
                self.program(text)
                self.refused("took more than 1 seconds", "--timeout", "1")
        for wrong in ["0", "-1", "x", "1x", "99999999999999999999", "4000"]:
            self.gen("--timeout", wrong, status=2)

    def start(self, *arguments):
        """culexc, and what ends when it and all of its children have."""
        ours, theirs = os.pipe()
        os.set_inheritable(theirs, True)
        self.addCleanup(os.close, ours)
        process = subprocess.Popen([CULEXC, "gen", "--out", "out", "--plugin", "./plugin", *arguments, "a.job"],
                                   cwd=self.work, pass_fds=[theirs], stderr=subprocess.PIPE, text=True)
        os.close(theirs)
        self.addCleanup(process.stderr.close)
        return process, ours

    def ended(self, descriptor):
        return bool(select.select([descriptor], [], [], 20)[0]) and os.read(descriptor, 1) == b""

    def test_its_children_end_with_it(self):
        self.program("""
            import subprocess
            subprocess.Popen(["sleep", "50"], close_fds=False)
            sys.stderr.write("ready\\n"); sys.stderr.flush()
            time.sleep(50)""")
        process, descriptor = self.start("--timeout", "1")
        self.assertEqual((process.wait(20), self.ended(descriptor)), (3, True))
        process, descriptor = self.start()
        process.stderr.readline()
        process.terminate()
        self.assertEqual((process.wait(20), self.ended(descriptor)), (-signal.SIGTERM, True))

    def test_child_that_it_leaves_is_not_waited_for(self):
        self.program("""
            import subprocess
            subprocess.Popen(["sleep", "15"], stderr=subprocess.DEVNULL)
            print("{}")
            sys.exit(int(os.environ["STATUS"]))""")
        for status, said in [("7", "failed with exit status 7"), ("0", "")]:
            self.env["STATUS"] = status
            self.assertIn(said, self.gen("--timeout", "10", status=3 if said else 0))

    def test_filter_that_writes_behind_its_end_is_heard(self):
        self.program("""
            import subprocess
            subprocess.Popen(["sh", "-c", "sleep 0.2; echo '{\\"files\\": [{\\"name\\": \\"a\\", \\"content\\": \\"\\"}]}'"])""")
        self.gen()
        self.assertTrue((self.out / "a").exists())

    def test_size_is_bounded(self):
        self.program('while True: os.write(1, b" " * (1 << 20))')
        self.refused("answered more than")

    def test_it_need_not_read(self):
        self.program("os.close(0); print('{}')")
        self.gen()

    # Which program it is.

    def test_name_is_looked_for_in_the_path(self):
        self.program(f"print({json.dumps(json.dumps({'files': ONE}))})", "culexc-gen-own")
        self.gen(plugin="own")
        self.assertTrue((self.out / "a.txt").exists())

    def test_program_that_cannot_run_is_named(self):
        self.refused("culexc-gen-none", plugin="none")
        self.refused("./none", plugin="./none")
        (self.work / "plugin").write_text("")
        self.refused("./plugin")
        for name in ["a b", "..", "a;b", "a.py"]:
            self.refused("no name of a plug-in", plugin=name)


unittest.main()
