"""What holds of jobs.lock whatever the schemas say.

lock_test.py CULEXC
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
FEATURES = HERE.parents[2] / "schemas" / "feature"
CULEXC = str(pathlib.Path(sys.argv.pop(1)).resolve())

COMPLETE = '{"complete":true}\n'  # the end of a listing
MAIL = """package shop;
enum lang { EN = 1, IT = 2 }
job mail { params { string to; lang l = EN; } }
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.work = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def run_in(self, *words, stdin=None, env=None):
        done = subprocess.run(words, cwd=self.work, capture_output=True, text=True, timeout=60,
                              check=False, input=stdin, env={**os.environ, **(env or {})})
        return done.returncode, done.stdout + done.stderr

    def culexc(self, status, *words, **more):
        actual, messages = self.run_in(CULEXC, *words, **more)
        self.assertEqual(actual, status, messages)
        return messages

    def write(self, name, text):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def lock(self, name="jobs.lock"):
        return (self.work / name).read_bytes()

    def fingerprints(self):
        return [line.split('"')[3] for line in self.lock().decode().splitlines()
                if '"fingerprint"' in line]


class Canonical(Case):
    def test_what_was_locked_breaks_nothing(self):
        cases = [path.parent / "new.job" for path in sorted(HERE.glob("*/expected"))]
        for case in [*cases, *sorted(FEATURES.glob("*.job"))]:
            shutil.rmtree(self.work)
            shutil.copytree(case.parent, self.work)
            (self.work / "jobs.lock").unlink(missing_ok=True)
            self.culexc(0, "lock", case.name)
            messages = self.culexc(0, "breaking", "--against", "jobs.lock", case.name)
            self.assertEqual([line for line in messages.splitlines()
                              if line.endswith("]") and "unused-import" not in line], [], case)

    def test_order_of_files_does_not_matter_and_a_second_time_changes_nothing(self):
        shutil.copytree(FEATURES, self.work, dirs_exist_ok=True)
        (self.work / "mail_plain.job").unlink()  # It has the names of mail.job.
        names = sorted(path.name for path in self.work.glob("*.job"))
        self.culexc(0, "lock", *names)
        first = self.lock()
        self.culexc(0, "lock", "--lock", "other.lock", *reversed(names))
        self.assertEqual(first, self.lock("other.lock"))
        os.utime(self.work / "jobs.lock", (1, 1))
        self.culexc(0, "lock", *reversed(names))
        self.assertEqual(first, self.lock())
        self.assertEqual((self.work / "jobs.lock").stat().st_mtime, 1)

    def test_two_files_of_one_lock_have_different_jobs(self):
        self.write("a.job", MAIL)
        self.write("b.job", 'package shop;\njob letter [[was("mail")]];\n')
        messages = self.culexc(1, "lock", "a.job", "b.job")
        self.assertIn("[duplicate-wire-name]", messages)
        self.assertFalse((self.work / "jobs.lock").exists())


