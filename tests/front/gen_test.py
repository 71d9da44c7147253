"""What `culexc gen` promises about the files it writes, with a stand-in renderer.

gen_test.py CULEXC
"""
import os
import pathlib
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

    def test_link_is_replaced_not_followed(self):
        victim = self.work / "victim"
        victim.write_text("precious")
        self.out.mkdir()
        (self.out / "mail_job.h").symlink_to(victim)
        self.assertEqual(self.gen("job a;").returncode, 0)
        self.assertEqual(victim.read_text(), "precious")
        self.assertFalse((self.out / "mail_job.h").is_symlink())

    def test_errors_write_nothing(self):
        self.assertEqual(self.gen("job a { cron \"@daily\" tz \"UTC\"; }").returncode, 1)
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

    def test_usage_and_missing_files(self):
        for arguments, status in [([], 2), (["nonsense"], 2), (["check"], 2), (["gen", "x.job"], 2),
                                  (["check", "--wrong", "x.job"], 2), (["check", "none.job"], 3),
                                  (["check", "/dev/null"], 3), (["--help"], 0), (["--version"], 0),
                                  (["gen", "--help"], 0), (["check", "-I"], 2)]:
            done = subprocess.run([CULEXC, *arguments], cwd=self.work, capture_output=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, status, arguments)


unittest.main()
