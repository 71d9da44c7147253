"""What `culexc gen` promises about the files it writes, with a stand-in renderer.

gen_test.py CULEXC
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CULEXC = pathlib.Path(sys.argv.pop(1)).resolve()


class Gen(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.work = pathlib.Path(holder.name)
        self.out = self.work / "out put"

    def gen(self, text, *options, **env):
        (self.work / "mail.job").write_text(text)
        env = {**os.environ, "CULEX_DATADIR": str(HERE / "standin"),
               "CULEX_PYTHON": sys.executable, **env}
        command = [CULEXC, "gen", "--out", "out put", *options, "mail.job"]
        return subprocess.run(command, cwd=self.work, env=env, capture_output=True, timeout=60,
                              check=False)

    def names(self):
        return sorted(path.name for path in self.out.iterdir()) if self.out.exists() else []

    def test_two_files_and_nothing_else(self):
        self.assertEqual(self.gen("package p; job a;").returncode, 0)
        self.assertEqual(self.names(), ["mail_job.c", "mail_job.h"])
        self.assertEqual((self.out / "mail_job.h").read_text(), "/* é P_MAIL_JOB_H */\n")

    def test_same_content_keeps_the_time(self):
        self.gen("job a;")
        os.utime(self.out / "mail_job.h", (1, 1))
        self.gen("job b;")  # The stand-in's source names the job, its header does not.
        self.assertEqual((self.out / "mail_job.h").stat().st_mtime, 1)
        self.assertIn("b_job", (self.out / "mail_job.c").read_text())

    def test_depfile_lists_imports_and_escapes(self):
        (self.work / "a b.job").write_text("job x;")
        (self.work / "types.job").write_text("struct s { int32 x; }")
        done = self.gen('import "types.job"; job a { params { s v; } }', "--depfile", "deps.d")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.work / "deps.d").read_text()
        self.assertTrue(text.startswith("out\\ put/mail_job.c out\\ put/mail_job.h:"), text)
        self.assertIn("  types.job \\\n", text)
        self.assertIn("\ntypes.job:\n", text)
        self.assertIn("render.py:\n", text)

    def test_depfile_goes_into_a_pipe_and_the_pipe_stays(self):
        """Root's --depfile /dev/null made a file of the device, for the whole machine."""
        pipe = self.work / "deps"
        os.mkfifo(pipe)
        (self.work / "link").symlink_to(pipe)
        for name in ("deps", "link"):
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            self.addCleanup(os.close, reader)
            done = self.gen("job a;", "--depfile", name)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"mail_job.c", os.read(reader, 65536))
            self.assertTrue(pipe.is_fifo() and (self.work / "link").is_symlink(), name)

    def test_depfile_that_nobody_reads_is_an_error(self):
        os.mkfifo(self.work / "deps")
        done = self.gen("job a;", "--depfile", "deps")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"cannot write 'deps'", done.stderr)

    def test_depfile_may_be_standard_output(self):
        done = self.gen("job a;", "--depfile", "/dev/fd/1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"mail_job.c", done.stdout)

    def test_depfile_by_a_link_leaves_the_link(self):
        (self.work / "deps").write_text("old " * 1000)
        (self.work / "link").symlink_to("deps")
        self.assertEqual(self.gen("job a;", "--depfile", "link").returncode, 0)
        self.assertTrue((self.work / "link").is_symlink())
        text = (self.work / "deps").read_text()
        self.assertTrue(text.startswith("out\\ put/mail_job.c ") and "old" not in text, text[:80])

    def test_link_is_replaced_not_followed(self):
        victim = self.work / "victim"
        victim.write_text("precious")
        self.out.mkdir()
        (self.out / "mail_job.h").symlink_to(victim)
        self.assertEqual(self.gen("job a;").returncode, 0)
        self.assertEqual(victim.read_text(), "precious")
        self.assertFalse((self.out / "mail_job.h").is_symlink())

    def test_errors_write_nothing(self):
        self.assertEqual(self.gen("job a { unique for 0s; }").returncode, 1)
        self.assertEqual(self.gen("job a { priority 99; }").returncode, 1)
        self.assertEqual(self.names(), [])

    def test_renderer_failure_is_shown(self):
        done = self.gen("package fail; job a;")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"told to fail", done.stderr)
        self.assertEqual(self.names(), [])

    def test_renderer_cannot_write_elsewhere(self):
        self.assertEqual(self.gen("package escape; job a;").returncode, 3)
        self.assertEqual(self.names(), [])
        self.assertFalse((self.work / "mail_job.h").exists())

    def test_missing_python_is_said(self):
        done = self.gen("job a;", CULEX_PYTHON="/nonexistent/python")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"/nonexistent/python", done.stderr)

    def test_mode_honours_umask(self):
        old = os.umask(0o027)
        try:
            self.gen("job a;")
        finally:
            os.umask(old)
        self.assertEqual((self.out / "mail_job.h").stat().st_mode & 0o777, 0o640)

    def test_wrong_usage_and_missing_files_have_their_exit_codes(self):
        for arguments, status in [([], 2), (["nonsense"], 2), (["check"], 2), (["gen", "x.job"], 2),
                                  (["check", "--wrong", "x.job"], 2), (["check", "none.job"], 3),
                                  (["check", "/dev/null"], 3), (["--help"], 0), (["--version"], 0),
                                  (["gen", "--help"], 0), (["check", "-I"], 2)]:
            done = subprocess.run([CULEXC, *arguments], cwd=self.work, capture_output=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, status, arguments)