class Update(Case):
    def test_breaking_change_is_refused_and_the_lock_left_alone(self):
        self.write("a.job", MAIL)
        self.culexc(0, "lock", "a.job")
        before = self.lock()
        self.write("a.job", MAIL.replace("string to", "int32 to"))
        said = self.culexc(1, "lock", "a.job")
        self.assertEqual(said, self.culexc(1, "breaking", "--against", "jobs.lock", "a.job"))
        self.assertIn("[field-type-narrowed]", said)
        self.assertEqual(before, self.lock())

    def test_check_tells_and_writes_nothing(self):
        self.write("a.job", MAIL)
        self.assertIn("out of date", self.culexc(1, "lock", "--check", "a.job"))
        self.assertFalse((self.work / "jobs.lock").exists())
        self.culexc(0, "lock", "a.job")
        self.culexc(0, "lock", "--check", "a.job")
        before = self.lock()
        self.write("a.job", MAIL.replace("EN;", "IT;"))
        self.culexc(1, "lock", "--check", "a.job")
        self.assertEqual(before, self.lock())

    def test_removed_file_is_removed_jobs(self):
        self.write("a.job", MAIL)
        self.write("b.job", "package shop;\njob other;\n")
        self.culexc(0, "lock", "a.job", "b.job")
        self.assertIn("[job-removed]", self.culexc(1, "lock", "a.job"))
        self.write("b.job", "package shop;\njob other [[retired]];\n")
        self.culexc(0, "lock", "a.job", "b.job")
        self.culexc(0, "lock", "a.job")
        self.assertIn(b'{"wire":"shop.other","name":"shop.other"}', self.lock())
        self.write("b.job", "package shop;\njob other;\n")
        self.assertIn("[job-name-reused]", self.culexc(1, "lock", "a.job", "b.job"))

    def test_removed_job_is_told_in_a_file_that_was_named(self):
        self.write("c.job", "package c; struct m { int32 x; }\n")
        self.write("a.job", 'import "c.job"; job a { params { c.m v; } }\n')
        self.write("d.job", 'package d; import "c.job"; job d { params { c.m v; } }\n')
        self.write("b.job", "job b {}\n")
        self.write("e.job", "package e; job e {}\n")
        self.culexc(0, "lock", "a.job", "b.job", "d.job", "e.job")
        said = self.culexc(1, "breaking", "--message-format=short", "--against", "jobs.lock", "d.job", "a.job")
        self.assertIn("a.job:1:1: error: job 'b' was removed", said)
        self.assertIn("d.job:1:1: error: job 'e.e' was removed", said)

    def test_removed_names_are_remembered_after_reserved_is_gone(self):
        body = "package shop;\njob mail { params { string to; %s } }\n"
        allow = "job mail [[allow_breaking(\"reserved-removed\", \"tidy\")]]"
        self.write("a.job", body % "optional string bcc;")
        self.culexc(0, "lock", "a.job")
        self.write("a.job", body % 'reserved "bcc";')
        self.culexc(0, "lock", "a.job")
        self.write("a.job", (body % "").replace("job mail", allow))
        self.culexc(0, "lock", "a.job")
        self.assertIn(b'"gone": ["bcc"]', self.lock())
        self.write("a.job", body % "optional string bcc;")
        self.assertIn("[reserved-name-reused]", self.culexc(1, "lock", "a.job"))

    def test_what_is_allowed_stays_allowed_for_the_versions_before(self):
        self.write("a.job", MAIL)
        self.culexc(0, "lock", "a.job")
        narrow = 'string to [[max_len(9), allow_breaking("field-limit-narrowed", "short")]]'
        self.write("a.job", MAIL.replace("string to", narrow))
        self.culexc(0, "lock", "a.job")
        self.assertIn(b'"allow":[{"id":"field-limit-narrowed","reason":"short"}]', self.lock())
        self.write("a.job", MAIL.replace("string to", "string to [[max_len(9)]]"))
        self.culexc(0, "lock", "a.job")
        self.culexc(0, "lock", "a.job")
        self.write("a.job", MAIL.replace("string to", "string to [[max_len(8)]]"))
        said = self.culexc(1, "lock", "a.job")
        self.assertEqual(said.count("[field-limit-narrowed]"), 1, said)

    def test_unknown_rule_cannot_be_allowed(self):
        self.write("a.job", MAIL.replace("string to", 'string to [[allow_breaking("field-x", "")]]'))
        self.assertIn("[attribute-argument]", self.culexc(1, "check", "a.job"))
        self.write("a.job", MAIL.replace(
            "string to", 'string to [[allow_breaking("field-limit-narow", "x")]]'))
        self.assertIn("did you mean 'field-limit-narrowed'?", self.culexc(1, "check", "a.job"))

    def test_lock_that_cannot_be_written_or_read(self):
        self.write("a.job", MAIL)
        self.culexc(3, "lock", "--lock", "no/such/folder.lock", "a.job")
        self.write("jobs.lock", '{"lock": 1, "jobs": 7}')
        self.assertIn("jobs.lock:1:21: error", self.culexc(1, "lock", "a.job"))
        self.write("jobs.lock", r'{"lock": 1, "\u00e": 7}')
        self.assertIn("jobs.lock:1:14: error", self.culexc(1, "lock", "a.job"))
        self.culexc(3, "breaking", "--against", "missing.lock", "a.job")
        self.culexc(2, "breaking", "a.job")
        self.culexc(2, "breaking", "--against", "jobs.lock", "--mode", "slow", "a.job")
        self.culexc(2, "breaking", "--against", "jobs.lock", "--category", "stored,x", "a.job")


    def test_damaged_lock_is_told_with_place_and_remedy(self):
        self.write("a.job", MAIL)
        self.culexc(0, "lock", "a.job")
        whole = self.lock().decode()
        for old, new, said in (('"lock": ', '"lock": 0', ":2:13: error: this is no whole lock: malformed number"),
                               ('"package": "', '"package": "\t', "raw control character in a string"),
                               ('"package": "', '"package": "\\ud83d', "malformed escape in a string"),
                               ('"jobs": [', '"jobs": [,', "no object where one must be"),
                               ('"jobs": [', '"jobs": ', "no list where one must be"),
                               ('"package": "', '"package": 1, "', ": error: this is no whole lock: no text where one must be"),
                               ('"lock":', '"lock"', "no ':' after a name")):
            self.assertEqual(whole.count(old), 1, old)
            self.write("jobs.lock", whole.replace(old, new))
            told = self.culexc(1, "breaking", "--against", "jobs.lock", "a.job")
            self.assertIn(said, told)
            self.assertIn("help: take the last good one from version control, then run culexc lock", told)


