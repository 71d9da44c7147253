"""culex-live as a program: what it prints, refuses and never does.

usage: live_test.py PROGRAMS CULEX_LIVE CULEXC SOURCES
"""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PROGRAMS, CULEX_LIVE, CULEXC, SOURCES = (pathlib.Path(word).resolve() for word in sys.argv[1:5])


class Live(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.file = self.folder / "jobs.db"
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith("CULEX_")}

    def enqueue(self, version="1", count=1):
        subprocess.run([PROGRAMS / f"rolling_v{version}", "enqueue", "1", str(count)], check=True,
                       env=self.env | {"CULEX_URL": f"sqlite:{self.file}"})

    def live(self, *words, url=True, code=0, out=subprocess.PIPE):
        is_named = any(str(word).startswith("--url=") for word in words)  # twice is refused
        address = ["--url", f"sqlite:{self.file}"] if url and not is_named else []
        done = subprocess.run([CULEX_LIVE, *address, *words], env=self.env, cwd=self.folder,
                              stdout=out, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(bool(done.stderr), code != 0)
        return done.stderr.decode() if code else done.stdout

    def rows(self, *words, **more):
        *rows, end = [json.loads(line) for line in self.live(*words, **more).decode().splitlines()]
        self.assertEqual(end, {"complete": True, "queues": 1, "schemas": len(rows),
                               "runs": sum(row["runs"] for row in rows)})
        return rows

    def sql(self, *texts):
        store = sqlite3.connect(self.file)
        for text in texts:
            store.execute(text)
        store.commit()
        store.close()

    def test_a_line_for_each_version_of_each_job_sorted(self):
        self.enqueue("2", 2)
        self.enqueue("1", 3)
        rows = self.rows()
        self.assertEqual(len(rows), 19 - 2)  # what is renamed looks the same in the store
        keys = [(row["queue"], row["job"], row["fingerprint"]) for row in rows]
        self.assertEqual(keys, sorted(keys))
        self.assertEqual(sum(row["runs"] for row in rows), 2 * 10 + 3 * 9)
        for row in rows:
            self.assertRegex(row["fingerprint"], "^[0-9a-f]{16}$")
            self.assertEqual(row["waiting"], row["runs"])
            self.assertGreater(row["oldest_ms"], 1700000000000)
            self.assertNotIn("done", row)
        renamed = [row for row in rows if row["job"] == "shop.renamed_job"]
        self.assertEqual([row["runs"] for row in renamed], [5])
        self.assertEqual(self.rows("--queue", "rolling"), rows)
        self.assertEqual(self.rows("--ended")[0]["done"], 0)

    def breaking(self, listing, code):
        done = subprocess.run([CULEXC, "breaking", "--against", "jobs.lock", "--live", "-", "order.job"],
                              cwd=self.folder, input=listing, capture_output=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr.decode()

    def test_culexc_judges_a_change_by_it(self):
        schema = self.folder / "order.job"
        schema.write_text((SOURCES / "v1/order.job").read_text())
        subprocess.run([CULEXC, "lock", "order.job"], cwd=self.folder, check=True)
        schema.write_text(schema.read_text().replace("max_len(4)", "max_len(3)"))
        self.enqueue()
        self.assertIn("[field-limit-narrowed]", self.breaking(self.live(), 1))
        self.assertIn("[listing-incomplete]", self.breaking(b"", 1))
        self.assertIn("[listing-incomplete]", self.breaking(self.live().partition(b"\n")[2], 1))
        self.sql("DELETE FROM body", "DELETE FROM run")
        self.assertEqual(self.rows(), [])
        self.assertNotIn("error:", self.breaking(self.live(), 0))

    def test_a_store_without_queues_is_believed_when_told_so(self):
        self.file.touch()
        self.assertIn("--allow-empty", self.live(code=1))
        self.assertEqual(json.loads(self.live("--allow-empty")),
                         {"complete": True, "queues": 0, "schemas": 0, "runs": 0})

    def test_what_is_not_there_is_no_good_news(self):
        for words, text in (((), "no store at sqlite:"), (("--url=memory:",), "one process")):
            code = 2 if words else 1
            self.assertIn(text, self.live(*words, code=code))
        self.assertFalse(self.file.exists())
        self.enqueue()
        self.assertIn("no queue 'rollng'", self.live("--queue", "rollng", code=1))
        told = self.live("--queue", "rolling,rollng", code=1)
        self.assertIn("no queue 'rollng'", told)
        self.assertIn("did you mean rolling?", told)

    def test_wrong_usage_is_named(self):
        self.enqueue()
        for words, text in ((("--bogus",), "--bogus"), (("word",), "word"), (("--queue=",), "--queue"),
                            (("--lease=1s",), "--lease"), (("--url=nonsense:x",), "nonsense"),
                            (("--url-file=x",), "exclude")):
            self.assertIn(text, self.live(*words, code=2))
        text = self.live("--url=redis://ann:hunter2@localhost", code=2)
        self.assertIn("--url-file", text)
        self.assertNotIn("hunter2", text)

    def test_the_store_comes_from_a_file_or_the_environment_too(self):
        self.enqueue()
        rows = self.rows()
        secret = self.folder / "url"
        secret.write_text(f"sqlite:{self.file}\n")
        secret.chmod(0o644)
        self.assertIn("chmod 600", self.live("--url-file", secret, url=False, code=2))
        secret.chmod(0o600)
        self.assertEqual(self.rows("--url-file", secret, url=False), rows)
        self.env["CULEX_URL"] = f"sqlite:{self.file}"
        self.env["CULEX_LEASE"] = "nonsense"  # a worker's
        self.assertEqual(self.rows(url=False), rows)

    def test_output_that_fails_is_said(self):
        self.enqueue()
        with open("/dev/full", "wb") as full:
            self.assertIn("cannot write", self.live(code=3, out=full))
            self.assertIn("cannot write", self.live("--help", code=3, out=full))

    def names_in(self, table):
        names = [b'a"b\\c', b"\x1b[2J", b"\xc2\x9b1m", b"\xff\xfe", b"\n{}", "ü".encode()]
        store = sqlite3.connect(self.file)
        rows = list(store.execute(f"SELECT rowid FROM {table}"))
        self.assertGreaterEqual(len(rows), len(names))
        for name, (row,) in zip(names, rows):
            store.execute(f"UPDATE {table} SET job = CAST(? AS TEXT) WHERE rowid = ?", (name, row))
        store.commit()
        store.close()
        text = self.live()
        self.assertFalse(set(text) & set(range(0x20)) - {0x0A})
        self.assertNotIn(b"\xc2\x9b", text)
        jobs = {json.loads(line).get("job") for line in text.decode().splitlines()}
        self.assertLessEqual({'a"b\\c', "\x1b[2J", "\x9b1m", "\ufffd\ufffd", "\n{}", "ü"}, jobs)

    def test_names_of_ordinary_runs_reach_no_terminal_raw(self):
        self.enqueue()
        self.names_in("kind")

    def test_names_of_other_runs_reach_no_terminal_raw(self):
        self.enqueue()
        self.sql("INSERT INTO run (seq, queue, id, state, priority, at_ms, is_delayed, attempts_max,"
                 " timeout_ms, keep_success_ms, keep_failure_ms, expires_at_ms, created_at_ms,"
                 " fingerprint, checksum, payload_len, job, tags, payload) SELECT seq, queue,"
                 " zeroblob(16), 'W', 0, created_at_ms, 0, attempts_max, timeout_ms, keep_success_ms,"
                 " keep_failure_ms, 0, created_at_ms, fingerprint, checksum, length(payload), job,"
                 " tags, payload FROM body JOIN kind USING (kind)", "DELETE FROM body")
        self.names_in("run")

    def test_help_and_version(self):
        self.assertIn(b"--queue", self.live("--help", url=False))
        self.assertRegex(self.live("--version", url=False).decode(), r"^culex-live \d+\.\d+\.\d+\n$")


unittest.main(argv=sys.argv[:1])