class Many(unittest.TestCase):
    """One renderer a call, and none for what is there already."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.work = pathlib.Path(holder.name)
        self.out = self.work / "out"
        self.started = self.work / "started"
        self.renderer = self.work / "renderer"
        shutil.copytree(HERE / "standin", self.renderer)
        python = self.work / "python"
        # Notes each start and what was asked for, then is Python.
        python.write_text(f"""#!{sys.executable}
import json, os, sys
asked = [file["file"] for file in json.load(sys.stdin)["files"]]
open({str(self.started)!r}, "a").write(" ".join(asked) + "\\n")
os.lseek(0, 0, os.SEEK_SET)
os.execv(sys.executable, [sys.executable] + sys.argv[1:])
""")
        python.chmod(0o755)
        self.env = {**os.environ, "CULEX_DATADIR": str(self.renderer), "CULEX_PYTHON": str(python)}
        for name in ["a", "b", "c"]:
            self.write(name, f"package {name}; job j;")

    def write(self, name, text):
        (self.work / f"{name}.job").write_text(text)

    def gen(self, *arguments, status=0):
        """What was rendered, call by call, and the messages."""
        self.started.write_text("")
        command = [CULEXC, "gen", "--out", "out", *(arguments or ["a.job", "b.job", "c.job"])]
        done = subprocess.run(command, cwd=self.work, env=self.env, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.messages = done.stderr
        return self.started.read_text().splitlines()

    def contents(self):
        return {path.name: path.read_bytes() for path in self.out.iterdir()}

    def test_one_renderer_for_all_and_none_for_what_is_there(self):
        self.assertEqual(self.gen(), ["a.job b.job c.job"])
        first = self.contents()
        self.assertEqual(self.gen(), [])
        self.assertEqual(self.contents(), first)
        self.assertEqual(self.gen("b.job"), [])

    def test_files_are_the_same_alone_and_together(self):
        self.gen()
        together = self.contents()
        shutil.rmtree(self.out)
        for name in ["c.job", "a.job", "b.job"]:
            self.gen(name)
        self.assertEqual(self.contents(), together)

    def test_only_what_changed_is_rendered(self):
        self.gen()
        self.write("b", "package b; job k;")
        self.assertEqual(self.gen(), ["b.job"])
        self.write("b", "package b; job k; // a comment changes nothing")
        self.assertEqual(self.gen(), [])

    def test_whatever_it_depends_on_renders_again(self):
        everything = ["a.job b.job c.job"]
        template = self.renderer / "templates" / "x.j2"
        template.parent.mkdir()
        self.write("types", "struct s { int32 x; }")
        self.write("c", 'package c; import "types.job"; job j { params { s v; } }')
        self.gen()
        for what, change, rendered in [
                ("another macro", lambda: None, everything),
                ("a program of the renderer", lambda: (self.renderer / "more.py").touch(), everything),
                ("a new template", template.touch, everything),
                ("its text", lambda: template.write_text("x"), everything),
                ("its name", lambda: template.rename(template.with_name("y.j2")), everything),
                ("an import", lambda: self.write("types", "struct s { int64 x; }"), ["c.job"])]:
            with self.subTest(what):
                change()
                arguments = ["--export-macro", "M", "a.job", "b.job", "c.job"]
                self.assertEqual(self.gen(*arguments), rendered)
                self.assertEqual(self.gen(*arguments), [])

    def test_edited_output_is_rendered_again(self):
        self.gen()
        good = self.contents()
        header, source = self.out / "b_job.h", self.out / "b_job.c"
        stamp = good["b_job.c"].splitlines(keepends=True)[-1]
        self.assertRegex(stamp, rb"\A/\* culexc gen: [0-9a-f]{16} \*/\n\Z")
        for what, change in [
                ("text at the end", lambda: source.write_bytes(good["b_job.c"] + b"\n")),
                ("a byte of the source", lambda: source.write_bytes(b"X" + good["b_job.c"][1:])),
                ("a byte of the header", lambda: header.write_bytes(b"X" + good["b_job.h"][1:])),
                ("a NUL behind the header", lambda: header.write_bytes(good["b_job.h"] + b"\0")),
                ("a byte from one to the other", lambda: [
                    header.write_bytes(good["b_job.h"] + good["b_job.c"][:1]),
                    source.write_bytes(good["b_job.c"][1:])]),
                ("no stamp", lambda: source.write_bytes(good["b_job.c"][:-len(stamp)])),
                ("the stamp of another", lambda: source.write_bytes(
                    good["b_job.c"][:-len(stamp)] + good["a_job.c"].splitlines(keepends=True)[-1])),
                ("nothing but the stamp", lambda: source.write_bytes(stamp)),
                ("empty", lambda: header.write_bytes(b"")),
                ("no header", header.unlink),
                ("no source", source.unlink)]:
            with self.subTest(what):
                change()
                self.assertEqual(self.gen(), ["b.job"])
                self.assertEqual(self.contents(), good)

    def test_link_to_what_was_rendered_is_replaced(self):
        self.gen()
        moved = self.work / "moved"
        (self.out / "b_job.h").rename(moved)
        (self.out / "b_job.h").symlink_to(moved)
        self.assertEqual(self.gen(), ["b.job"])
        self.assertFalse((self.out / "b_job.h").is_symlink())

    def test_depfile_is_whole_when_nothing_is_rendered(self):
        (self.renderer / "templates").mkdir()
        (self.renderer / "templates" / "x.j2").touch()
        self.gen("--depfile", "1.d", "a.job")
        self.assertEqual(self.gen("--depfile", "2.d", "a.job"), [])
        text = (self.work / "2.d").read_text()
        self.assertEqual(text, (self.work / "1.d").read_text())
        for name in ["out/a_job.c out/a_job.h:", "a.job:", "render.py:\n", "templates/x.j2:\n"]:
            self.assertIn(name, text)

    def test_good_ones_are_written_beside_a_bad_one(self):
        self.write("b", "job j { priority 99; }")
        self.assertEqual(self.gen(status=1), ["a.job c.job"])
        self.assertEqual(len(self.contents()), 4)

    def test_file_that_is_named_twice_counts_once(self):
        (self.work / "link.d").symlink_to(".")
        self.assertEqual(self.gen("a.job", "./a.job", "link.d/a.job"), ["a.job"])

    def test_check_names_what_differs_and_writes_nothing(self):
        self.gen("--check", "a.job", "b.job", "c.job", status=1)
        self.assertFalse(self.out.exists())
        self.assertEqual(self.messages.count("is missing"), 6)
        self.gen()
        self.gen("--check", "a.job", "b.job", "c.job")
        self.assertEqual(self.messages, "")
        (self.out / "a_job.h").write_text("edited")
        (self.out / "b_job.c").unlink()
        before = self.contents()
        self.gen("--check", "a.job", "b.job", "c.job", status=1)
        self.assertEqual(self.messages,
                         "culexc: 'out/a_job.h' is out of date\n"
                         "culexc: 'out/b_job.c' is missing\n"
                         "culexc: write what differs with the same command without --check\n")
        self.assertEqual(self.contents(), before)

    def test_check_believes_no_stamp(self):
        """A stamp is no secret: whoever changes a file can make it fit."""
        self.gen()
        self.assertEqual(self.gen("--check", "a.job"), ["a.job"])

    def test_check_goes_without_depfile(self):
        self.gen("--check", "--depfile", "d", "a.job", status=2)


unittest.main()