class Older(Case):
    """A lock from before a setting was in the language lacks its number: all jobs had the default."""

    TABLE = (HERE.parents[2] / "codegen" / "front" / "settings.def").read_text()
    KEYS = re.findall(r"^LOCKED\([\w.]+, (\w+),", TABLE, re.M)
    SCALARS = re.findall(r'^SETTING\((\w+), "(\w+)", \w+, scalar,.*?^SCALAR\(\1, \w+, (\w+), [^,]+, (\w+),',
                         TABLE, re.M | re.S)
    JOBS = "package shop;\njob mail {%s}\njob sweep {every 5m;%s}\n"

    def setUp(self):
        super().setUp()
        low = {"DURATION": "1ms", "SIZE": "512M"}  # below what any default is, where one is lower
        settings = [f"{word} {low.get(form, least)};" for _, word, form, least in self.SCALARS]
        settings += ["keep success 0ms, failure 0ms;", "retry none;"]
        self.write("plain.job", self.JOBS % ("", ""))
        self.write("low.job", self.JOBS % (" ".join(settings), " ".join(settings)))
        self.culexc(0, "lock", "plain.job")

    def without(self, *keys):
        """Writes the lock as it would be without these."""
        lock = json.loads(self.lock())
        for job in lock["jobs"]:
            job["settings"] = {key: value for key, value in job["settings"].items() if key not in keys}
        self.write("older.lock", json.dumps(lock))

    def test_number_that_an_older_lock_lacks_is_the_default(self):
        whole = self.culexc(0, "breaking", "--against", "jobs.lock", "low.job")
        self.assertIn("note: was: 4\n", whole)
        self.assertIn("note: was: 1000 ms after success\n", whole)
        self.assertGreater((len(self.KEYS), len(self.SCALARS)), (6, 3))
        for keys in [*([key] for key in self.KEYS), self.KEYS]:
            with self.subTest(keys):
                self.without(*keys)
                self.assertEqual(self.culexc(0, "breaking", "--against", "older.lock", "plain.job"), "")
                self.assertEqual(self.culexc(0, "breaking", "--against", "older.lock", "low.job"), whole)


