"""culex as a program, on a store with runs in it: what it prints, does, asks and refuses.

usage: command_test.py CULEX NAP HELD STORE [Command.test_NAME]...
"""
import base64
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unicodedata
import unittest

CULEX, NAP, HELD = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
VAULT = NAP.parent / "vault"  # where libsodium is
STORE = sys.argv[4]
SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "campaigns" / "fuzz" / "corpus" / "schema_text"


class Command(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("CULEX_")}
        self.env["CULEX_URL"] = f"sqlite:{self.folder}/jobs.db" if STORE == "sqlite" else self.redis()

    def redis(self):
        place = self.folder / "redis.sock"
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", place, "--save", "",
                                   "--dir", self.folder], stdout=subprocess.DEVNULL)
        self.server = server
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        self.until(lambda: self.is_open(place))
        return f"redis+unix://{place}"

    @staticmethod
    def is_open(place):
        """The file is there a moment before somebody listens."""
        with socket.socket(socket.AF_UNIX) as link:
            return link.connect_ex(str(place)) == 0

    def until(self, is_so):
        end = time.monotonic() + 60
        while not is_so():
            self.assertLess(time.monotonic(), end, "it never comes to that")
            time.sleep(0.02)

    def nap(self, *words, program=NAP):
        done = subprocess.run([program, *words], env=self.env, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def culex(self, *words, code=0):
        done = subprocess.run([CULEX, *words], env=self.env, cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        return done.stderr if code == 2 or (code and not done.stdout) else done.stdout

    def lines(self, *words, **more):
        return [json.loads(line) for line in self.culex(*words, "--json", **more).splitlines()]

    def ids_of(self, queue, *words):
        return [run["id"] for run in self.lines("runs", queue, *words)]

    def ids(self, *words):
        return [run["id"] for run in self.lines("runs", "naps", *words)]

    def fill(self):
        """Three dead runs, a done one with five log lines, and one that waits for an hour."""
        for text in ("no route", "no route", "disk full"):
            self.nap("enqueue", "tell", text)
        self.nap("enqueue", "scribe", "9", "done")
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--concurrency", "1", "--log-level", "error")
        self.nap("enqueue", "wink", "1")

    def test_queues_and_runs(self):
        self.fill()
        [queue] = self.lines("queues")
        self.assertEqual([queue[name] for name in ("queue", "waiting", "dead", "done", "paused")],
                         ["naps", 1, 3, 1, False])
        self.assertEqual(queue["totals"]["enqueued"], 5)
        head, row = self.culex("queues").splitlines()
        self.assertEqual(row.split()[:8], ["naps", "0", "1", "0", "1", "3", "0", "5"])
        self.assertEqual(head.split()[:2], ["QUEUE", "SCHEDULED"])
        self.assertEqual(len(self.ids()), 5)
        self.assertEqual(len(self.ids("--state", "dead,done")), 4)
        self.assertEqual(len(self.ids("--error", "no route")), 2)
        self.assertEqual(len(self.ids("--job", "scribe")), 1)
        self.assertEqual(len(self.ids("--since", "1h")), 5)
        self.assertEqual(len(self.ids("--before", "1h")), 0)
        self.assertEqual(len(self.ids("--limit", "2")), 2)
        self.assertEqual(self.lines("queues", "naps")[0]["dead"], 3)
        self.assertIn("did you mean naps?", self.culex("queues", "nops", code=1))
        self.assertIn("no queue", self.culex("runs", "nops", code=1))
        self.assertEqual([each["runs"] for each in self.lines("live") if each["job"] == "tell"], [3])

    def told(self, *words, code=0):
        """What stands on standard error beside the output."""
        done = subprocess.run([CULEX, *words], env=self.env, cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        return done.stderr

    def test_a_job_or_tag_that_no_run_has_is_told(self):
        self.fill()
        self.assertEqual(self.told("runs", "naps", "--job", "tel"),
                         "culex: queue naps has no run of job tel; did you mean tell?\n")
        self.assertIn("did you mean scribe?", self.told("runs", "naps", "--job", "scirbe", "--json"))
        self.assertIn("did you mean tell?", self.told("runs", "naps", "--job", "tlel"))
        self.assertIn("did you mean show?", self.told("hsow", code=2))
        self.assertIn("it has some of job", self.told("runs", "naps", "--job", "elephant"))
        self.assertIn("no run with tag green", self.told("runs", "naps", "--tag", "green"))
        for verb in ("retry", "delete", "cancel"):
            self.assertIn("did you mean tell?", self.told(verb, "--queue", "naps", "--job", "tel", "--yes"))
        self.assertEqual(self.told("runs", "naps", "--job", "wink", "--state", "dead"), "")
        self.culex("delete", "--queue", "naps", "--job", "scribe", "--yes")
        self.assertEqual(self.told("runs", "naps", "--job", "scribe"), "")

    def held(self, *words):
        return self.nap(*words, program=HELD)

    def work(self, *words, program=HELD, name="one"):
        """A worker that the store lists."""
        worker = subprocess.Popen([program, "--name", name, "--isolation", "none", *words], env=self.env,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.until(lambda: subprocess.run([CULEX, "workers"], env=self.env, capture_output=True, text=True,
                                          check=False).stdout.count(name))
        return worker

    def on_terminal(self, width, *words):
        """Its lines on a terminal of that width."""
        self.env["COLUMNS"] = str(width)
        text, code = self.shown(*words, until="$^", meanwhile=None)
        del self.env["COLUMNS"]
        self.assertEqual(code, 0, text)
        return text.splitlines()

    def test_tables_are_fitted_to_the_terminal(self):
        self.fill()
        self.culex("capacity", "naps", "9")
        self.culex("pause", "naps", "--for", "1h")
        ids = self.ids()
        for width in (60, 80, 100, 119):
            lines = self.on_terminal(width, "runs", "naps")
            self.assertEqual([line for line in lines if len(line) > width and not line.startswith("culex:")], [])
            self.assertEqual({line.split()[0] for line in lines[1:] if len(line.split()[0]) == 36}, set(ids))
            self.assertEqual(any("--wide" in line for line in lines), width < 110, (width, lines))
        for words in (["queues"], ["live"], ["stats", "naps"]):
            lines = self.on_terminal(80, *words)
            self.assertEqual([line for line in lines if len(line) > 80 and not line.startswith("culex:")], [])
        full = self.culex("runs", "naps").splitlines()
        self.assertIn("ENQUEUED", full[0])
        self.assertEqual(self.on_terminal(80, "runs", "naps", "--wide")[:len(full)], full)
        self.assertGreater(len(self.on_terminal(80, "queues", "--wide")[1]), 80)

    @staticmethod
    def places(text):
        return sum(2 if unicodedata.east_asian_width(letter) in "WF" else not unicodedata.combining(letter) for letter in text)

    def test_characters_take_their_places_in_tables(self):
        self.nap("enqueue", "wink", "1")
        schema = self.schema("tell")
        for words, tag in (("日本語" * 20, "日本"), ("e\u0301" * 60, "a"), ("plain", "e\u0301e\u0301"), ("x" + "語" * 60, "tag")):
            self.culex("enqueue", "tell", f"words={words}", *schema, "--tag", tag)
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--log-level", "error")
        for locale in ("C", "C.UTF-8"):
            self.env["LC_ALL"] = locale
            head, *rows = self.culex("runs", "naps", "--state", "dead").splitlines()
            self.assertEqual({self.places(row[:re.search("(日本語|e\u0301){9}|plain|x語", row).start()]) for row in rows}, {head.index("ERROR")})
            lines = [line for line in self.on_terminal(80, "runs", "naps", "--state", "dead") if not line.startswith("culex:")]
            self.assertEqual([line for line in lines if self.places(line) > 80], [])
            self.assertEqual(sum(line.endswith("..") and self.places(line) >= 79 for line in lines), 3, lines)

    def test_a_full_queue_says_so(self):
        self.fill()
        self.culex("capacity", "naps", "2")
        self.culex("capacity", "naps", "8", "--dead")
        self.assertIn("at most 2", self.culex("queues"))
        self.assertIn("dead at most 8", self.culex("queues"))
        self.assertFalse(self.lines("queues")[0]["is_full"])
        self.culex("capacity", "naps", "1")
        self.assertIn("FULL (at most 1)", self.culex("queues"))
        self.assertTrue(self.lines("queues")[0]["is_full"])

    def test_parked_runs_say_what_they_wait_for(self):
        self.held("enqueue", "pen", "3")
        self.held("enqueue", "draw", "2")
        self.work("--queues", "held", "--concurrency", "4")
        self.until(lambda: self.lines("queues")[0]["active"] == 1)
        self.until(lambda: self.lines("queues")[0]["parked"] == 4)
        self.assertIn("4 parked", self.culex("queues"))
        told = "needs gpu:1 holds 2 (no worker offers it), pen:concurrency holds 2"
        self.assertIn(told, self.told("runs", "held"))
        [first, *_] = [run["id"] for run in self.lines("runs", "held", "--state", "waiting", "--job", "pen")]
        self.assertIn("pen:concurrency holds 2", self.culex("show", first))
        self.assertEqual(self.told("runs", "held", "--state", "dead"), "")
        self.work("--queues", "held", "--offer", "gpu=1", name="two")
        self.until(lambda: self.lines("queues")[0]["parked"] == 2)
        self.assertNotIn("gpu", self.told("runs", "held"))

    def test_dead_runs_are_listed_with_their_error(self):
        self.fill()
        self.die("first line\nsecond line")
        lines = self.culex("runs", "naps", "--state", "dead").splitlines()
        self.assertIn("ERROR", lines[0])
        self.assertEqual(sorted(" ".join(line.split()[9:]) for line in lines[1:]),
                         ["disk full", "first line", "no route", "no route"])
        self.assertEqual(sorted(run["error"] for run in self.lines("runs", "naps", "--state", "dead"))[0], "disk full")
        self.assertNotIn("ERROR", self.culex("runs", "naps", "--state", "waiting"))

    def test_dead_runs_are_counted_by_error(self):
        self.fill()
        groups = self.lines("runs", "naps", "--by", "error")
        self.assertEqual([(each["count"], each["job"], each["error"]) for each in groups],
                         [(2, "tell", "no route"), (1, "tell", "disk full")])
        self.assertIn(groups[0]["newest"], self.ids("--error", "no route"))
        self.assertEqual(self.culex("runs", "naps", "--by", "error", "--error", "disk").splitlines()[1].split()[:2], ["1", "tell"])
        self.assertTrue(self.culex("runs", "naps", "--by", "error", "--error", "disk").splitlines()[1].endswith("  disk full"))
        self.assertIn("did you mean tell?", self.told("runs", "naps", "--by", "error", "--job", "tel"))
        self.assertIn("is not error", self.culex("runs", "naps", "--by", "job", code=2))
        self.assertIn("dead runs alone", self.culex("runs", "naps", "--by", "error", "--state", "done", code=2))

    def test_crashes_are_counted_by_signal_and_function(self):
        self.nap("enqueue", "scribe", "1", "crashes")
        self.nap("enqueue", "crash")
        for _ in range(2):  # of other processes
            self.nap("enqueue", "scribe", "2", "crashes")
            self.nap("--drain", "--queues", "naps", "--isolation", "job", "--log-level", "error")
        [count, crash] = self.lines("runs", "naps", "--by", "error")
        self.assertEqual((count["count"], count["job"]), (3, "scribe"))
        self.assertRegex(count["error"], r"^crashed: killed by SIGSEGV in \S+ \([^()]+\)$")
        self.assertRegex(count["newest_error"], r"^crashed.*: killed by SIGSEGV \(sent by process \d+\) in .+\+0x.*, called from ")
        self.assertEqual((crash["count"], crash["error"]), (1, "crashed: killed by SIGSEGV (address not mapped) in crash (nap)"))
        self.assertTrue(self.culex("runs", "naps", "--by", "error").splitlines()[0].endswith("ERROR"))

    def test_runs_are_followed(self):
        self.fill()
        self.assertIn("--keep 10000", self.culex("runs", "naps", "--follow", code=1))
        self.culex("events", "naps", "--keep", "1000")
        follow = subprocess.Popen([CULEX, "runs", "naps", "--follow", "--job", "tell", "--json"], env=self.env,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(follow.kill)
        first = []
        reader = threading.Thread(target=lambda: first.append(follow.stdout.readline()))
        reader.start()
        for _ in range(3000):  # the first that is enqueued after it has begun
            if not reader.is_alive():
                break
            self.nap("enqueue", "tell", "late")
            self.nap("enqueue", "wink", "1")
            reader.join(0.1)
        event = json.loads(first[0])
        self.assertEqual((event["event"], event["job"], event["state"]), ("enqueued", "tell", "waiting"))
        follow.send_signal(signal.SIGINT)
        rest = [json.loads(line) for line in follow.communicate()[0].splitlines()]
        self.assertEqual((follow.returncode, {each["job"] for each in rest} - {"tell"}), (0, set()))

    def test_what_is_followed_is_told_as_it_was(self):
        self.fill()
        self.culex("events", "naps", "--keep", "1000")
        begun = [subprocess.Popen([CULEX, "runs", "naps", "--follow", "--job", "tell", *words], env=self.env, stdout=subprocess.PIPE, text=True)
                 for words in (["--json"], [], ["--json", "--state", "active,dead"])]
        told = [[] for _ in begun]
        def read(follow, lines):
            for line in follow.stdout:
                lines.append(line)
        readers = [threading.Thread(target=read, args=both) for both in zip(begun, told)]
        for follow, reader in zip(begun, readers):
            self.addCleanup(follow.stdout.close)
            self.addCleanup(follow.kill)
            reader.start()
        for _ in range(3000):  # until all have begun
            self.die("before")
            if all(told):
                break
        for follow in begun:
            follow.send_signal(signal.SIGSTOP)
        self.die("after")
        [late] = self.ids("--error", "after")
        for follow in begun:
            follow.send_signal(signal.SIGCONT)
        self.until(lambda: all(any(late in line and "dead" in line for line in lines) for lines in told))
        for follow, reader in zip(begun, readers):
            follow.send_signal(signal.SIGINT)
            follow.wait(60)
            reader.join(60)
        events = [json.loads(line) for line in told[0]]
        self.assertEqual([(each["event"], each.get("state"), each["attempt"], each.get("error")) for each in events if each["id"] == late],
                         [("enqueued", None, 0, None), ("started", "active", 1, None), ("failed", None, 1, "after"), ("dead", "dead", 1, "after")])
        self.assertEqual([line.split()[2::2] for line in told[1] if late in line],
                         [["enqueued", "-"], ["started", "active"], ["failed", "-", "after"], ["dead", "dead", "after"]])
        self.assertEqual([json.loads(line)["event"] for line in told[2] if late in line], ["started", "dead"])

    def test_runs_are_listed_by_state(self):
        self.fill()
        self.nap("enqueue", "wink", "1")
        [first, *_] = self.ids("--state", "waiting")
        self.culex("move", first, "--delay", "1h")
        self.culex("cancel", self.ids("--state", "waiting")[0])
        states = [run["state"] for run in self.lines("runs", "naps")]
        self.assertEqual(states, ["scheduled", "dead", "dead", "dead", "done", "cancelled"])
        dead = self.ids("--state", "dead")
        self.assertEqual(dead, sorted(dead))
        self.assertEqual(self.ids("--state", "cancelled,dead")[:3], dead)
        self.assertIn("there may be more", self.told("runs", "naps", "--limit", "4"))
        self.assertNotIn("there may be more", self.told("runs", "naps", "--limit", "7"))

    def test_a_run_whole(self):
        self.fill()
        [dead] = self.ids("--error", "disk")
        [shown] = self.lines("show", dead)
        self.assertEqual((shown["queue"], shown["state"], shown["error"]), ("naps", "dead", "disk full"))
        self.assertNotIn("params", shown)
        [shown] = self.lines("show", f"naps/{dead}", "--params")
        self.assertIn("disk full", shown["params"])
        [done] = self.ids("--job", "scribe")
        self.assertEqual([line["text"].split()[0] for line in self.lines("show", done)[0]["log"]],
                         ["6", "7", "8", "9", "last"][5 - len(self.lines("show", done)[0]["log"]):])
        text = self.culex("show", dead, done)
        for wanted in ("error       disk full", "log         20", 'params      words: "disk full" (string)\n            token: (secret)'):
            self.assertIn(wanted, text)
        self.assertIn("no queue has such a run", self.culex("show", dead[:-6] + "ffffff", code=1))
        self.assertIn("is no id of a run", self.culex("show", "naps", code=2))
        self.assertEqual(self.lines("wait", done)[0]["end"], "done")
        self.assertEqual(self.lines("wait", done, dead, code=1)[1]["end"], "dead")

    def test_a_run_that_is_done_is_told_without_what_it_failed_with_before(self):
        self.nap("enqueue", "ox")
        [ox] = self.ids()
        worker = self.work("--queues", "naps", "--lease", "2s", program=NAP)
        self.until(lambda: self.lines("show", ox)[0]["state"] == "active")
        worker.kill()
        worker.wait()
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--log-level", "error")
        self.assertNotEqual(self.lines("show", ox)[0]["error"], "")
        self.assertEqual(self.culex("wait", ox), f"{ox}: done\n")
        self.assertEqual(self.lines("wait", ox)[0]["error"], "")

    def test_the_history_of_a_run_is_shown_where_events_are_kept(self):
        self.nap("enqueue", "tell", "before")
        self.assertNotIn("history", self.culex("show", self.ids()[0], "--json") + self.culex("show", self.ids()[0]))
        self.culex("events", "naps", "--keep", "1000")
        self.nap("enqueue", "scribe", "0", "fails")
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--concurrency", "1", "--log-level", "error")
        [run] = self.ids("--job", "scribe")
        [shown] = self.lines("show", run)
        self.assertEqual([(each["event"], each["attempt"]) for each in shown["history"]],
                         [("enqueued", 0), ("started", 1), ("failed", 1), ("started", 2), ("failed", 2), ("dead", 2)])
        self.assertTrue(shown["history_is_whole"])
        self.assertEqual([each["at_ms"] for each in shown["history"]], sorted(each["at_ms"] for each in shown["history"]))
        self.assertRegex(self.culex("show", run), r"\nhistory +\S+ \S+  attempt 0  enqueued\n +\S+ \S+  attempt 1  started\n")
        [before] = self.ids("--job", "tell")
        self.assertFalse(self.lines("show", before)[0]["history_is_whole"])
        self.assertRegex(self.culex("show", before), r"\nhistory +\(what was before is kept no more\)\n +\S+ \S+  attempt 1  started\n")

    def test_the_holder_of_a_run_is_shown(self):
        self.held("enqueue", "pen", "1")
        [run] = self.ids_of("held")
        self.assertNotIn("holder", self.culex("show", run, "--json"))
        worker = self.work("--queues", "held")
        self.until(lambda: "holder" in self.lines("show", run)[0])
        [shown] = self.lines("show", run)
        self.assertEqual((shown["holder"]["name"], shown["holder"]["pid"]), ("one", worker.pid))
        self.assertIn(shown["holder"]["id"], {each["id"] for each in self.lines("workers")})
        self.assertRegex(self.culex("show", run), rf"\nholder      one \(\S+, process {worker.pid}\), since 20")
        self.culex("cancel", run)
        self.until(lambda: self.lines("show", run)[0]["state"] == "cancelled")
        self.assertNotIn("holder", self.culex("show", run, "--json"))

    def is_waited_for(self, queue):
        """The store has a note that somebody waits for the end of a run of the queue."""
        if STORE == "redis":
            return subprocess.run(["redis-cli", "-s", self.folder / "redis.sock", "exists", f"culex:{{{queue}}}:waits"],
                                  capture_output=True, text=True, check=False).stdout == "1\n"
        reader = sqlite3.connect(self.folder / "jobs.db")
        count = reader.execute("SELECT count(*) FROM wait JOIN queue USING (queue) WHERE name = ?",
                               [queue]).fetchone()[0]
        reader.close()
        return count > 0

    def test_what_has_ended_is_told_when_the_store_goes_away(self):
        self.fill()
        [done] = self.ids("--job", "scribe")
        # Of another queue, which is asked for after the answers of the first one have been read.
        pending = self.culex("enqueue", "wink", "length=1m", *self.schema("wink"), "--queue", "other").strip()
        waits = subprocess.Popen([CULEX, "wait", done, pending, "--timeout", "5s", "--store-timeout", "500ms"], env=self.env,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(waits.kill)
        self.until(lambda: self.is_waited_for("other"))
        if STORE == "redis":
            self.server.kill()
        else:
            (self.folder / "jobs.db").rename(self.folder / "away.db")
        out, err = waits.communicate(timeout=60)
        self.assertEqual((waits.returncode, out), (1, f"{done}: done\n"), err)
        self.assertIn("culex: ", err)

    def schema(self, job):
        """A file with the text of the job's schema."""
        path = self.folder / f"{job}.json"
        path.write_text(self.nap("schema", job), encoding="utf-8")
        return ("--schema", str(path))

    def test_params_are_shown_by_their_schema(self):
        self.nap("enqueue", "tell", "no \x1b[31m route", "hunter2")
        [run] = self.ids()
        text = self.culex("show", run, *self.schema("tell"), "--verbose")
        self.assertIn('params      words: "no \\u001b[31m route" (string)\n'
                      "            token: (secret) (string)\n", text)
        self.assertNotIn("schema  ", text)
        self.assertIn('token: "hunter2" (string)', self.culex("show", run, *self.schema("tell"), "--params"))
        [shown] = self.lines("show", run, *self.schema("tell"))
        self.assertEqual((shown["param_values"], shown["params_hidden"], shown["schema_is_own"]),
                         ({"words": "no \x1b[31m route"}, ["token"], True))
        self.assertNotIn("hunter2", json.dumps(shown))
        [shown] = self.lines("show", run, *self.schema("tell"), "--params")
        self.assertEqual((shown["param_values"]["token"], shown["params_hidden"]), ("hunter2", []))
        self.assertIn("of the job wink, not of tell", self.culex("show", run, *self.schema("wink"), code=2))

    def test_params_that_another_schema_reads_are_said_to_be_so(self):
        self.nap("enqueue", "tell", "x", "hunter2")
        [run] = self.ids()
        (option, path) = self.schema("tell")
        text = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        pathlib.Path(path).write_text(json.dumps(text | {"fingerprint": "0" * 16, "params": {"name": "tell", "fields": []}}),
                                      encoding="utf-8")
        shown = self.culex("show", run, option, path)
        self.assertIn("that of the file, 0000000000000000, not that of this run, ", shown)
        self.assertIn("words: (not in the schema: --params shows it)", shown)
        self.assertNotIn("hunter2", shown)
        text["params"]["fields"][0]["kind"] = "int32"
        pathlib.Path(path).write_text(json.dumps(text), encoding="utf-8")
        shown = self.culex("show", run, option, path)
        self.assertIn("params      (not shown: --params)\n            (not by the schema: words: expected an integer", shown)
        pathlib.Path(path).write_text("{", encoding="utf-8")
        self.assertIn("the text of a schema", self.culex("show", run, option, path, code=2))

    def test_runs_are_enqueued_by_their_schema(self):
        self.nap("enqueue", "wink", "1")
        [told] = self.lines("enqueue", "tell", "words=a = b", "token=hunter2", *self.schema("tell"), "--tag", "a,b",
                            "--priority", "7", "--delay", "1h", "--key", "once")
        self.assertEqual((told["queue"], told["job"], told["outcome"]), ("naps", "tell", "new"))
        [run] = self.lines("show", told["id"], "--params")
        self.assertEqual((json.loads(run["params"]), run["tags"], run["priority"], run["state"]),
                         ({"words": "a = b", "token": "hunter2"}, ["a", "b"], 7, "scheduled"))
        again = self.culex("enqueue", "tell", "words=a = b", "token=hunter2", *self.schema("tell"), "--key", "once")
        self.assertEqual(again, f"{told['id']}  (that of this key: nothing came in)\n")
        plain = self.culex("enqueue", "tell", "--payload", '{"words":"by JSON"}', *self.schema("tell")).strip()
        self.assertEqual(json.loads(self.lines("show", plain, "--params")[0]["params"]), {"words": "by JSON"})
        wink = self.culex("enqueue", "wink", "length=2m", *self.schema("wink"), "--queue", "other").strip()
        [run] = self.lines("show", wink, "--params")
        self.assertEqual((run["queue"], json.loads(run["params"])), ("other", {"length": "120s"}))
        self.culex("cancel", told["id"])
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--log-level", "error")
        self.assertEqual(self.lines("show", plain)[0]["error"], "by JSON")

    def test_a_trace_is_taken_along_and_shown(self):
        self.nap("enqueue", "wink", "1")
        wink = ("enqueue", "wink", "length=1s", *self.schema("wink"))
        (one, two) = (f"00-{digit * 32}-00f067aa0ba902b7-0{flag}" for digit, flag in (("a", 1), ("b", 0)))
        run = self.culex(*wink, "--traceparent", one).strip()
        shown = self.culex("show", run, *self.schema("wink"))
        self.assertIn(f"trace       {'a' * 32}, from span 00f067aa0ba902b7, recorded\n", shown)
        self.assertNotIn("not in the schema", shown)
        self.assertEqual(self.lines("show", run)[0]["traceparent"], one)
        self.env["TRACEPARENT"] = two
        run = self.culex(*wink).strip()
        self.assertIn(f"trace       {'b' * 32}, from span 00f067aa0ba902b7, not recorded\n", self.culex("show", run))
        self.assertEqual(self.lines("show", self.culex(*wink, "--traceparent", one).strip())[0]["traceparent"], one)
        self.env["TRACEPARENT"] = ""
        run = self.culex(*wink).strip()
        self.assertNotIn("trace ", self.culex("show", run))
        self.assertNotIn("traceparent", self.lines("show", run)[0])
        self.assertIn("traceparent has a trace-id of zeroes alone",
                      self.culex(*wink, "--traceparent", one.replace("a" * 32, "0" * 32), code=2))

    def test_a_trace_of_no_use_is_ignored_when_it_is_inherited_and_refused_when_it_is_given(self):
        self.nap("enqueue", "wink", "1")
        wink = ("enqueue", "wink", "length=1s", *self.schema("wink"))
        (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
        for text, is_good in ((f"00-{trace}-{parent}-01", True), (f"cc-{trace}-{parent}-01", True), (f"cc-{trace}-{parent}-01-what", True),
                              (f"00-{trace}-{parent}-01-what", False), (f"cc-{trace}-{parent}-01what", False), (f"ff-{trace}-{parent}-01", False),
                              (f"00-{'0' * 32}-{parent}-01", False), (f"00-{trace}-{'0' * 16}-01", False), (f"00-{trace.upper()}-{parent}-01", False),
                              (f"00-{trace}-{parent}-0", False), (f"00-{trace}-{parent}", False), (f"0-{trace}-{parent}-01", False),
                              (f"00_{trace}-{parent}-01", False), ("nonsense", False), ("00", False), ("\x1b[31m", False)):
            self.env["TRACEPARENT"] = text
            for words in ([], ["--dry-run"]):
                told = self.told(*wink, *words)
                self.assertEqual(told.startswith("culex: TRACEPARENT of the environment"), not is_good, (text, words))
                self.assertNotIn("\x1b", told)
            run = self.culex(*wink).strip()
            self.assertEqual("traceparent" in self.lines("show", run)[0], is_good, text)
            self.env["TRACEPARENT"] = ""
            count = len(self.ids())
            for words in ([], ["--dry-run"]):
                told = self.told(*wink, *words, "--traceparent", text, code=0 if is_good else 2)
                self.assertEqual("traceparent" in told, not is_good, (text, words))
            self.assertEqual(len(self.ids()), count + is_good)
        self.env["TRACEPARENT"] = "nonsense"
        self.assertEqual(self.told(*wink, "--traceparent", f"00-{trace}-{parent}-01"), "")

    def test_a_dry_run_is_refused_what_an_enqueue_is_refused(self):
        self.nap("enqueue", "wink", "1")
        wink = ("enqueue", "wink", "length=1s", *self.schema("wink"))
        for words in (["--tag", "a,,b"], ["--tag", "x" * 2000], ["--key", "x" * 2000], ["--queue", "no queue"], ["--delay", "99999d"],
                      ["--at", "2500-01-01"], ["--traceparent", "x"]):
            told = self.told(*wink, *words, code=2)
            self.assertTrue(told.startswith("culex: "), told)
            self.assertEqual(self.told(*wink, *words, "--dry-run", code=2), told)
        self.assertEqual(len(self.ids()), 1)

    def test_a_secret_default_is_left_to_the_worker(self):
        self.nap("enqueue", "wink", "1")
        run = self.culex("enqueue", "tell", "words=x", *self.schema("tell")).strip()
        self.assertEqual(json.loads(self.lines("show", run, "--params")[0]["params"]), {"words": "x"})
        self.assertIn("token: - (string, the worker's default)", self.culex("show", run, *self.schema("tell")))

    def test_params_are_checked_before_they_are_enqueued(self):
        self.nap("enqueue", "wink", "1")
        mail = ("enqueue", "shop.mail.send_email", "--schema", str(SCHEMAS / "mail.json"), "--dry-run")
        good = ("to=ann@example.com", "subject=Hi", "body=Zm9v")
        charge = ("enqueue", "shop.own.charge", "--schema", str(SCHEMAS / "own_types.json"), "--dry-run")
        paid = ("total=12.50 EUR", "range=1 EUR", "range=2 EUR", "budget=5 EUR")
        for words, told in (
                ((*mail, "sujbect=Hi"), "has no param 'sujbect'; did you mean subject?\n    sujbect=...\n    ^~~~~~~\n"),
                ((*mail, "x=1"), "there are to, subject, lang, body,"),
                ((*mail, *good, "lang=ITA"), "did you mean IT?\n    lang=ITA\n         ^~~\n"),
                ((*mail, *good, "lang=german"), "which has EN, IT\n"),
                ((*mail, *good, "tenant=-1"), "tenant: expected an integer from 0 to 18446744073709551615, found -1\n"
                                              "    tenant=-1\n           ^~\n"),
                ((*mail, *good, "urgent=yes"), "urgent: expected true or false\n"),
                ((*mail, *good, "to=b"), "to is given twice"),
                ((*mail, "to=", *good[1:]), "to: expected at least 1 bytes, found 0"),
                ((*mail, "body=%hunter2"), "found another value (secret); hexadecimal digits go behind hex:\n    body=...\n         ^~~\n"),
                ((*mail, "to=a"), "required and not given: subject (string), body (bytes)\n"),
                ((*mail, *good, "to.x=1"), "to has no names in it: it is string"),
                ((*mail, *good, "Hi"), "Hi: write NAME=VALUE"),
                ((*mail, "--payload", '{"to":"a","sbject":1}'), "has no param 'sbject'; did you mean subject?"),
                ((*mail, "--payload", '{"to":"a"'), "culex: the JSON is cut off at byte 9 of --payload\n"),
                ((*mail, "--payload", "{}", "to=a"), "stands beside --payload"),
                ((*mail, *good, "--priority", "10"), "--priority: 0 to 9"),
                ((*mail, *good, "--delay", "1s", "--at", "2099-01-01"), "one of them"),
                ((*charge, *paid, 'lines={"whot":"x","price":"1 EUR"}'), "has no param 'whot'; did you mean what?"),
                ((*charge, *paid[:2], "budget=5 EUR"), "range: expected 2 elements, found 1"),
                ((*charge, *paid, "lines=x"), "lines[0]: a struct: write {"),
                (("enqueue", "tell"), "has a schema of the job tell"),
                (("enqueue", "wink", *self.schema("tell")), "of the job tell, not of wink"),
                (("enqueue", "wink", "--schema", "nothing.json"), "No such file")):
            self.assertIn(told, self.culex(*words, code=2), words)
        self.assertNotIn("hunter2", self.culex(*mail, "body=%hunter2", code=2))
        for struct in ('{"what":"hunter2","price":7}', '[{"what":"hunter2","price":7}]', '{"what":"hunter2"', '{"what":"hunter2"}', "hunter2"):
            self.assertNotIn("hunter2", self.culex(*charge, *paid, f"lines={struct}", code=2), struct)
        shown = self.culex(*mail, *good, "cc=a", "cc=b", "lang=IT", "--verbose")
        for line in ("would enqueue one run of shop.mail.send_email in mail\n", 'to: "ann@example.com" (string)  RFC 5321 address\n',
                     "body: (secret) (bytes)", 'cc: ["a", "b"] (string[<=50])\n', "lang: IT (shop.lang, default EN)\n",
                     "urgent: false (bool, default, deprecated)\n"):
            self.assertIn(line, shown)
        [shown] = self.lines(*mail, *good)
        self.assertEqual((shown["dry_run"], shown["params_hidden"], shown["param_values"]["cc"]), (True, ["body"], []))
        self.assertIn("lines[1].what: \"y\" (string)",
                      self.culex(*charge, *paid, 'lines=[{"what":"x","price":"1 EUR"},{"what":"y","price":"2 EUR"}]'))
        self.assertEqual(len(self.ids()), 1)

    def vault_keys(self, name):
        path = self.folder / name
        path.write_text(f"{name} {base64.b64encode(os.urandom(32)).decode()}\n", encoding="ascii")
        path.chmod(0o600)
        return ("--keys", str(path))

    def vaults(self, keys):
        """Has the store know the schema of vault.pay, and its runs done."""
        self.env["CULEX_KEYS"] = keys[1]
        told = self.nap("--drain", "--isolation", "none", "--log-level", "error", program=VAULT)
        del self.env["CULEX_KEYS"]
        return told

    @unittest.skipUnless(VAULT.exists(), "no libsodium")
    def test_encrypted_params_are_sealed_and_opened_by_keys(self):
        keys = self.vault_keys("one")
        self.vaults(keys)
        pay = ("enqueue", "vault.pay", "shop=x")
        paid = (*pay, "iban=IT99", "cents=77", "lines=a", "lines=b")
        for words, told in ((paid, "iban is encrypted, and there is no key for it: culex enqueue --keys FILE has some\n    iban=...\n    ^~~~\n"),
                            (pay, "iban is required and encrypted, and there is no key for it: culex enqueue --keys FILE has some"),
                            (("enqueue", "vault.pay", "--payload", '{"iban":"IT99"}'),
                             "iban is encrypted, and there is no key for it: culex enqueue --keys FILE has some"),
                            ((*pay, *keys), "required and not given: iban (string), cents (uint32)"),
                            ((*pay, "iban=IT99", "cents=-77", *keys), "found another value (secret)\n    cents=...\n"),
                            ((*paid, "--keys", "none"), "file of keys none: No such file"), (("show", "x", *keys), "say both")):
            text = self.culex(*words, code=2)
            self.assertIn(told, text)
            self.assertNotIn("77", text)
        self.assertNotIn("IT99", self.culex(*paid, *keys, "--dry-run") + self.culex(*paid, *keys, "--dry-run", "--json"))
        self.assertEqual(self.ids_of("vault.pay"), [])
        run = self.culex(*paid, *keys).strip()
        for words in ([], ["--params"], ["--json"], ["--params", "--json"], ["--params", *self.vault_keys("two")]):
            self.assertNotIn("IT99", self.culex("show", run, *words))
        self.assertIn("(not opened: iban: sealed by key 'one'", self.culex("show", run, "--params", *self.vault_keys("two")))
        self.assertIn('iban: "IT99" (string)\n            cents: 77 (uint32)\n            note: - (string, absent)\n            lines: ["a", "b"]',
                      self.culex("show", run, "--params", *keys))
        self.assertEqual(self.lines("show", run, "--params", *keys)[0]["param_values"], {"shop": "x", "iban": "IT99", "cents": 77, "lines": ["a", "b"]})
        self.env["CULEX_KEYS"] = keys[1]
        self.assertNotIn("IT99", self.culex("show", run))
        other = self.culex("enqueue", "vault.pay", "--payload", '{"shop":"x","iban":"IT88","cents":1}').strip()
        self.assertEqual(sorted(self.vaults(keys).splitlines()), ["paid IT88 1 - 0", "paid IT99 77 - 2"])
        self.assertIn('receipt: "receipt-of-IT88"', self.culex("show", other, "--params", *keys))
        self.assertEqual(self.lines("show", other, "--params", *keys)[0]["result_values"]["receipt"], "receipt-of-IT88")
        self.assertNotIn("IT88", self.culex("show", other, "--params"))

    def kit(self):
        """What stands behind `enqueue kit.all`, but for params, to see what it would be."""
        self.nap("enqueue", "wink", "1")
        path = self.folder / "kit.json"
        path.write_text(self.held("schema"), encoding="utf-8")
        return ("enqueue", "kit.all", "--schema", str(path), "--dry-run")

    def test_values_are_taken_as_schemas_write_them(self):
        kit = self.kit()
        for text, wanted in (("90s", "90s"), ("1h30m", "5400s"), ("0.1h", "360s"), ("100us", "0.0001s"), ("1w2d", "777600s"), ("-1.5s", "-1.5s"),
                             ("5m0.25s", "300.25s"), ("0s", "0s"), ("9223372036854775807ns", "9223372036.854775807s")):
            for words in (["to=x", f"wait={text}"], ["--payload", json.dumps({"to": "x", "wait": text})]):
                self.assertEqual(self.lines(*kit, *words)[0]["param_values"]["wait"], wanted, words)
            self.assertEqual(self.lines(*kit, "to=x", f"pauses={text}", "pauses=1s")[0]["param_values"]["pauses"], [wanted, "1s"])
            self.assertEqual(self.lines(*kit, "to=x", f'pauses=["{text}"]')[0]["param_values"]["pauses"], [wanted])
        for text in ("5", "m", "5x", "1s1m", "1s1s", "0.1ns", "1.s", ".5s", "5 m", "", "-", "9223372037s", "99999999999999999999s", "0.00000000001m"):
            for words in (["to=x", f"wait={text}"], ["--payload", json.dumps({"to": "x", "wait": text})]):
                self.assertIn("wait: expected a duration, numbers with w, d, h, m, s, ms, us or ns, as 1h30m", self.culex(*kit, *words, code=2), words)
        for text, wanted in (('x"00fF"', "AP8="), ("hex:00ff", "AP8="), ("base64:AP8=", "AP8="), ("AP8=", "AP8="), ('x""', ""), ("hex:", "")):
            for words in (["to=x", f"blob={text}"], ["--payload", json.dumps({"to": "x", "blob": text})]):
                self.assertEqual(self.lines(*kit, *words)[0]["param_values"]["blob"], wanted, words)
        self.assertIn("    blob=hex:0f0\n         ^~~~~~~\n", self.culex(*kit, "to=x", "blob=hex:0f0", code=2))
        for text in ('x"0g"', "hex:0", 'x"00', "base64:x", "deadbee"):
            self.assertIn("blob: expected ", self.culex(*kit, "to=x", f"blob={text}", code=2))
        self.assertIn("found deadbee; hexadecimal digits go behind hex:\n", self.culex(*kit, "to=x", "blob=deadbee", code=2))
        self.assertIn("as 1h30m, found nothing\n", self.culex(*kit, "to=x", "wait=", code=2))
        self.assertIn("blob: AP8= (bytes, 2 bytes)\n", self.culex(*kit, "to=x", "blob=hex:00ff"))
        self.assertIn("blob: read as base64; write hex: before hexadecimal digits", self.told(*kit, "to=x", "blob=deadbeef"))
        self.assertEqual(self.told(*kit, "to=x", "blob=AP8="), "")

    def test_what_is_wrong_is_named_by_its_path_and_place(self):
        kit = self.kit()
        for words, told in ((["a.b=[{\"c\":\"x\"},{\"c\":7}]"], "a.b[1].c: expected a string, found a number at byte 16 of the value\n"),
                            (["a.b={\"c\":\"x\"}", "a.b={}"], "a.b[1].c: required, but not in the payload\n"),
                            (["a.b=[{\"c\":\"x\",\"d\":\"5\"}]"], "a.b[0].d: expected a duration"),
                            (["a.b=[{\"c\":\"x\""], "a.b: the JSON is cut off at byte 9 of the value\n    a.b=...\n"),
                            (["a.tint=BLUE"], "a.tint: no value of kit.color, which has RED, GREEN\n    a.tint=BLUE\n           ^~~~\n"),
                            (["a.bb.c=x"], "has no param 'bb'"), (["a.tint.x=1"], "a.tint has no names in it: it is kit.color"),
                            (["a.b=x"], "a.b[0]: a struct: write {"), (["alias=x"], "alias is named nick now\n    alias=...\n    ^~~~~\n"),
                            (["age=7"], "age: expected an integer from 18 to 150, found 7\n"), (["a.b=[null]"], "a.b[0]: null is no value at byte 1"),
                            (["a.tint=RED", "a.tint=RED"], "a.tint is given twice")):
            self.assertIn(told, self.culex(*kit, "to=x", *words, code=2), words)
        for text, told in (('{"to":"a', "the JSON is cut off at byte 8 of --payload\n"), ('{"to":"a","age":7}', "age: expected an integer from 18 to 150, found 7 at byte 16 of --payload"),
                           ('{"to":"a","age":true}', "age: expected an integer from 18 to 150, found a boolean at byte 16 of --payload"),
                           ('{"to" "a"}', "no ':' behind a name at byte 6"), ('{"to":"a"} x', "more text behind the value at byte 11"),
                           ('{"to":"a" "age":18}', "no ',' and no '}' behind a value at byte 10"), ("[]", "expected an object"), ('{to:"a"}', "no name in quotes at byte 1"),
                           ('{"to":"a","a":{"b":[{"c":"x","blobb":""}]}}', "a.b[0]: kit.inner has no param 'blobb'; did you mean blob?"),
                           ('{"to":"a","paint":"GREN"}', "paint: no value of kit.color; did you mean GREEN? at byte 18"), ('{"to":"a","to":"b"}', "to: in the payload twice"),
                           ('{"to":"a","nick":"x","alias":"y"}', "nick: in the payload twice"), ('{"to":nil}', "to: no value at byte 6"), ('{"to":null}', "required and not given: to"),
                           ('{"to":"a","pauses":"1s"}', "pauses: expected a list"), ('{"to":"a","a":{"b":[],},"age":18}', "no name in quotes"),
                           ('{"to":"a","a":' + "[" * 40 + "]" * 40 + "}", "a: expected an object"), ('{"to":"a","pauses":["1s" "2s"]}', "no ',' and no ']'"),
                           ('{"to":"a","token":7}', "token: expected a string, found a number at byte 18"), ('{"to":"a","pauses":["1s",]}', "pauses[1]: expected")):
            self.assertIn(told, self.culex(*kit, "--payload", text, code=2), text)
        for given in ("nick", "alias"):
            self.assertEqual(self.lines(*kit, "--payload", json.dumps({"to": "a", given: "x", "paint": "RED"}))[0]["param_values"]["nick"], "x")
        for given in ("paint", "!paint"):
            self.assertEqual(self.lines(*kit, "--payload", json.dumps({"to": "a", given: "RED"}))[0]["param_values"]["paint"], "RED")
        done = subprocess.run([CULEX, *kit, "--payload", "-"], env=self.env, capture_output=True, input=b'{"to":"a","blob":"x\0"}', check=False)
        self.assertEqual((done.returncode, b"at byte 17 of standard input" in done.stderr), (2, True), done.stderr)
        self.assertNotIn("hunter2", self.culex(*kit, "--payload", '{"to":"a","token":["hunter2"]}', code=2))

    def test_times_of_options_are_those_of_schemas(self):
        self.fill()
        [first, *_] = self.ids("--state", "waiting")
        self.culex("move", first, "--delay", "1h30m")
        self.assertEqual(len(self.ids("--since", "1w1d")), 5)
        for words, told in ((["move", first, "--delay", "-5m"], "is no time"), (["queues", "--store-timeout", "100us"], "10ms to 1d"),
                            (["queues", "--store-timeout", "0s"], "10ms to 1d"), (["limit", "naps", "x", "5/100us"], "whole milliseconds"),
                            (["check", "--waiting-age", "1m1h,"], "")):
            self.culex(*words, code=3 if words[0] == "check" else 2)
            if told:
                self.assertIn(told, self.culex(*words, code=2), words)
        self.assertIn("s;5400;86400;0", self.checked("--no-worker", "ok", "--waiting-age", "1h30m,1d", code=0))

    def test_runs_are_steered(self):
        self.fill()
        first, second, third = self.ids("--state", "dead")
        self.culex("retry", first)
        self.assertEqual(len(self.ids("--state", "waiting")), 2)
        self.culex("cancel", first)
        self.assertEqual(self.culex("retry", first, code=1), f"culex: {first}: only a dead run can be retried\n")
        self.culex("delete", first, second)
        self.assertEqual(self.ids("--state", "dead,cancelled"), [third])
        [waits] = self.ids("--state", "waiting")
        self.culex("move", waits, "--delay", "1h", "--priority", "7")
        [moved] = self.lines("show", waits)
        self.assertEqual((moved["state"], moved["priority"]), ("scheduled", 7))
        self.assertIn("tells where to", self.culex("move", waits, code=2))
        for at, told in (("2m", "is no time"), ("2026-11-30", "is past"), ("2099-01-01T10:00", "is no time")):
            self.assertIn(told, self.culex("move", waits, "--at", at, code=2))
        self.assertIn("due 2099-01-01 09:00:00Z", self.culex("move", waits, "--at", "2099-01-01T10:00+01:00"))

    def test_failures_of_a_retried_run_are_counted_anew_and_told_of_both(self):
        self.die("late")
        [dead] = self.ids()
        self.assertIn("attempt     1; 1 of 1 failures", self.culex("show", dead))
        self.culex("retry", dead)
        self.assertIn("attempt     1; 0 of 1 failures", self.culex("show", dead))
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--log-level", "error")
        self.assertIn("attempt     2; 1 of 1 failures", self.culex("show", dead))
        self.assertEqual(self.culex("runs", "naps").splitlines()[1].split()[3:5], ["2", "1/1"])
        [run] = self.lines("show", dead)
        self.assertEqual([(line["attempt"], line["level"], line["text"]) for line in run["log"]],
                         [(1, 1, "failed: late"), (2, 1, "failed: late")])

    def test_one_of_several_that_is_not_there_keeps_none_from_the_others(self):
        self.fill()
        first, second, third = self.ids("--state", "dead")
        self.culex("delete", second)
        self.assertEqual(self.culex("retry", first, second, third, code=1).count("put back to waiting"), 2)
        self.assertIn("is no id", self.culex("cancel", first, "bogus", code=2))
        self.assertEqual(len(self.ids("--state", "waiting")), 3)

    def test_many_are_counted_and_asked_about(self):
        self.fill()
        dead = ("--queue", "naps", "--state", "dead")
        self.assertEqual(self.lines("retry", *dead, "--dry-run")[0]["matched"], 3)
        self.assertIn("say --yes", self.culex("retry", *dead, code=2))
        self.assertEqual(len(self.ids("--state", "dead")), 3)
        self.assertEqual(self.answer("n\n", "retry", *dead), 1)
        self.assertEqual(len(self.ids("--state", "dead")), 3)
        self.assertEqual(self.answer("y\n", "delete", "--queue", "naps", "--error", "no route"), 0)
        self.assertEqual(len(self.ids("--state", "dead")), 1)
        self.assertEqual(self.lines("retry", *dead, "--yes")[0]["done"], 1)
        self.assertIn("--all", self.culex("delete", "--queue", "naps", code=2))
        self.assertIn("--queue", self.culex("delete", "--all", code=2))
        self.assertEqual(self.lines("cancel", "--queue", "naps", "--all", "--yes")[0]["done"], 2)
        self.assertEqual(self.lines("purge", "naps", "cancelled", "--dry-run")[0]["matched"], 2)
        self.assertEqual(self.lines("purge", "naps", "cancelled", "--yes")[0]["done"], 2)
        self.assertIn("are not deleted", self.culex("purge", "naps", "active", code=2))

    def answer(self, words, *command, meanwhile=lambda: None):
        """The status of the command, whose question is answered on a terminal."""
        ours, its = pty.openpty()
        with subprocess.Popen([CULEX, *command], env=self.env, stdin=its, stdout=subprocess.DEVNULL, stderr=its) as asked:
            os.close(its)
            shown = b""
            while b"[y/N]" not in shown:
                shown += os.read(ours, 1000)
            meanwhile()
            os.write(ours, words.encode())
            asked.wait(60)
        os.close(ours)
        return asked.returncode

    def shown(self, *command, until, meanwhile):
        """What a command on a terminal has shown until its end, and its status; what `until` shows begins `meanwhile`."""
        ours, its = pty.openpty()
        with subprocess.Popen([CULEX, *command], env=self.env, stdin=its, stdout=its, stderr=its) as begun:
            os.close(its)
            text, is_told = "", False
            while True:
                try:
                    text += os.read(ours, 4096).decode()
                except OSError:
                    break
                if not is_told and re.search(until, text):
                    is_told = True
                    meanwhile(begun)
            begun.wait(60)
        os.close(ours)
        return text.replace("\r\n", "\n"), begun.returncode

    def test_an_interrupted_command_says_how_far_it_came(self):
        self.held("enqueue", "pen", "4000")
        text, code = self.shown("cancel", "--queue", "held", "--all", "--yes", until="[0-9]+ of 4000",
                                meanwhile=lambda begun: begun.send_signal(signal.SIGINT))
        self.assertEqual(code, 1, text)
        done = int(re.search(r"interrupted: (\d+) of 4000 were done", text)[1])
        self.assertEqual(self.lines("queues")[0]["cancelled"], done)
        self.assertEqual(self.lines("cancel", "--queue", "held", "--all", "--yes")[0]["done"], 4000 - done)

    def test_an_interrupt_at_the_question_does_nothing(self):
        self.fill()
        text, code = self.shown("delete", "--queue", "naps", "--state", "dead", until=r"\[y/N\]",
                                meanwhile=lambda begun: begun.send_signal(signal.SIGINT))
        self.assertEqual(code, -signal.SIGINT, text)
        self.assertEqual(len(self.ids("--state", "dead")), 3)

    def test_nobody_is_asked_who_cannot_see_the_question(self):
        self.fill()
        ours, its = pty.openpty()
        done = subprocess.run([CULEX, "delete", "--queue", "naps", "--state", "dead"], env=self.env, stdin=its,
                              capture_output=True, text=True, check=False, timeout=60)
        os.close(ours)
        os.close(its)
        self.assertEqual((done.returncode, "say --yes" in done.stderr), (2, True), done.stderr)
        self.assertEqual(len(self.ids("--state", "dead")), 3)

    def test_what_was_not_counted_is_left(self):
        self.fill()
        self.answer("y\n", "delete", "--queue", "naps", "--error", "no route", meanwhile=lambda: self.die("no route"))
        self.assertEqual(len(self.ids("--error", "no route")), 1)
        self.answer("y\n", "purge", "naps", "dead", meanwhile=lambda: self.die("late"))
        self.assertEqual(len(self.ids("--state", "dead")), 1)
        self.assertIn("say --yes", self.culex("purge", "naps", "dead", code=2))

    def die(self, text):
        self.nap("enqueue", "tell", text)
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--log-level", "error")

    def test_a_queue_is_steered(self):
        self.fill()
        self.assertRegex(self.culex("pause", "naps", "--for", "1h"), r"^naps: paused until \d\S+ \S+Z\n$")
        self.assertGreater(self.lines("queues")[0]["paused_until_ms"], 0)
        self.assertEqual(self.culex("pause", "naps"), "naps: paused\n")
        self.assertRegex(self.culex("pause", "naps", "--for", "1h"), r"^naps: paused until \d\S+ \S+Z, in place of a pause without an end\n$")
        self.culex("pause", "naps")
        [told] = self.lines("pause", "naps", "--for", "2h")
        self.assertEqual((told["now"], told["until_ms"], told["was_without_end"]), ("paused", self.lines("queues")[0]["paused_until_ms"], True))
        self.assertIn("paused until", self.culex("queues"))
        self.culex("resume", "naps")
        self.assertFalse(self.lines("queues")[0]["paused"])
        self.culex("capacity", "naps", "9")
        self.assertIn("forget 2 of 3 dead runs", self.culex("capacity", "naps", "1", "--dead", code=2))
        self.culex("capacity", "naps", "8", "--dead")
        [queue] = self.lines("queues")
        self.assertEqual((queue["capacity"], queue["dead_capacity"]), (9, 8))
        self.assertIn("nops", self.culex("pause", "nops", code=1))
        self.assertEqual(self.lines("schedules", "naps"), [])
        self.assertEqual(self.lines("limit", "naps"), [])
        self.assertIn("no schedule", self.culex("schedules", "naps", "run", "wink", code=1))
        self.assertIn("none of pause", self.culex("schedules", "naps", "paus", "wink", code=2))
        self.assertNotEqual(self.culex("limit", "naps", "tell:rate", "5/1m", code=1), "")

    def test_events_are_followed(self):
        self.fill()
        self.assertIn("--keep 10000", self.culex("events", "naps", code=1))
        self.culex("events", "naps", "--keep", "100")
        follow = subprocess.Popen([CULEX, "events", "naps", "--follow", "--limit", "2", "--json"], env=self.env,
                                  stdout=subprocess.PIPE, text=True)
        self.nap("enqueue", "wink", "1")
        self.nap("enqueue", "wink", "1")
        told = [json.loads(line) for line in follow.communicate()[0].splitlines()]
        self.assertEqual([event["event"] for event in told if event["event"] != "gap"], ["enqueued"] * 2)
        self.assertEqual(self.lines("events", "naps", "--from", told[-1]["position"]), [])
        self.assertEqual(self.culex("events", "naps", "--from", "oldest", "--limit", "1").split()[3], "enqueued")
        self.assertIn("neither oldest", self.culex("events", "naps", "--from", "-3", code=2))

    def test_positions_and_numbers_of_events_are_checked(self):
        self.fill()
        self.culex("events", "naps", "--keep", "100")
        for place in ("x", "0", "-5", "18446744073709551615", "99999999999999999999999"):
            self.assertIn("neither oldest, now nor a position", self.culex("events", "naps", f"--from={place}", code=2))
        self.assertIn("0 events are none", self.culex("events", "naps", "--limit", "0", code=2))

    def test_a_worker_is_steered(self):
        worker = subprocess.Popen([NAP, "--name", "one", "--queues", "naps", "--concurrency", "3", "--isolation", "none"],
                                  env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.until(lambda: STORE == "redis" or (self.folder / "jobs.db").exists())
        self.until(lambda: subprocess.run([CULEX, "workers"], env=self.env, capture_output=True, text=True,
                                          check=False).stdout.count("one"))
        [listed] = self.lines("workers")
        self.assertEqual((listed["name"], listed["pid"], listed["concurrency"]), ("one", worker.pid, 3))
        self.culex("workers", "concurrency", "2", listed["id"])
        self.until(lambda: self.lines("workers")[0]["concurrency"] == 2)
        self.culex("workers", "quiet", "one")
        self.until(lambda: self.lines("workers")[0]["is_quiet"])
        self.assertIn("there is no worker", self.culex("workers", "stop", "one", "two", code=1))
        self.assertIn("told 1 workers", self.culex("workers", "concurrency", "1", "one", "one"))
        self.assertIn("stop all 1 workers", self.culex("workers", "stop", "--all", code=2))
        self.assertIn("which?", self.culex("workers", "stop", code=2))
        self.culex("workers", "stop", "--all", "--yes")
        self.assertEqual(worker.wait(60), 0)

    def test_params_of_an_unknown_version_are_not_shown_by_another(self):
        self.nap("enqueue", "wink", "1")
        (option, path) = self.schema("tell")
        text = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        pathlib.Path(path).write_text(json.dumps(text | {"fingerprint": "0" * 15 + "1"}), encoding="utf-8")
        run = self.culex("enqueue", "tell", "words=hunter2", option, path).strip()
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--log-level", "error")
        shown = self.culex("show", run)
        self.assertIn("not that of this run, 0000000000000001", shown)
        self.assertIn("params      (not shown: --params)", shown)
        self.assertNotIn("words", shown)
        self.assertNotIn("param_values", self.lines("show", run)[0])
        self.assertIn('words: "hunter2" (string)', self.culex("show", run, "--params"))

    def tell(self, name, payload, **changes):
        """Enqueues a run of tell by a schema with these changes, which is told to the store; its id."""
        text = json.loads(self.nap("schema", "tell")) | changes
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(text), encoding="utf-8")
        before = set(self.ids())
        self.held("tell", path, json.dumps(payload))
        [run] = set(self.ids()) - before
        return run

    def test_what_one_version_calls_secret_none_shows(self):
        self.nap("enqueue", "wink", "1")
        fields = json.loads(self.nap("schema", "tell"))["params"]["fields"]
        plain = [{key: value for key, value in field.items() if key != "flags"} for field in fields]
        params = {"words": "w", "token": "hunter2"}
        first = self.tell("secret", params)
        second = self.tell("plain", params, params={"name": "tell", "fields": plain})
        schemas = [schema for schema in self.lines("schemas", "naps") if schema["job"] == "tell"]
        self.assertEqual(len({schema["fingerprint"] for schema in schemas}), 1)
        self.assertEqual(len({schema["digest"] for schema in schemas}), 2)
        for run in first, second:
            self.assertIn("token: (secret)", self.culex("show", run))
            [shown] = self.lines("show", run)
            self.assertEqual((shown["param_values"], shown["params_hidden"]), ({"words": "w"}, ["token"]))

    def test_schemas_of_versions_stand_beside_each_other(self):
        self.nap("enqueue", "wink", "1")
        unique = {"by_all": True, "states": ["waiting", "active"], "for_ms": 0, "on_conflict": "keep", "delay_ms": 0}
        self.tell("unique", {"words": "first"}, unique=unique)
        self.assertEqual(self.told("enqueue", "tell", "words=same"), "")
        self.assertIn("unique: that run stays as it is", self.culex("enqueue", "tell", "words=same"))
        self.tell("plain", {"words": "second"})
        self.assertNotIn("unique", self.culex("enqueue", "tell", "words=same"))
        self.assertIn("1 other schemas of this job were told within the hour",
                      self.told("enqueue", "tell", "words=same"))

    @unittest.skipUnless(STORE == "redis", "in SQLite a queue's name comes with the queue")
    def test_a_name_without_a_queue_hides_none_of_the_others(self):
        self.nap("enqueue", "wink", "1")
        subprocess.run(["redis-cli", "-s", self.folder / "redis.sock", "sadd", "culex:queues", "ghost"], check=True, capture_output=True)
        for verb in ("queues", "schemas", "workers", "live", "check"):
            told = subprocess.run([CULEX, verb, "--json"], env=self.env, capture_output=True, text=True, check=False)
            self.assertNotIn("ghost", told.stderr, verb)
            self.assertIn(told.returncode, (0, 2) if verb == "check" else (0,), (verb, told.stderr))
        self.assertEqual([queue["queue"] for queue in self.lines("queues")], ["naps"])
        self.assertIn("no queue 'ghost'", self.culex("queues", "ghost", code=1))

    def schemas_age(self, ms):
        """As if all that is in the store had been told so long ago."""
        if STORE == "sqlite":
            with sqlite3.connect(self.folder / "jobs.db") as file:
                file.execute("UPDATE job_schema SET told_ms = told_ms - ?", (ms,))
            file.close()
            return
        redis = lambda *words: subprocess.run(["redis-cli", "-s", self.folder / "redis.sock", *words], check=True,
                                              capture_output=True, text=True).stdout.split()
        key = "culex:{naps}:schemas"
        for field in redis("HKEYS", key):
            [value] = redis("HGET", key, field)
            told, rest = value.split("|", 1)
            redis("HSET", key, field, f"{int(told) - ms}|{rest}")

    def test_a_schema_that_nobody_tells_any_more_is_said_to_be_so(self):
        self.nap("enqueue", "wink", "1")
        self.tell("old", {"words": "w"})
        self.schemas_age(69 * 60 * 1000)
        self.assertEqual(self.told("enqueue", "tell", "words=x"), "")
        self.schemas_age(2 * 60 * 1000)
        self.assertIn("nobody has told this schema for 71 minutes: no worker in queue naps may have the job",
                      self.told("enqueue", "tell", "words=x"))

    def test_a_run_goes_into_the_queue_of_its_job(self):
        self.nap("enqueue", "wink", "1")
        self.tell("elsewhere", {"words": "w"})
        text = json.loads((self.folder / "elsewhere.json").read_text(encoding="utf-8"))
        (self.folder / "own.json").write_text(json.dumps(text | {"queue": "own", "wire": "shout", "name": "shout"}), encoding="utf-8")
        self.held("tell", self.folder / "own.json", '{"words":"w"}')
        self.assertEqual(self.told("enqueue", "shout", "words=x"), "")
        self.assertEqual(len(self.ids_of("own")), 2)

    def test_a_store_is_measured(self):
        self.nap("enqueue", "wink", "1")
        rows = self.lines("bench", "--for", "50ms")
        self.assertEqual([row["what"] for row in rows], ["read", "write", "enqueue", "enqueue 100", "run"])
        for row in rows:
            self.assertGreater(row["per_second"], 0)
        self.assertEqual(rows[-1]["runs"], 1 + rows[2]["runs"] + rows[3]["runs"])
        self.assertEqual(rows[1]["of_floor"], 1)
        [queue] = self.lines("queues", "culex.bench")
        self.assertEqual((queue["waiting"], queue["done"], queue["paused"]), (0, 0, False))
        self.assertEqual(self.culex("bench", "--for", "1ms", "--bytes", "0").splitlines()[-1].split()[0], "run")
        self.assertIn("queue naps has runs", self.culex("bench", "--queue", "naps", code=2))
        self.assertIn("at most 65536", self.culex("bench", "--bytes", "65537", code=2))
        for span in ("0s", "999us", "2m"):
            self.assertIn("--for: 1ms to 1m", self.culex("bench", "--for", span, code=2))
        self.culex("pause", "culex.bench")
        self.assertIn("is paused", self.culex("bench", code=2))
        self.assertEqual(len(self.ids()), 1)

    def test_a_measurement_that_is_stopped_leaves_nothing(self):
        self.nap("enqueue", "wink", "1")
        bench = subprocess.Popen([CULEX, "bench", "--for", "1m"], env=self.env, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.until(lambda: "culex.bench" in {queue["queue"] for queue in self.lines("queues")})
        bench.send_signal(signal.SIGINT)
        self.assertIn("queue culex.bench is empty again", bench.communicate(timeout=60)[1])
        self.assertEqual(bench.returncode, 1)
        self.assertEqual(self.ids_of("culex.bench"), [])

    def count_of_bench(self):
        return sum(queue[state] for queue in self.lines("queues") if queue["queue"] == "culex.bench"
                   for state in ("scheduled", "waiting", "active", "done", "dead", "cancelled"))

    def test_what_a_killed_measurement_leaves_is_cleared(self):
        self.nap("enqueue", "wink", "1")
        bench = subprocess.Popen([CULEX, "bench", "--for", "1m"], env=self.env, stdout=subprocess.DEVNULL)
        self.until(lambda: self.count_of_bench() > 0)
        bench.kill()
        bench.wait()
        left = self.count_of_bench()
        told = self.culex("bench", "--for", "1ms", code=2)
        self.assertIn(f"queue culex.bench has {left} runs of a bench that was killed, or is at work; delete them? Nobody is there to ask: say --yes", told)
        self.assertEqual(self.answer("n\n", "bench", "--for", "1ms"), 1)
        self.assertEqual(self.count_of_bench(), left)
        text, code = self.shown("bench", "--for", "1ms", until=r"\[y/N\]", meanwhile=lambda begun: begun.send_signal(signal.SIGINT))
        self.assertEqual((code, self.count_of_bench()), (-signal.SIGINT, left), text)
        self.culex("pause", "culex.bench")  # as one is that is killed while it writes
        self.assertEqual(len(self.lines("bench", "--for", "1ms", "--yes")), 5)
        self.assertEqual(self.count_of_bench(), 0)
        self.assertEqual(len(self.ids()), 1)
        self.assertIn("queue naps has runs", self.culex("bench", "--queue", "naps", "--yes", code=2))

    def stopped_bench(self):
        """One that stands still with runs that it has begun, and holds no lock of the store."""
        for _ in range(50):
            bench = subprocess.Popen([CULEX, "bench", "--for", "100ms", "--yes"], env=self.env, stdout=subprocess.DEVNULL)
            while bench.poll() is None:
                if any(queue["active"] for queue in self.lines("queues") if queue["queue"] == "culex.bench"):
                    bench.send_signal(signal.SIGSTOP)
                    written = subprocess.run([CULEX, "capacity", "culex.bench", "0", "--store-timeout", "500ms"], env=self.env,
                                             capture_output=True, check=False)
                    if written.returncode == 0 and self.lines("queues", "culex.bench")[0]["active"] > 0:
                        return bench
                    bench.kill()
            bench.wait()
        self.fail("none is seen at its runs")

    def test_what_a_killed_measurement_had_begun_is_cleared(self):
        self.nap("enqueue", "wink", "1")
        bench = self.stopped_bench()
        bench.kill()
        bench.wait()
        self.assertGreater(self.lines("queues", "culex.bench")[0]["active"], 0)
        rows = self.lines("bench", "--for", "1ms", "--yes")
        self.assertEqual(rows[-1]["runs"], 1 + rows[2]["runs"] + rows[3]["runs"])
        self.assertEqual(self.count_of_bench(), 0)

    def test_a_retired_job_is_not_enqueued(self):
        self.nap("enqueue", "wink", "1")
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--log-level", "error")
        self.assertIn("the job gone is retired", self.culex("enqueue", "gone", code=2))
        self.assertIn("retired     its workers end each run of it dead", self.culex("schema", "gone"))
        self.assertEqual({run["job"] for run in self.lines("runs", "naps")}, {"wink"})

    def test_schemas_are_what_workers_have_told(self):
        self.nap("enqueue", "wink", "1")
        self.assertEqual(self.lines("schemas"), [])
        self.assertIn("no queue 'nops'; did you mean naps?", self.culex("schemas", "nops", code=1))
        worker = subprocess.Popen([NAP, "--queues", "naps", "--isolation", "none"], env=self.env,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.until(lambda: "wink" in {schema["job"] for schema in self.lines("schemas", "naps")})
        [wink] = [schema for schema in self.lines("schemas") if schema["job"] == "wink"]
        self.assertEqual(wink["queue"], "naps")
        self.assertRegex(wink["fingerprint"], "^[0-9a-f]{16}$")
        self.assertGreater(wink["bytes"], 0)
        self.assertLess(abs(wink["told_ms"] - time.time() * 1000), 600_000)
        self.assertIn(wink["fingerprint"], self.culex("schemas", "naps"))
        self.assertEqual(self.culex("complete", "schemas", "n").split(), ["naps"])
        self.assertEqual(self.culex("complete", "enqueue", "win").split(), ["wink"])
        second = subprocess.Popen([NAP, "--queues", "naps,more", "--isolation", "none", "--log-level", "error"], env=self.env)
        self.addCleanup(second.wait)
        self.addCleanup(second.kill)
        self.until(lambda: len([each for each in self.lines("schemas") if each["job"] == "wink"]) == 2)
        self.assertEqual(self.culex("complete", "enqueue", "win").split(), ["wink"])
        self.assertEqual(self.culex("complete", "enqueue", "--queue", "none", "win").split(), [])

    def test_a_job_is_meant_by_the_end_of_its_name(self):
        self.work("--queues", "kit")
        self.until(lambda: "kit.all" in {schema["job"] for schema in self.lines("schemas", "kit")})
        self.assertIn("there is no schema of all; did you mean kit.all?", self.culex("enqueue", "all", "to=x", code=2))
        self.assertNotIn("did you mean", self.culex("enqueue", "ll", "to=x", code=2))
        self.culex("enqueue", "kit.all", "to=x", "blob=hex:00ff", "wait=1h30m")
        self.until(lambda: [run["state"] for run in self.lines("runs", "kit")] == ["done"])
        self.culex("enqueue", "kit.all", "to=x", "blob=hex:00ff", "wait=1h30m", "--delay", "1h")
        [run] = self.lines("runs", "kit", "--job", "all", "--state", "scheduled")
        self.assertEqual((run["job"], self.told("runs", "kit", "--job", "all")), ("kit.all", ""))
        self.assertIn("did you mean kit.all?", self.told("runs", "kit", "--job", "kit.al"))
        self.assertEqual(self.told("runs", "kit", "--job", "all", "--state", "dead"), "")
        self.assertEqual(self.told("delete", "--queue", "kit", "--job", "all", "--state", "cancelled", "--yes"),
                         "culex: the job all is kit.all\n")
        self.assertIn("1 runs of queue kit cancelled", self.culex("cancel", "--queue", "kit", "--job", "all", "--yes"))

    def test_the_name_itself_is_meant_before_the_end_of_another(self):
        self.work("--queues", "kit")
        self.until(lambda: "kit.all" in {schema["job"] for schema in self.lines("schemas", "kit")})
        self.culex("enqueue", "kit.all", "to=x", "blob=hex:00ff", "wait=1h30m", "--delay", "1h")
        carried = self.culex("export", "kit").replace('"kit.all"', '"all"').replace(self.env["CULEX_URL"], "another")
        for verb in ("cancel", "delete"):
            self.culex(verb, "--queue", "kit", "--all", "--yes")
        subprocess.run([CULEX, "import", "kit", "--copy", "--yes"], env=self.env, input=carried, text=True, check=True, stdout=subprocess.DEVNULL)
        self.culex("enqueue", "kit.all", "to=x", "blob=hex:00ff", "wait=1h30m", "--delay", "1h")
        self.assertEqual({run["job"] for run in self.lines("runs", "kit")}, {"all", "kit.all"})
        self.assertEqual([run["job"] for run in self.lines("runs", "kit", "--job", "all")], ["all"])
        self.assertEqual(self.told("cancel", "--queue", "kit", "--job", "all", "--yes"), "")
        self.assertEqual([run["job"] for run in self.lines("runs", "kit", "--state", "scheduled")], ["kit.all"])

    def test_the_params_of_a_job_are_shown(self):
        self.work("--queues", "kit")
        self.until(lambda: "kit.all" in {schema["job"] for schema in self.lines("schemas", "kit")})
        shown = self.culex("schema", "kit.all")
        rows = [re.split("  +", line.strip()) for line in shown.splitlines()]
        for row in (["job", "kit.all"], ["queue", "kit"], ["means", "Params that may be written in more than one way."],
                    ["to", "string", "required", "who gets it"], ["wait", "duration", "default 5m", "as 1h30m"],
                    ["nick", "string", 'default "", in the store alias'], ["token", "string", "the worker's default, secret"],
                    ["age", "uint8", "default 18", "18 to 150"], ["paint", "kit.color", "default GREEN", "RED | GREEN", "of the lid"],
                    ["pauses", "duration[<=4]", "optional", "as 1h30m"], ["a.b[].c", "string", "required"], ["GREEN", "kit.color", "go"],
                    ["blob", "bytes", "optional", "base64, or hex:00ff"]):
            self.assertIn(row, rows)
        text = self.culex("schema", "kit.all", "--json")
        self.assertEqual(json.loads(text), json.loads(self.held("schema")))
        path = self.folder / "kit.json"
        path.write_text(text, encoding="utf-8")
        self.assertIn("to: \"x\" (string)", self.culex("enqueue", "kit.all", "to=x", "--schema", str(path), "--dry-run"))
        self.assertEqual(self.culex("schema", "kit.all", "--schema", str(path)), shown.replace("queue       kit\n", ""))
        self.assertIn("that of the file", self.culex("schema", "kit.all", "--schema", str(path), "--json", code=2))
        self.assertIn("params      (none)", self.culex("schema", "pen"))
        self.assertIn("did you mean kit.all?", self.culex("schema", "all", code=2))
        self.assertIn("nothing in queue held", self.culex("schema", "kit.all", "--queue", "held", code=2))
        mail = self.culex("schema", "shop.mail.send_email", "--schema", str(SCHEMAS / "mail.json"))
        for part in ("in store    shop.mail.send_mail\n", "1 to 320 bytes", "required, secret", "at most 998 bytes", "string[<=50]"):
            self.assertIn(part, mail)
        self.assertIn("\nRESULT", self.culex("schema", "shop.own.charge", "--schema", str(SCHEMAS / "own_types.json")))

    def test_a_worker_is_shown_whole(self):
        self.held("enqueue", "pen", "1")
        self.work("--queues", "held", "--concurrency", "3", "--offer", "gpu=2")
        self.until(lambda: self.lines("workers")[0]["runs_total"] == 1)
        text = self.culex("workers", "one")
        [run] = self.ids_of("held")
        for wanted in ("name        one\n", "offers      gpu:2\n", "queues      held\n", "at work     1 of 3 at a time", f"runs        {run}"):
            self.assertIn(wanted, text)
        self.assertEqual(self.lines("workers", "one")[0]["name"], "one")
        self.assertIn("there is no worker two", self.culex("workers", "two", code=1))

    def test_a_deleted_schedule_that_comes_back_says_so(self):
        worker = self.work("--queues", "held")
        self.until(lambda: self.lines("schedules", "held"))
        self.assertIn("1 workers of queue held are alive", self.culex("schedules", "held", "delete", "chime"))
        worker.terminate()
        self.assertEqual(worker.wait(60), 0)
        again = self.work("--queues", "held")
        self.until(lambda: self.lines("schedules", "held"))
        again.terminate()
        self.assertEqual(again.wait(60), 0)
        self.assertEqual(self.lines("schedules", "held", "delete", "chime")[0]["workers_alive"], 0)

    def top(self, *words, width=80, height=24):
        """`culex top` on a terminal of that size: the process and the terminal's other side."""
        ours, its = pty.openpty()
        self.resize(its, width, height)
        begun = subprocess.Popen([CULEX, "top", *words], env=dict(self.env, TERM="xterm"), stdin=its, stdout=its, stderr=its)
        self.addCleanup(begun.wait)
        self.addCleanup(begun.kill)
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, its)
        return begun, ours, its

    def resize(self, terminal, width, height):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def seen(self, ours, pattern):
        """Reads what is shown, without its escapes, until it has the pattern."""
        text, end = "", time.monotonic() + 60
        while not re.search(pattern, text):
            self.assertLess(time.monotonic(), end, text[-4000:])
            self.assertTrue(select.select([ours], [], [], 60)[0], text)
            text = re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>78])", "\n", text + os.read(ours, 65536).decode(errors="replace"))
        return text

    def test_top_is_shown_on_a_terminal_of_any_size(self):
        self.fill()
        top, ours, its = self.top("--interval", "100ms")
        if "built without ncurses" in self.seen(ours, "naps|built without ncurses"):
            self.skipTest("without ncurses")
        for width, height, shown in ((40, 10, "sort n w o d"), (200, 50, "SCHED")):
            self.resize(its, width, height)
            top.send_signal(signal.SIGWINCH)
            self.seen(ours, shown)
        os.write(ours, b"p")
        self.seen(ours, "HELD")
        os.write(ours, b"wod\x1b[B\x1bOAn")
        os.write(ours, b"q")
        self.assertEqual(top.wait(60), 0)

    def test_top_answers_keys_while_the_store_does_not(self):
        if STORE != "redis":
            self.skipTest("an SQLite store answers or fails")
        self.fill()
        top, ours, _ = self.top("--interval", "100ms", "--store-timeout", "1h")
        if "built without ncurses" in self.seen(ours, "naps|built without ncurses"):
            self.skipTest("without ncurses")
        self.server.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.send_signal, signal.SIGCONT)
        self.seen(ours, "SLOW STORE")
        os.write(ours, b"p")
        self.seen(ours, "HELD")
        os.write(ours, b"q")
        self.assertEqual(top.wait(60), 0)

    def test_top_counts_for_how_long_the_store_is_silent(self):
        if STORE != "redis":
            self.skipTest("an SQLite store answers or fails")
        self.fill()
        top, ours, its = self.top("--interval", "100ms", "--store-timeout", "1500ms")
        if "built without ncurses" in self.seen(ours, "naps|built without ncurses"):
            self.skipTest("without ncurses")
        self.server.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.send_signal, signal.SIGCONT)
        text, begin = "", time.monotonic()
        while not re.search("no answer for [3-9]", text):  # another size has it draw all, not what is new alone
            self.assertLess(time.monotonic(), begin + 60, text[-4000:])
            self.resize(its, 100 + int(time.monotonic()) % 2, 24)
            top.send_signal(signal.SIGWINCH)
            text = os.read(ours, 65536).decode(errors="replace") if select.select([ours], [], [], 0.2)[0] else ""
        self.server.send_signal(signal.SIGCONT)
        os.write(ours, b"q")
        self.assertEqual(top.wait(60), 0)

    def test_a_frame_of_top_is_text(self):
        self.fill()
        self.work("--queues", "held")
        self.culex("pause", "naps")
        self.culex("capacity", "naps", "1")
        lines = self.culex("top", "--once").splitlines()
        self.assertRegex(lines[0], r"^culex  2\S+ \S+Z  2 queues, 3 dead  1 worker, 0 runs at work$")
        self.assertEqual([line.split()[0] for line in lines[2:5]], ["QUEUE", "held", "naps"])
        self.assertEqual(lines[4].split()[1:3] + lines[4].split()[4:8], ["p+FULL", "1", "0", "3", "-", "-"])
        self.culex("capacity", "naps", "0")
        self.assertEqual(self.culex("top", "naps", "--once").splitlines()[3].split()[1], "paused")
        self.assertEqual(self.culex("top", "naps", "--once").splitlines()[3].split()[0], "naps")
        self.assertIn("wants a terminal", self.culex("top", code=2))
        self.assertIn("100ms to 1h", self.culex("top", "--interval", "1ms", code=2))
        self.assertIn("did you mean naps?", self.culex("top", "nops", "--once", code=1))

    def test_a_frame_of_top_cuts_no_number(self):
        long_name = "held-" + "long" * 10
        self.fill()
        self.held("enqueue", "draw", "2")
        self.work("--queues", f"held,{long_name}")
        self.culex("pause", "naps")
        frames = {width: self.on_terminal(width, "top", "--once") for width in (12, 20, 24, 33, 40, 47, 55, 64, 80, 100, 110, 150, 200, 300)}
        known = {word for line in frames[300] for word in line.split()}
        for width, lines in frames.items():
            self.assertLessEqual(max(len(line) for line in lines), width)
            for line in lines[2:]:
                cells = [word for word in line.split()[1:] if not word.endswith(("s", "MB"))]
                self.assertLessEqual(set(cells), known, (width, line))
        for width in (24, 40, 80, 110, 300):
            [naps] = [line for line in frames[width] if line.startswith("naps")]
            self.assertEqual(naps.split()[1], "paused")
        self.assertTrue(any(line.startswith("p naps") for line in frames[12]))
        self.assertEqual(frames[40][0], "culex  3 queues, 3 dead  1 worker")
        self.assertTrue(any(line.startswith(long_name + " ") for line in frames[200]))
        heads, *rows = frames[80][2:6]
        [held] = [row for row in rows if row.startswith("held ")]
        self.assertEqual(held[:heads.index("PARKED") + len("PARKED")].split()[-1], "2")

    def test_a_frame_of_an_empty_store_says_what_is_missing(self):
        subprocess.run([NAP, "figures"], env=self.env, capture_output=True, check=False)  # makes it
        first, _, _, third, *_ = self.culex("top", "--once").splitlines()
        self.assertEqual(first, "culex  (no queue)  0 queues, 0 dead  0 workers, 0 runs at work")
        self.assertEqual(third, "the store has no queue: one begins with its first run or worker; are its URL and prefix the right ones?")

    def checked(self, *words, code, env=None):
        done = subprocess.run([CULEX, "check", *words], env=env or self.env, cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (code, ""), (words, done.stdout))
        [line] = done.stdout.splitlines()
        return line

    def test_a_monitor_is_told(self):
        self.fill()
        line = self.checked(code=2)
        self.assertRegex(line, r"^CULEX CRITICAL - naps: 1 runs wait and no worker claims any \| 'naps waiting'=1;;;0 'naps waiting_age'=")
        quiet = ("--no-worker", "ok")
        self.assertRegex(self.checked(*quiet, code=0), r"^CULEX OK - 1 queues are well \|")
        self.assertTrue(self.checked("--no-worker", "warning", code=1).startswith("CULEX WARNING - "))
        for given, code in (("2,10", 1), ("1,2", 2), ("3,4", 0), (",2", 2), ("4:,", 1), ("@1:3,", 1), ("~:2,", 1), ("0:3,5", 0), ("10,20", 0)):
            self.checked("naps", *quiet, "--dead-runs", given, code=code)
        self.assertIn("'naps dead'=3;2;1:10;0", self.checked(*quiet, "--dead-runs", "2,1:10", code=1))
        self.assertIn("'naps waiting_age'=", self.checked(*quiet, "--waiting-age", "1h,1d", code=0))
        self.assertIn("s;3600;86400;0", self.checked(*quiet, "--waiting-age", "1h,1d", code=0))
        self.assertIn("the oldest run waits for", self.checked(*quiet, "--waiting-age", ",0s", code=2))
        self.assertIn("the oldest run waits for", self.checked(*quiet, "--waiting-age", "0,1d", code=1))
        self.checked(*quiet, "--dead-runs", "5,5", code=0)
        self.culex("capacity", "naps", "1")
        self.assertIn("full, as 1 runs are bounded by 1", self.checked(*quiet, code=2))
        self.assertIn("'naps open'=1;;;0;1", self.checked(*quiet, "--full", "warning", code=1))
        self.checked(*quiet, "--full", "ok", code=0)
        told = json.loads(self.checked("--json", code=2))
        self.assertEqual((told["state"], [each["what"] for each in told["problems"]], told["queues"][0]["dead"]),
                         ("CRITICAL", ["no-worker", "full"], 3))

    @unittest.skipUnless(STORE == "sqlite", "where a schedule stands is written by hand")
    def test_a_schedule_without_a_run_has_no_last_one(self):
        """As one by a calendar has none before its first tick."""
        worker = self.work("--queues", "held")
        self.until(lambda: any("newest" in each for each in self.lines("schedules", "held")))
        self.assertRegex(self.culex("schedules", "held").splitlines()[1], r"^chime  20.*  20.*  01")
        worker.terminate()
        worker.wait(60)
        with sqlite3.connect(self.folder / "jobs.db") as writer:
            writer.execute("UPDATE schedule SET newest = zeroblob(16)")
        writer.close()
        self.assertRegex(self.culex("schedules", "held").splitlines()[1], r"^chime  -  +20.*  -$")

    def test_a_monitor_is_told_of_workers_and_late_jobs(self):
        worker = self.work("--queues", "held")
        self.until(lambda: any(each["next_ms"] for each in self.lines("schedules", "held")))
        self.held("enqueue", "draw", "1")
        self.assertIn("'held workers'=1", self.checked("--overdue", "10s,1m", "--unoffered", "ok", code=0))
        self.culex("workers", "quiet", "one")
        self.until(lambda: self.lines("workers")[0]["is_quiet"])
        self.assertIn("no worker claims any", self.checked(code=2))
        self.culex("workers", "go", "one")
        self.assertIn("is overdue by", self.checked("--overdue", "@0:10d,", "--unoffered", "ok", "--no-worker", "ok", code=1))
        worker.terminate()
        worker.wait(60)

    def test_a_monitor_takes_a_good_lease_for_somebody_who_is_there(self):
        self.held("enqueue", "pen", "2")
        self.assertIn("2 runs wait and no worker claims any", self.checked("held", code=2))
        worker = subprocess.Popen([HELD, "--unlisted", "--isolation", "none", "--queues", "held", "--lease", "3s"], env=self.env,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.until(lambda: self.lines("queues")[0]["active"] == 1)
        self.assertRegex(self.checked("held", "--unoffered", "ok", code=0), r"'held waiting'=1;.*'held workers'=0;")
        worker.kill()
        worker.wait()
        self.until(lambda: subprocess.run([CULEX, "check", "held"], env=self.env, capture_output=True, check=False).returncode == 2)
        self.assertIn("1 runs wait and no worker claims any", self.checked("held", code=2))

    def returned(self, queue, run, *times):
        """Has the workers of a queue give a run back for these times, without waiting between them."""
        def is_back(so_often):
            [shown] = self.lines("show", run, "--queue", queue)
            return (shown["state"], shown["attempt"] >= so_often) == ("scheduled", True)
        for so_often in times:
            if so_often > 1:
                self.culex("move", run, "--queue", queue, "--delay", "0s")
            self.until(lambda so_often=so_often: is_back(so_often))

    def test_a_monitor_is_told_of_runs_that_go_back(self):
        self.work("--queues", "held")
        run = self.culex("enqueue", "wink", *self.schema("wink"), "--queue", "held").split()[-1]
        self.returned("held", run, 1, 2)
        self.checked("held", code=0)
        self.returned("held", run, 3)
        self.assertIn("held: 1 runs are given back by workers, as wink, 3 times: no handler is registered for this job |",
                      self.checked("held", code=1))
        [problem] = json.loads(self.checked("--given-back", "critical", "--json", code=2))["problems"]
        self.assertEqual((problem["what"], problem["state"]), ("given-back", "CRITICAL"))
        self.checked("held", "--given-back", "ok", code=0)

    @unittest.skipUnless(VAULT.exists(), "no libsodium")
    def test_a_monitor_is_told_of_a_key_that_workers_lack(self):
        keys = self.vault_keys("one")
        self.vaults(keys)
        run = self.culex("enqueue", "vault.pay", "shop=x", "iban=IT99", "cents=77", "lines=a", *keys).strip()
        self.env["CULEX_KEYS"] = self.vault_keys("two")[1]
        self.work(program=VAULT)
        self.returned("vault.pay", run, 1, 2, 3)
        self.assertIn("as vault.pay, 3 times: not understood: no key: ", self.checked("vault.pay", code=1))

    def test_a_monitor_is_told_of_all_that_is_known(self):
        self.fill()
        quiet = ("--no-worker", "ok")
        line = self.checked("nops", "naps", "naps", *quiet, "--dead-runs", ",2", code=2)
        self.assertRegex(line, r"^CULEX CRITICAL - nops: .*did you mean naps\? .*; naps: 3 dead runs \| ")
        self.assertEqual(line.count("'naps dead'="), 1)
        self.assertNotIn("'nops ", line)
        told = json.loads(self.checked("nops", "naps", *quiet, "--dead-runs", "2,9", "--json", code=1))
        self.assertEqual([(each["queue"], each["what"], each["state"]) for each in told["problems"]],
                         [("nops", "unreadable", "UNKNOWN"), ("naps", "dead-runs", "WARNING")])
        self.assertEqual([each["queue"] for each in told["queues"]], ["naps"])
        self.assertIn("'naps dead'=3", self.checked("naps", "nops", *quiet, code=3))
        self.assertIn("no queue 'nops'", self.checked("nops", code=3))
        self.assertIn("a b", self.checked("naps", "a b", *quiet, code=3))
        self.assertIn("no queue 'nops'", self.told("top", "--once", "naps", "nops", code=1))

    def test_a_monitor_is_told_what_holds_runs_back(self):
        self.fill()
        quiet = ("naps", "--no-worker", "ok")
        self.culex("pause", "naps")
        self.assertIn("naps: paused, and 1 runs wait", self.checked(*quiet, code=1))
        self.assertIn("naps: paused, and 1 runs wait", self.checked(*quiet, "--paused", "critical", code=2))
        self.checked(*quiet, "--paused", "ok", code=0)
        self.culex("cancel", *self.ids("--state", "waiting"))
        self.checked(*quiet, code=0)
        self.held("enqueue", "draw", "2")
        self.work("--queues", "held")
        self.until(lambda: [each["parked"] for each in self.lines("queues") if each["queue"] == "held"] == [2])
        self.assertIn("held: 2 runs wait for what no worker offers: needs gpu:1", self.checked("held", code=1))
        self.assertEqual([each["what"] for each in json.loads(self.checked("held", "--json", "--unoffered", "critical", code=2))["problems"]], ["unoffered"])
        self.checked("held", "--unoffered", "ok", code=0)
        self.work("--queues", "held", "--offer", "gpu=1", name="two")
        self.until(lambda: "waiting'=0" in subprocess.run([CULEX, "check", "held", "--unoffered", "ok"], env=self.env, capture_output=True, text=True, check=False).stdout)
        self.checked("held", code=0)

    def test_a_run_is_late_from_its_date_on(self):
        self.nap("enqueue", "wink", "1")
        self.culex("cancel", *self.ids())
        for words in ([], ["--priority", "3"]):
            self.culex("enqueue", "wink", *self.schema("wink"), "--queue", "naps", "--delay", "3s", *words)
        created = max(run["created_at_ms"] for run in self.lines("runs", "naps", "--state", "scheduled"))
        self.until(lambda: self.lines("queues")[0]["waiting"] == 2)
        told = json.loads(self.checked("naps", "--no-worker", "ok", "--json", code=0))["queues"][0]
        since = [run["at_ms"] for run in self.lines("runs", "naps", "--state", "waiting")]
        self.assertTrue(all(created + 2000 < at <= time.time() * 1000 for at in since), (created, since))
        self.assertLess(told["waiting_age_ms"], time.time() * 1000 - created - 2000)

    def test_a_monitor_that_asks_wrongly_is_told_unknown(self):
        self.fill()
        for words in (["nops"], ["--dead-runs", "x"], ["--dead-runs", ","], ["--dead-runs", "5:1,"], ["--dead-runs", "1h,"], ["--waiting-age", "5x,"],
                      ["--no-worker", "bad"], ["--ful", "ok"], ["--tag", "x"], ["--url", "rdis://x"], ["--timeout"], ["--timeout", "0s"]):
            self.assertTrue(self.checked(*words, code=3).startswith("CULEX UNKNOWN - "), words)
        self.assertIn("--dead-runs: 5 warns of nothing that is not critical by 1; the bound that warns comes first: 1,5",
                      self.checked("--dead-runs", "5,1", code=3))
        for given in ("1:10,2:5", "@2:5,@1:10", "~:10,~:9", "5:,6:", "5:,6:9", "~:,3"):
            self.assertIn("warns of nothing", self.checked("--dead-runs", given, code=3), given)
        for given in ("5", "5,1h", "5m,1", "1:20m", "@5:"):
            self.assertIn("write 5m,1h, with units", self.checked("--waiting-age", given, code=3), given)
        self.assertIn("did you mean naps?", self.checked("nops", code=3))
        self.assertEqual(self.told("pause", "check", code=1)[:7], "culex: ")

    def test_a_store_that_is_away_is_critical(self):
        away = dict(self.env, CULEX_URL=f"redis+unix://{self.folder}/none.sock" if STORE == "redis" else f"sqlite:{self.folder}/none.db")
        self.assertTrue(self.checked(code=2, env=away).startswith("CULEX CRITICAL - "))
        self.assertEqual(json.loads(self.checked("--json", code=2, env=away))["state"], "CRITICAL")
        # One that accepts and never answers.
        with socket.socket() as mute:
            mute.bind(("127.0.0.1", 0))
            mute.listen()
            silent = dict(self.env, CULEX_URL=f"redis://127.0.0.1:{mute.getsockname()[1]}")
            for bound in ("200ms", "1ns"):
                self.assertEqual(self.checked("--timeout", bound, code=2, env=silent), "CULEX CRITICAL - the store did not answer in time")

    def test_the_store_may_take_its_whole_time_to_let_us_in(self):
        self.fill()
        with socket.socket() as mute:
            mute.bind(("127.0.0.1", 0))
            mute.listen()
            url = f"redis://127.0.0.1:{mute.getsockname()[1]}"
            if STORE == "sqlite":
                url = self.env["CULEX_URL"]
                holder = sqlite3.connect(self.folder / "jobs.db")
                self.addCleanup(holder.close)
                holder.execute("PRAGMA locking_mode = EXCLUSIVE")
                holder.execute("BEGIN EXCLUSIVE")
            begin = time.monotonic()
            self.assertNotEqual(self.culex("queues", "--url", url, "--store-timeout", "600ms", code=1), "")
            self.assertGreater(time.monotonic() - begin, 0.55)

    def test_the_store_is_looked_after(self):
        self.fill()
        self.assertEqual(self.lines("fsck"), [{"queue": "naps", "records": 5, "wrong": 0, "damaged": 0, "skipped": 0}])
        [report] = self.lines("doctor", code=1)  # runs wait, and no worker is there
        self.assertEqual(report["worst"], "warning")
        self.assertIn("queue-unserved", [finding["id"] for finding in report["findings"]])
        self.assertIn("queue-unserved", self.culex("doctor", code=1))
        done = {each["job"]: each["done"] for each in self.lines("stats", "naps")}
        self.assertEqual((done["scribe"], done[None]), (1, 1))
        self.assertEqual(self.culex("stats", "naps", "--hours", "2").splitlines()[-1].split()[:3], ["all", "1", "3"])

    def test_messages_have_no_names_of_c(self):
        self.fill()
        self.culex("pause", "naps")
        for words, told in ((["pause", "naps", "--for", "0s"], "--for: a pause lasts 1 ms or more; culex resume ends one"),
                            (["pause", "naps", "--for", "99999d"], "--for: more than 100 years"),
                            (["runs", "naps", "--since", "20000d"], "--since: before 2001"),
                            (["delete", "--queue", "naps", "--before", "1999-01-01", "--yes"], "--before: before 2001"),
                            (["runs", "naps", "--since", "1h", "--before", "2h"], "--since is not before --before"),
                            (["runs", "naps", "--tag", "a,b"], "--tag is no tag that a run can have"),
                            (["runs", "naps", "--tag", "x" * 2000], "--tag is no tag"),
                            (["runs", "naps", "--error", "x" * 9000], "--error has 1 to"),
                            (["runs", "naps", "--job", "x" * 900], "job"),
                            (["limit", "naps", "tell:rate", "0"], "limit"), (["move", self.ids()[0], "--delay", "99999d"], ""),
                            (["move", self.ids()[0], "--priority", "11"], "priority"),
                            (["workers", "concurrency", "5000", "x"], "1 to")):
            text = self.culex(*words, code=2)
            self.assertIn(told, text)
            self.assertNotRegex(text, r"culex_|filter\.|options\.|_ms\b|has_", words)
        for words in (["doctor"], ["doctor", "--json"]):
            text = self.culex(*words, code=1)
            self.assertIn("culex resume", text)
            self.assertNotIn("culex_client_", text)

    def test_mistakes_are_told(self):
        for words, told in ((["qeues"], "did you mean queues?"), (["queues", "--jsn"], "did you mean --json?"), ([], "a command is missing"),
                            (["live", "a", "b"], "that is too much"), (["runs"], "something is missing"),
                            (["runs", "naps", "--state", "ded"], "did you mean dead?"), (["runs", "naps", "--since", "2"], "is no time"),
                            (["runs", "naps", "--since", "2026-02-31"], "is no time"), (["runs", "naps", "--limit", "x"], "is no number"),
                            (["pause", "naps", "--state", "dead"], "does not take --state"), (["queues", "--url"], "wants a value"),
                            (["queues", "--json=1"], "takes no value"), (["queues", "-x"], "options have long names"),
                            (["runs", "a", "--job", "b", "--job", "c"], "given twice"), (["queues", "--url", "rdis://x"], "")):
            self.assertIn(told, self.culex(*words, code=2), words)
        self.assertNotIn("hunter2", self.culex("redis://u:hunter2@h", code=2))
        self.assertNotIn("\x1b", self.culex("\x1b[31m", code=2))
        if STORE == "sqlite":
            for words in (["queues"], ["enqueue", "wink", *self.schema("wink"), "--queue", "naps"]):
                self.assertIn("does not exist; nothing was created: check the path. A worker that starts makes the store", self.culex(*words, code=1))
            self.assertFalse((self.folder / "jobs.db").exists())

    def test_every_command_has_help(self):
        text = self.culex("--help")
        names = [line.split()[0] for line in text.split("commands:\n")[1].split("\n\n")[0].splitlines()]
        self.assertGreater(len(names), 18)
        for name in names:
            self.assertIn(f"usage: culex {name}", self.culex(name, "--help"))
        self.assertRegex(self.culex("--version"), r"^culex \d+\.\d+\.\d+\n$")

    def test_shells_are_told_how_a_line_goes_on(self):
        self.fill()
        [done] = self.ids("--job", "scribe")
        for line, words in ((["pau"], ["pause"]), (["pause", "n"], ["naps"]), (["runs", "naps", "--job", "te"], ["tell"]),
                            (["show", "--queue", "naps", done[:-1]], self.ids()), (["show", "naps", "x"], []),
                            (["limit", "naps", ""], []), (["--url", "sqlite:none.db", "pause", ""], []),
                            (["runs", "--bad", ""], []), (["purge", "naps", "de"], ["dead"]), (["enqueue", "scr"], ["scribe"]), (["schema", "scr"], ["scribe"]),
                            ([*self.schema("tell"), "enqueue", "tell", ""], ["words=", "token="])):
            told = self.culex("complete", *line).split()
            self.assertTrue(set(told) == set(words) or (set(told) <= set(words) and done in told), (line, told))

    def test_texts_of_others_do_no_harm(self):
        self.nap("enqueue", "tell", "red \x1b[31m \u202e turned \x9b \"quoted\"")
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--log-level", "error")
        [dead] = self.ids("--state", "dead")
        self.assertIn('"quoted"', self.lines("show", dead)[0]["error"])
        for shown in (self.culex("show", dead, "--params"), self.culex("show", dead, "--params", "--json")):
            self.assertFalse(set(shown) & set("\x1b\u202e\x9b"), shown)

    def test_output_that_cannot_be_written_is_told(self):
        self.fill()
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([CULEX, "runs", "naps"], env=self.env, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (3, "culex: cannot write the output\n"))

    def test_what_is_printed_goes_to_no_store_where_the_output_is_closed(self):
        self.fill()
        for closed, code in ((">&-", 3), ("<&- >&-", 3), ("<&- >&- 2>&-", 3), ("2>&- >/dev/null", 0), ("<&- >/dev/null", 0)):
            for words in (["queues"], ["runs", "naps", "--json"], ["show", self.ids()[0]]):
                done = subprocess.run(["sh", "-c", f'exec "$0" "$@" {closed}', CULEX, *words], env=self.env, cwd=self.folder, check=False,
                                      capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (code, ""), (closed, words, done.stderr))
                if code == 3 and "2>&-" not in closed:
                    self.assertIn("culex: cannot write the output\n", done.stderr)

    def test_a_run_whose_id_nobody_reads_is_told_of(self):
        self.nap("enqueue", "wink", "1")
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([CULEX, "enqueue", "tell", "words=x", *self.schema("tell")], env=self.env, stdout=writing,
                              stderr=subprocess.PIPE, text=True, check=False)
        os.close(writing)
        [run] = self.ids("--job", "tell")
        self.assertEqual((done.returncode, f"culex: the run is enqueued, in naps: {run}\n" in done.stderr), (3, True), done.stderr)

    def test_a_run_whose_id_cannot_be_written_is_told_of(self):
        self.nap("enqueue", "wink", "1")
        schema = self.schema("tell")
        for words in ([], ["--json"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([CULEX, "enqueue", "tell", "words=x", *schema, *words], env=self.env, stdout=full,
                                      stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 3)
            [run] = re.findall(r"^culex: the run is enqueued, in naps: (\S+)$", done.stderr, re.M)
            self.assertIn(run, self.ids("--job", "tell"))


if STORE == "redis" and shutil.which("redis-server") is None:
    print("skipped: no redis-server")
    sys.exit(77)
unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
