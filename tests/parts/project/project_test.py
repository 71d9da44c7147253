"""culex.yaml: where it is found, what its keys do, what is refused.

project_test.py CULEXC [--accept]      --accept writes the .expected files; then read the diff
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from case import BAD, CULEXC, GOOD, Case

HERE = pathlib.Path(__file__).resolve().parent
ACCEPT = "--accept" in sys.argv and bool(sys.argv.pop(sys.argv.index("--accept")))
TYPES = "package lib; struct point { int32 x; }\n"
USER = 'package app; import "types.job"; job a { params { lib.point p; } }\n'


class Golden(Case):
    """A project file each: golden/NAME.yaml as culex.yaml, and what `check a.job` says of it."""

    def test_each_project_file_is_read_as_its_golden_says(self):
        cases = sorted((HERE / "golden").glob("*.yaml"))
        self.assertGreater(len(cases), 15)
        for case in cases:
            (self.work / "culex.yaml").write_bytes(case.read_bytes())
            self.write("a.job", "job a;\n")
            status, out, said = self.culexc("check", "a.job")
            actual = f"{out}{said}exit {status}\n"
            expected = case.with_suffix(".expected")
            if ACCEPT:
                expected.write_text(actual, encoding="utf-8")
            with self.subTest(case=case.name):
                self.assertEqual(actual, expected.read_text(encoding="utf-8"))


class Found(Case):
    def setUp(self):
        super().setUp()
        self.write("culex.yaml", "folders: [jobs]\nimports: [include]\n")
        self.write("include/types.job", TYPES)
        self.write("jobs/deep/a.job", USER)

    def test_above_the_file_wherever_culexc_is_called(self):
        for cwd, path in ((".", "jobs/deep/a.job"), ("jobs/deep", "a.job"), ("include", "../jobs/deep/a.job"),
                          ("/", str(self.work / "jobs/deep/a.job"))):
            self.assertEqual(self.culexc("check", path, cwd=cwd), (0, "", ""), cwd)

    def test_project_file_above_the_folder_counts(self):
        self.assertEqual(self.culexc("check", "jobs"), (0, "", ""))
        self.assertEqual(self.culexc("check", ".", cwd="jobs/deep"), (0, "", ""))

    def test_nearest_project_file_counts_alone(self):
        self.write("jobs/culex.yaml", "")
        status, _, said = self.culexc("check", "jobs")
        self.assertEqual(status, 1)
        self.assertIn("[import-not-found]", said)

    def test_link_to_a_file_belongs_where_the_link_is(self):
        self.write("elsewhere/b.job", USER)
        (self.work / "elsewhere/culex.yaml").touch()
        (self.work / "jobs/b.job").symlink_to("../elsewhere/b.job")
        self.assertEqual(self.culexc("check", "jobs/b.job"), (0, "", ""))
        self.assertEqual(self.culexc("check", "elsewhere/b.job")[0], 1)

    def test_files_of_two_projects_are_refused(self):
        self.write("other/culex.yaml", "")
        self.write("other/b.job", "job b;\n")
        self.write("../lone.job", "")
        self.addCleanup((self.work / "../lone.job").unlink)
        status, _, said = self.culexc("check", "jobs/deep/a.job", "other/b.job")
        self.assertEqual(status, 2)
        self.assertIn(f"'other/b.job' belongs to {self.work}/other/culex.yaml, what is named before it to "
                      f"{self.work}/culex.yaml: call once for each", said)
        status, _, said = self.culexc("check", "other/b.job", "../lone.job")
        self.assertEqual(status, 2)
        self.assertIn("'../lone.job' belongs to no culex.yaml", said)

    def test_folder_with_a_project_of_its_own_is_left_out(self):
        self.write("jobs/other/culex.yaml", "")
        self.write("jobs/other/b.job", BAD)
        self.assertEqual(self.culexc("check", "."), (0, "", ""))
        self.assertEqual(self.named("check", "jobs/other"), ["jobs/other/b.job"])

    def test_folder_of_projects_alone_names_one(self):
        self.write("all/b/culex.yaml", "")
        self.write("all/b/b.job", "job b;\n")
        status, _, said = self.culexc("check", "all")
        self.assertEqual(status, 3)
        self.assertEqual(said, "culexc: no .job file is in 'all' but in other projects, such as 'all/b'; name one of them\n")

    def test_standard_input_belongs_to_any(self):
        self.write("culex.yaml", "no: yes\n")
        self.assertEqual(self.culexc("fmt", "-", input=b"job a;\n"), (0, "job a;\n", ""))

    def test_file_that_cannot_be_read_is_said(self):
        self.write("culex.yaml", "#" * 65536 + "\n")
        status, _, said = self.culexc("check", "jobs")
        self.assertEqual((status, said),
                         (3, f"culexc: cannot read '{self.work}/culex.yaml': larger than 64 KiB\n"))

    def test_hostile_depth_is_refused(self):
        self.write("culex.yaml", "a: " + "[" * 65000)
        status, _, said = self.culexc("check", "jobs", "--message-format=short")
        self.assertEqual(status, 1)
        self.assertIn("the lists are too deep", said)

    def test_faults_come_in_every_format(self):
        self.write("culex.yaml", "folder: [jobs]\n")
        status, out, _ = self.culexc("check", "jobs", "--message-format=json")
        self.assertEqual(status, 1)
        found = json.loads(out)
        self.assertEqual([found["id"], found["file"], found["line"]], ["project-key", "culex.yaml", 1])
        self.assertEqual(found["fixes"][0]["text"], "folders")
        _, out, _ = self.culexc("check", "deep", "--message-format=sarif", cwd="jobs")
        results = json.loads(out)["runs"][0]["results"]
        place = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        self.assertEqual(place, "../culex.yaml")


class Keys(Case):
    def test_folders_are_meant_where_nothing_is_named(self):
        self.write("culex.yaml", "folders: [jobs, more/jobs/]\n")
        for name in ("jobs/a.job", "more/jobs/b.job", "other/c.job"):
            self.write(name, BAD)
        self.assertEqual(self.named("check"), ["jobs/a.job", "more/jobs/b.job"])
        self.assertEqual(self.named("check", cwd="more"), ["../jobs/a.job", "jobs/b.job"])
        self.assertEqual(self.named("check", cwd="jobs"), ["a.job", "../more/jobs/b.job"])
        self.assertEqual(self.named("check", "."), ["jobs/a.job", "more/jobs/b.job", "other/c.job"])

    def test_without_folders_it_is_the_whole_project(self):
        self.write("culex.yaml", "")
        self.write("sub/a.job", BAD)
        self.assertEqual(self.named("check"), ["sub/a.job"])
        (self.work / "other").mkdir()
        self.assertEqual(self.named("check", cwd="other"), ["../sub/a.job"])

    def test_without_a_project_something_is_to_be_named(self):
        status, _, said = self.culexc("check")
        self.assertEqual(status, 2)
        self.assertIn("no schema file or folder given, and no culex.yaml", said)

    def test_folder_that_is_not_there_is_an_error(self):
        self.write("culex.yaml", "folders: [jobs]\n")
        status, _, said = self.culexc("check")
        self.assertEqual(status, 3)
        self.assertIn("'jobs'", said)

    def test_imports_come_after_those_of_the_command_line(self):
        self.write("culex.yaml", "imports: include\n")
        self.write("include/types.job", TYPES)
        self.write("mine/types.job", TYPES.replace("point", "line"))
        self.write("jobs/a.job", USER)
        self.assertEqual(self.culexc("check", "jobs/a.job"), (0, "", ""))
        self.assertIn("[unknown-type]", self.culexc("check", "-I", "mine", "jobs/a.job")[2])

    def test_excluded_paths_are_left_out_and_others_stay(self):
        self.write("culex.yaml", "exclude: [build, 'gen/*.job', jobs/old, '?_draft.job']\n")
        names = ["a.job", "jobs/a.job", "jobs/gen/a.job", "jobs/older/a.job", "gen/sub/a.job", "xx_draft.job"]
        gone = ["build/a.job", "jobs/build/a.job", "gen/a.job", "jobs/old/a.job", "jobs/old/sub/b.job",
                "jobs/x_draft.job"]
        for name in names + gone:
            self.write(name, BAD)
        self.assertEqual(sorted(self.named("check")), sorted(names))
        self.assertEqual(sorted(self.named("check", ".", cwd="jobs")),
                         ["a.job", "gen/a.job", "older/a.job"])
        self.assertEqual(sorted(self.named("check", "jobs/old", "build/a.job")),
                         ["build/a.job", "jobs/old/a.job", "jobs/old/sub/b.job"])

    def test_exclude_takes_no_time_for_a_pattern_of_many_stars(self):
        self.write("culex.yaml", f"exclude: ['{'*a' * 400}b']\n")
        self.write("a" * 200 + ".job", BAD)
        self.assertEqual(len(self.named("check", ".")), 1)

    def test_tiers_of_the_project_count_until_one_is_given(self):
        self.write("a.job", "package x; job a { params { string to; } }\n")
        self.assertEqual(self.culexc("lint", ".")[0], 0)
        self.write("culex.yaml", "tiers: [comments, strict]\n")
        found = self.culexc("lint", ".")[2]
        self.assertIn("[undocumented-field]", found)
        self.assertIn("[string-unbounded]", found)
        self.assertEqual(self.culexc("lint", "--tier", "standard", ".")[0], 0)

    def test_one_lock_for_all_folders_wherever_it_is_called(self):
        self.write("culex.yaml", "folders: jobs\nlock: locks/all.lock\n")
        self.write("jobs/a.job", GOOD.format("a"))
        self.write("jobs/sub/b.job", GOOD.format("b"))
        (self.work / "locks").mkdir()
        self.assertEqual(self.culexc("lock", cwd="jobs/sub"), (0, "", ""))
        self.assertIn('"b.b"', (self.work / "locks/all.lock").read_text(encoding="utf-8"))
        self.assertEqual(self.culexc("breaking"), (0, "", ""))
        (self.work / "jobs/sub/b.job").unlink()
        self.assertIn("[job-removed]", self.culexc("breaking", cwd="jobs")[2])
        self.assertEqual(self.culexc("lock", "--lock", "mine.lock"), (0, "", ""))
        self.assertTrue((self.work / "mine.lock").exists())

    def test_lock_lies_beside_the_project_file(self):
        self.write("culex.yaml", "")
        self.write("jobs/a.job", GOOD.format("a"))
        self.assertEqual(self.culexc("lock", cwd="jobs"), (0, "", ""))
        self.assertTrue((self.work / "jobs.lock").exists())

    def test_breaking_against_git_leaves_out_what_the_project_does(self):
        self.write("culex.yaml", "exclude: [old, jobs/gen]\n")
        self.write("jobs/a.job", GOOD.format("a"))
        self.write("jobs/old/b.job", GOOD.format("b"))
        self.write("jobs/gen/c.job", GOOD.format("c"))
        self.write("jobs/own/d.job", GOOD.format("d"))
        self.write("jobs/own/culex.yaml", "")
        for words in (["init", "-q"], ["add", "jobs"], ["commit", "-qm", "start"]):
            subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=self.work, check=True)
        for words in ([], ["jobs"], ["jobs/a.job"]):
            self.assertEqual(self.culexc("breaking", "--against", "git:HEAD", *words), (0, "", ""), words)

    def commit(self):
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
            subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=self.work, check=True)

    def broken_by(self, *words):
        status, _, said = self.culexc("breaking", "--against", "git:HEAD", *words)
        return status, re.findall(r"job '(\w+)\.", said) if "[job-removed]" in said else said

    def test_breaking_against_git_sees_what_is_left_out_since(self):
        self.write("culex.yaml", "folders: [jobs, more]\n")
        for path in ("jobs/a", "jobs/b", "more/c"):
            self.write(path + ".job", GOOD.format(path[-1]))
        self.commit()
        for text, words in (("folders: [jobs, more]\nexclude: [b.job]\n", ([], ["."], ["jobs/a.job"])),
                            ("folders: [jobs, more]\nexclude: [jobs/b.job]\n", ([], ["."], ["jobs"]))):
            self.write("culex.yaml", text)
            for named in words:
                self.assertEqual(self.broken_by(*named), (1, ["b"]), (text, named))
        self.write("culex.yaml", "folders: [jobs]\n")
        (self.work / "more/c.job").unlink()
        (self.work / "more").rmdir()
        for named in ([], ["."]):
            self.assertEqual(self.broken_by(*named), (1, ["c"]), named)

    def test_breaking_against_git_follows_folders_that_have_moved(self):
        self.write("culex.yaml", "folders: [schemas]\nimports: [inc]\n")
        self.write("inc/c.job", "package c; struct m { int32 x; }\n")
        self.write("schemas/a.job", 'package a; import "c.job"; job a { params { c.m v; } }\n')
        self.commit()
        self.write("culex.yaml", "folders: [jobs]\nimports: [shared]\n")
        (self.work / "inc").rename(self.work / "shared")
        (self.work / "schemas").rename(self.work / "jobs")
        self.assertEqual(self.broken_by(), (0, ""))
        self.write("shared/c.job", "package c; struct m { int8 x; }\n")
        status, said = self.broken_by()
        self.assertIn("[field-type-narrowed]", said)
        self.assertEqual(status, 1)

    def test_breaking_against_git_takes_no_project_around_the_temporary_folder(self):
        self.write("jobs/a.job", GOOD.format("a"))
        self.write("jobs/b.job", GOOD.format("b"))
        self.commit()
        self.write("culex.yaml", "folders: [jobs]\n")
        (self.work / "jobs/b.job").unlink()
        (self.work / "tmp").mkdir()
        status, _, said = self.culexc("breaking", "--against", "git:HEAD",
                                      env={**os.environ, "TMPDIR": str(self.work / "tmp")})
        self.assertEqual((status, said.count("[job-removed]")), (1, 1), said)

    def test_breaking_against_git_says_what_is_wrong_with_the_project_of_then(self):
        self.write("culex.yaml", "colour: red\n")
        self.write("a.job", GOOD.format("a"))
        self.commit()
        self.write("culex.yaml", "")
        status, said = self.broken_by()
        self.assertIn("[project-key]", said)
        self.assertEqual(status, 3)

    def test_gen_depends_on_the_project_file(self):
        self.write("culex.yaml", "")
        self.write("jobs/a.job", GOOD.format("a"))
        self.assertEqual(self.culexc("gen", "--out", "out", "--depfile", "a.d", "jobs/a.job")[0], 0)
        rule = (self.work / "a.d").read_text(encoding="utf-8")
        self.assertRegex(rule, r"(?m)^  culex\.yaml")
        self.assertRegex(rule, r"(?m)^culex\.yaml:$")


class Written(Case):
    def test_examples_of_the_documentation_are_good(self):
        page = (HERE.parents[2] / "schemas/README.md").read_text(encoding="utf-8")
        explained = self.culexc("explain", "project-syntax")[1]
        examples = re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S)
        examples += ["".join(re.findall(r"^    (\w+: .*\n)", explained, re.M))]
        self.assertEqual(len(examples), 2)
        self.write("a.job", "job a;\n")
        for text in examples:
            self.assertEqual(sorted(re.findall(r"^(\w+):", text, re.M)),
                             ["exclude", "folders", "imports", "lock", "tiers"])
            self.write("culex.yaml", text)
            self.assertEqual(self.culexc("check", "a.job"), (0, "", ""))

    def test_init_writes_one_that_says_what_holds_without_it(self):
        self.assertEqual(self.culexc("init", "hello")[0], 0)
        text = (self.work / "hello/culex.yaml").read_text(encoding="utf-8")
        self.assertEqual(sorted(re.findall(r"^(\w+):", text, re.M)),
                         ["exclude", "folders", "lock", "tiers"])
        for verb in ("check", "lint", "lock", "breaking"):
            self.assertEqual(self.culexc(verb, cwd="hello"), (0, "", ""), verb)
        self.assertTrue((self.work / "hello/jobs.lock").exists())


unittest.main()