class Modes(Case):
    def setUp(self):
        super().setUp()
        self.write("old.job", MAIL)
        self.write("new.job", MAIL.replace("string to", 'string addr [[was("to"), max_len(999)]]')
                   .replace("} }", '} queue "x"; }'))
        self.write("wide.job", MAIL.replace("string to", "string to [[max_len(9)]]"))

    def test_category_chooses(self):
        ids = {"stored": "[field-limit-narrowed]", "source": "[field-renamed]",
               "ops": "[queue-changed]"}
        for category, own in ids.items():
            _, said = self.run_in(CULEXC, "breaking", "--against", "old.job", "--category",
                                  category, "new.job")
            for slug in ids.values():
                self.assertEqual(slug in said, slug == own, said)

    def test_drain_leaves_out_what_old_workers_read(self):
        words = ["breaking", "--against", "wide.job", "old.job"]
        self.assertIn("[field-limit-widened]", self.culexc(0, *words))
        self.assertEqual("", self.culexc(0, *words, "--mode", "drain"))

    def test_json_has_one_object_a_finding(self):
        said = self.culexc(1, "breaking", "--against", "old.job", "new.job",
                           "--message-format=json")
        self.assertEqual(said.count('"id":"field-limit-narrowed","severity":"error"'), 1)


class Live(Case):
    def setUp(self):
        super().setUp()
        self.write("a.job", MAIL)
        self.culexc(0, "lock", "a.job")
        self.first = self.fingerprints()[0]
        self.write("a.job", MAIL.replace("string to", "string to; uint32 n = 1"))
        self.culexc(0, "lock", "a.job")
        self.second = self.fingerprints()[0]
        self.write("a.job", MAIL.replace("string to", "string to; uint32 n"))

    def listing(self, *fingerprints, job="shop.mail"):
        return "".join('{"job":"%s","fingerprint":"%s","runs":1,"x":[1,{"y":null}]}\n' % (job, at)
                       for at in fingerprints) + COMPLETE

    def judge(self, status, *fingerprints):
        return self.culexc(status, "breaking", "--live", "-", "--against", "jobs.lock", "a.job",
                           stdin=self.listing(*fingerprints))

    def test_only_versions_with_runs_count(self):
        self.assertIn("[field-required-added]", self.judge(1, self.first, self.second))
        self.assertIn("[field-required-added]", self.judge(1, self.first))
        said = self.judge(0, self.second)
        self.assertIn("[version-not-stored]", said)
        self.assertIn(self.first, said)

    def test_lock_forgets_what_no_store_has(self):
        self.culexc(1, "lock", "a.job")
        self.culexc(0, "lock", "--live", "-", "a.job", stdin=self.listing(self.second))
        self.assertNotIn(self.first.encode(), self.lock())
        self.culexc(0, "lock", "a.job")

    def test_breaking_the_newest_version_is_forgiven_when_none_is_stored(self):
        self.write("a.job", MAIL.replace("string to", "int32 to; uint32 n = 1"))
        said = self.judge(0)
        self.assertEqual(said.count("[version-not-stored]"), 2, said)
        self.assertIn("[field-type-narrowed]", self.judge(1, self.second))

    def test_job_without_runs_may_go(self):
        self.write("a.job", "package shop;\nenum lang { EN = 1, IT = 2 }\njob other;\n")
        said = self.judge(0)
        self.assertIn("'shop.mail' is no longer there", said)
        self.assertIn("[version-not-stored]", said)
        self.assertIn("[job-removed]", self.judge(1, self.first))
        self.culexc(0, "lock", "--live", "-", "a.job", stdin=COMPLETE)
        said = self.judge(1, self.first)
        self.assertIn("-:1:1: error: the store has runs of 'shop.mail'", said)
        self.assertIn("[stored-job-unknown]", said)

    def test_listing_that_is_none(self):
        for text in ("{}", "[]", "x", '{"job":"a","fingerprint":"0123456789ABCDEF"}',
                     '{"job":1,"fingerprint":"0123456789abcdef"}', '{"job":"a"',
                     '{"job":"a\\u0000","fingerprint":"0123456789abcdef"}'):
            said = self.culexc(1, "breaking", "--live", "-", "--against", "jobs.lock", "a.job",
                               stdin=text + "\n")
            self.assertIn("-:1:1: error", said)
            self.assertIn("[bad-listing]", said)

    def test_listing_without_its_end_forgives_and_forgets_nothing(self):
        line = self.listing(self.second).removesuffix(COMPLETE)
        before = self.lock()
        for text in ("", "\n", line, COMPLETE + line, '{"complete":true,"schemas":1}\n',
                     line + '{"complete":true,"schemas":2}\n',
                     COMPLETE + line + line + '{"complete":true,"schemas":3}'):
            for words in (["breaking", "--against", "jobs.lock"], ["lock"]):
                said = self.culexc(1, *words, "--live", "-", "a.job", stdin=text)
                self.assertIn("[listing-incomplete]", said)
        self.assertEqual(self.lock(), before)
        self.judge(0, self.second)
        whole = line + '{"complete":true,"schemas":1}\n'
        self.culexc(0, "lock", "--live", "-", "a.job", stdin=whole + COMPLETE + whole)


