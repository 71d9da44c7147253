"""Verbs that are given folders instead of files.

folders_test.py CULEXC
"""
import os
import subprocess
import unittest

from case import BAD, CULEXC, GOOD, Case

NOBODY = 65534


class Folders(Case):
    def test_schemas_are_found_at_any_depth_by_name(self):
        for name in ("z.job", "a.job", "sub/deep/c.job", "sub/b.job", "sub.job"):
            self.write(name, BAD)
        wanted = ["a.job", "sub/b.job", "sub/deep/c.job", "sub.job", "z.job"]
        self.assertEqual(self.named("check", "."), wanted)
        self.assertEqual(self.named("check", "./"), wanted)
        self.assertEqual(self.named("check", "sub//"), ["sub/b.job", "sub/deep/c.job"])
        whole = [str(self.work / name) for name in wanted]
        self.assertEqual(self.named("check", self.work), whole)

    def test_other_files_and_hidden_folders_are_left_out(self):
        self.write("a.job", BAD)
        for name in (".git/b.job", "sub/.hidden/c.job", ".d.job", "e.job.orig", "job", ".job", "f.JOB"):
            self.write(name, BAD)
        (self.work / "g.job").mkdir()
        os.mkfifo(self.work / "pipe.job")
        self.assertEqual(self.named("check", "."), ["a.job"])

    def test_hidden_folder_that_is_named_is_walked(self):
        self.write(".schemas/a.job", BAD)
        self.assertEqual(self.named("check", ".schemas"), [".schemas/a.job"])

    def test_no_link_is_followed_but_the_one_that_is_named(self):
        self.write("real/a.job", BAD)
        (self.work / "real/loop").symlink_to("..")
        (self.work / "real/again.job").symlink_to("a.job")
        (self.work / "link").symlink_to("real")
        self.assertEqual(self.named("check", "."), ["real/a.job"])
        self.assertEqual(self.named("check", "link"), ["link/a.job"])

    def test_nothing_found_is_said(self):
        (self.work / "empty").mkdir()
        status, _, said = self.culexc("check", "empty")
        self.assertEqual((status, said), (3, "culexc: no .job file is in 'empty'\n"))

    def test_files_beside_a_folder_without_any_are_still_checked(self):
        self.write("a.job", BAD)
        (self.work / "empty").mkdir()
        status, _, said = self.culexc("check", "empty", "a.job")
        self.assertEqual(status, 3)
        self.assertIn("a.job:1:", said)

    @unittest.skipIf(os.geteuid() != 0, "becomes another user")
    def test_folder_that_cannot_be_read_is_named(self):
        self.write("a.job", BAD)
        self.write("closed/b.job", BAD)
        self.work.chmod(0o755)
        (self.work / "closed").chmod(0)
        done = subprocess.run([CULEXC, "check", "."], cwd=self.work, user=NOBODY, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"culexc: cannot read './closed': Permission denied", done.stderr)
        self.assertIn(b"a.job:1:", done.stderr)

    def test_long_paths_are_walked(self):
        folder = self.work
        for _ in range(12):
            folder = folder / ("n" * 200)
        os.makedirs(folder)
        (folder / "a.job").write_text(BAD, encoding="utf-8")
        shown = self.culexc("check", ".")
        self.assertEqual(shown[0], 1, shown)


class Verbs(Case):
    def setUp(self):
        super().setUp()
        self.write("jobs/a.job", GOOD.format("a"))
        self.write("jobs/sub/b.job", GOOD.format("b"))

    def test_lint_of_a_folder_reads_all_below(self):
        self.assertEqual(self.named("lint", "--tier", "strict", "jobs"), ["jobs/a.job", "jobs/sub/b.job"])

    def test_fmt_of_a_folder_lists_and_writes_all_below(self):
        status, out, _ = self.culexc("fmt", "--check", "jobs")
        self.assertEqual((status, out), (1, "jobs/a.job\njobs/sub/b.job\n"))
        self.assertEqual(self.culexc("fmt", "-w", "jobs")[0], 0)
        self.assertEqual(self.culexc("fmt", "--check", "jobs"), (0, "", ""))

    def test_gen_of_a_folder_makes_the_files_of_all_below(self):
        self.assertEqual(self.culexc("gen", "--out", "out", "jobs")[0], 0)
        made = sorted(path.name for path in (self.work / "out").iterdir())
        self.assertEqual(made, ["a_job.c", "a_job.h", "b_job.c", "b_job.h"])

    def test_lock_takes_all_of_them_as_one_schema(self):
        self.assertEqual(self.culexc("lock", "jobs")[0], 0)
        lock = (self.work / "jobs.lock").read_text(encoding="utf-8")
        self.assertIn('"a.a"', lock)
        self.assertIn('"b.b"', lock)
        self.assertEqual(self.culexc("lock", "--check", "jobs"), (0, "", ""))

    def test_lock_is_not_written_from_a_part(self):
        (self.work / "empty").mkdir()
        self.assertEqual(self.culexc("lock", "jobs", "empty")[0], 3)
        self.assertFalse((self.work / "jobs.lock").exists())

    def test_breaking_against_a_lock_tells_of_a_job_that_is_gone(self):
        self.assertEqual(self.culexc("lock", "jobs")[0], 0)
        (self.work / "jobs/sub/b.job").unlink()
        status, _, said = self.culexc("breaking", "--against", "jobs.lock", "jobs")
        self.assertEqual(status, 1)
        self.assertIn("[job-removed]", said)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=self.work,
                       check=True, capture_output=True)

    def test_breaking_against_git_misses_no_folder_that_is_gone(self):
        self.write("elsewhere/c.job", GOOD.format("c"))
        self.git("init", "-q", ".")
        self.git("add", "jobs", "elsewhere")
        self.git("commit", "-q", "-m", "start")
        self.assertEqual(self.culexc("breaking", "--against", "git:HEAD", "jobs"), (0, "", ""))
        (self.work / "jobs/sub/b.job").unlink()
        (self.work / "jobs/sub").rmdir()
        status, _, said = self.culexc("breaking", "--against", "git:HEAD", "jobs")
        self.assertEqual((status, said.count("[job-removed]")), (1, 1), said)
        self.assertIn("'b.b'", said)


unittest.main()