class Elsewhere(Case):
    def setUp(self):
        super().setUp()
        self.write("inc/common.job", "package shop;\nstruct money { int64 minor; }\n")
        self.write("jobs/a.job", 'package shop;\nimport "common.job";\n'
                                 "job pay { params { money m; } }\n")
        self.write("jobs/b.job", "package shop;\njob other;\n")

    def change(self):
        self.write("inc/common.job", "package shop;\nstruct money { int32 minor; }\n")
        (self.work / "jobs/b.job").unlink()

    def assert_both(self, said):
        self.assertIn("inc/common.job:2:22: error", said)
        self.assertIn("[field-type-narrowed]", said)
        self.assertIn("[job-removed]", said)

    def test_breaking_compares_with_a_folder_of_older_files(self):
        shutil.copytree(self.work / "jobs", self.work / "old")
        shutil.copy(self.work / "inc/common.job", self.work / "old")
        self.change()
        self.assert_both(self.culexc(1, "breaking", "-I", "inc", "--against", "old", "jobs/a.job"))
        (self.work / "empty").mkdir()
        self.culexc(3, "breaking", "-I", "inc", "--against", "empty", "jobs/a.job")

    def test_breaking_compares_with_a_commit(self):
        for words in (["init", "-q"], ["add", "-A"],
                      ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x"]):
            status, said = self.run_in("git", *words)
            self.assertEqual(status, 0, said)
        self.change()
        (self.work / "tmp").mkdir()
        words = ["breaking", "-I", "inc", "jobs/a.job", "--against"]
        env = {"TMPDIR": str(self.work / "tmp")}
        self.assert_both(self.culexc(1, *words, "git:HEAD", env=env))
        self.assertEqual(list((self.work / "tmp").iterdir()), [])
        self.assertIn("nowhere", self.culexc(3, *words, "git:nowhere", env=env))
        for ref in ("--output=x", "-q", ""):
            self.assertIn("no name of a commit", self.culexc(3, *words, f"git:{ref}", env=env))
        self.assertEqual(list((self.work / "tmp").iterdir()), [])

    def test_older_schema_with_errors_is_no_schema(self):
        self.write("old.job", "job a { params { what x; } }\n")
        said = self.culexc(3, "breaking", "-I", "inc", "--against", "old.job", "jobs/a.job")
        self.assertIn("old.job:1:18: error: unknown type 'what'", said)


if __name__ == "__main__":
    unittest.main()
