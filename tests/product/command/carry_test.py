"""culex export and import: runs out of one store into another, each once, whatever ends a call.

usage: carry_test.py CULEX NAP HELD STORE [Carry.test_NAME]...
STORE is the kind of the first store; the second one is of the other kind.
"""
import base64
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

CULEX, NAP, HELD = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
STORE = sys.argv[4]
DAY_MS = 24 * 3600 * 1000
# What is another's after it has come, or is not carried.
OWN = ("line", "id", "created_at_ms", "attempt", "failures", "crashes", "losses", "error")


def now_ms():
    return int(time.time() * 1000)


def head(**more):
    return {"line": "export", "version": 1, "exported_at_ms": now_ms(), **more}


def queue(name="naps", **more):
    return {"line": "queue", "queue": name, "is_paused": True, **more}


def run(number, **more):
    return {"line": "run", "id": f"01a20000-0000-7000-8000-{number:012x}", "queue": "naps", "job": "wink",
            "state": "waiting", "attempts_max": 5, "fingerprint": "0123456789abcdef", "keep_success_ms": 60000,
            "keep_failure_ms": 60000, "payload": json.dumps({"length": f"{number}s"}), **more}


def end(runs):
    return {"line": "end", "runs": runs}


def text(*lines):
    return "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)


class Carry(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("CULEX_")}
        urls = [f"sqlite:{self.folder}/one.db", self.redis()]
        self.one, self.two = urls if STORE == "sqlite" else urls[::-1]
        self.three = f"sqlite:{self.folder}/three.db"
        self.env["CULEX_URL"] = self.one

    def redis(self, name="redis.sock", *words):
        place = self.folder / name
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", place, "--save", "",
                                   "--dir", self.folder, *words], stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        self.until(lambda: self.answers(place))
        return f"redis+unix://{place}"

    def answers(self, place):
        with socket.socket(socket.AF_UNIX) as end_of_it:
            return end_of_it.connect_ex(str(place)) == 0

    def until(self, is_so):
        limit = time.monotonic() + 60
        while not is_so():
            self.assertLess(time.monotonic(), limit, "it never comes to that")
            time.sleep(0.005)

    def call(self, *words, code=0, given="", program=CULEX):
        done = subprocess.run([program, *words], env=self.env, cwd=self.folder, input=given, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, code, (words, done.stdout[-2000:], done.stderr[-2000:]))
        return done

    def lines(self, *words, **more):
        return [json.loads(line) for line in self.call(*words, "--json", **more).stdout.splitlines()]

    def refused(self, given, *words, code=2):
        """What is said of a file; and nothing has come."""
        place = self.folder / "file.jsonl"
        place.write_bytes(given if isinstance(given, bytes) else given.encode())
        with place.open("rb") as file:
            done = subprocess.run([CULEX, "import", "--url", self.two, *words], env=self.env, stdin=file,
                                  capture_output=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(self.runs(self.two), [])
        return done.stderr.decode()

    def export(self, url=None, *words):
        return self.call("export", *(["--url", url] if url else []), *words).stdout

    def runs(self, url, *words):
        """The runs of an export, without what is their store's own."""
        if url.startswith("sqlite:") and not pathlib.Path(url[7:]).exists():
            return []
        lines = [json.loads(line) for line in self.export(url, *words).splitlines()]
        runs = [{name: value for name, value in line.items() if name not in OWN}
                for line in lines if line["line"] == "run"]
        return sorted(runs, key=lambda each: (each["queue"], -each["priority"]))

    def count(self, url, state="waiting"):
        done = subprocess.run([CULEX, "queues", "--json", "--url", url], env=self.env, capture_output=True, text=True,
                              check=False)
        return sum(json.loads(line)[state] for line in done.stdout.splitlines())

    def nap(self, *words, program=NAP):
        return self.call(*words, program=program).stdout

    def fill(self):
        """Runs of all kinds, in two queues that are paused."""
        (self.folder / "tell.json").write_text(self.nap("schema", "tell"), encoding="utf-8")
        self.nap("enqueue", "tell", "no route")
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--log-level", "error")
        for words in (["--priority", "7", "--tag", "a,b"], ["--delay", "1h"], []):
            self.call("enqueue", "tell", "words=caf\u00e9 \u202e", "--schema", "tell.json", *words)
        for length in ("11", "12"):
            self.nap("enqueue", "wink", length)
        self.nap("enqueue", "pen", "3", program=HELD)
        self.nap("enqueue", "draw", "2", program=HELD)
        self.call("pause", "naps", "held")

    def test_a_round_through_both_stores_changes_nothing(self):
        self.fill()
        self.call("capacity", "naps", "500")
        self.call("capacity", "naps", "50", "--dead")
        self.call("limit", "held", "pen:concurrency", "3")
        first = self.runs(self.one, "--state", "waiting,scheduled")
        self.assertEqual(len(first), 10)
        self.assertEqual({each["job"] for each in first}, {"tell", "wink", "pen", "draw"})
        self.call("import", "--url", self.two, given=self.export())
        self.assertEqual(self.runs(self.two), first)
        self.call("pause", "naps", "held", "--url", self.two)
        self.call("import", "--url", self.three, "--from", self.two, "--yes")
        self.assertEqual(self.runs(self.three), first)
        for url in (self.two, self.three):
            [held, naps] = self.lines("queues", "--url", url)
            self.assertEqual(naps["capacity"], 500)
            self.assertEqual(naps["dead_capacity"], 50)
            self.assertEqual(held["waiting"], 5)
            [limit] = [each for each in self.lines("limit", "held", "--url", url) if each["limit"] == "pen:concurrency"]
            self.assertEqual((limit["in_force"]["count"], limit["declared"]["count"]), (3, 1))
        self.assertEqual(self.runs(self.one, "--state", "waiting,scheduled"), first)
        self.call("fsck", "--url", self.two)
        self.call("fsck", "--url", self.three)

    def test_what_has_come_is_executed(self):
        self.fill()
        self.call("import", "naps", "--url", self.two, given=self.export(self.one, "--state", "waiting"))
        self.env["CULEX_URL"] = self.two
        self.nap("--drain", "--queues", "naps", "--isolation", "none", "--log-level", "error")
        self.assertEqual((self.count(self.two), self.count(self.two, "done"), self.count(self.two, "dead")), (0, 2, 2))

    def test_bytes_of_any_kind_come_back(self):
        odd = [b"\xff\x00\n{", b"\xc3\x28", "caf\u00e9 \u202e".encode(), b'{"a":"\\u0000"}', b"\x7f" * 70000]
        given = text(head(), queue(), *({**{name: value for name, value in run(at).items() if name != "payload"},
                                         "payload_base64": base64.b64encode(each).decode()}
                                        for at, each in enumerate(odd)), end(len(odd)))
        self.call("import", given=given)
        self.call("pause", "naps")
        self.call("import", "--url", self.two, "--from", self.one, "--yes")
        back = [json.loads(line) for line in self.export(self.two).splitlines()][2:-1]
        self.assertEqual([base64.b64decode(each["payload_base64"]) if "payload_base64" in each
                          else each["payload"].encode() for each in back], odd)
        self.assertEqual(sum("payload" in each for each in back), 1)

    def test_it_comes_once(self):
        given = text(head(), queue(), *map(run, range(450)), run(3), end(451))
        for came, before in ((450, 1), (0, 451)):
            [told] = self.lines("import", "--url", self.two, given=given)
            self.assertEqual((told["came"], told["before"], told["looked"]), (came, before, 451))
        self.assertEqual(self.count(self.two), 450)

    def test_it_goes_on_after_it_was_killed(self):
        """What comes from a pipe is brought as it comes, so each of them is killed at a known place."""
        lines = [json.dumps(line) + "\n" for line in (head(), queue(), *map(run, range(2000)), end(2000))]
        for given, there in ((402, 400), (1002, 1000), (1902, 1800)):
            call = subprocess.Popen([CULEX, "import", "--url", self.two], env=self.env, stdin=subprocess.PIPE,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
            call.stdin.write("".join(lines[:given]))
            call.stdin.flush()
            self.until(lambda: self.count(self.two) >= there)
            call.send_signal(signal.SIGKILL)
            self.assertEqual(call.wait(), -signal.SIGKILL)
            call.stdin.close()
        [told] = self.lines("import", "--url", self.two, given="".join(lines))
        self.assertEqual(told["came"] + told["before"], 2000)
        self.assertGreaterEqual(told["before"], 1800)
        self.assertEqual([each["payload"] for each in self.runs(self.two)], [run(at)["payload"] for at in range(2000)])
        self.call("fsck", "--url", self.two)
        self.call("pause", "naps", "--url", self.two)
        self.call("import", "--url", self.three, "--from", self.two, "--yes")
        self.assertEqual([each["payload"] for each in self.runs(self.three)], [run(at)["payload"] for at in range(2000)])

    def test_a_move_goes_on_after_it_was_killed(self):
        self.call("import", given=text(head(), queue(), *map(run, range(3000)), end(3000)))
        self.call("pause", "naps")
        move = [CULEX, "import", "--url", self.two, "--from", self.one, "--move", "--yes"]
        killed = 0
        for there in (150, 700, 1500):
            call = subprocess.Popen(move, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.until(lambda: self.count(self.two) >= there or call.poll() is not None)
            call.send_signal(signal.SIGKILL)
            killed += call.wait() == -signal.SIGKILL
            left = {each["payload"] for each in self.runs(self.one, "--state", "waiting")}
            here = {each["payload"] for each in self.runs(self.two)}
            self.assertEqual(left | here, {run(at)["payload"] for at in range(3000)}, "one is lost")
        self.assertGreater(killed, 0)
        [told] = self.lines(*move[1:])
        self.assertEqual(told["doubled"] + told["changed"] + told["gone"], 0)
        self.assertEqual(sorted(each["payload"] for each in self.runs(self.two)),
                         sorted(run(at)["payload"] for at in range(3000)))
        self.assertEqual(self.count(self.one), 0)
        self.assertLessEqual(self.count(self.one, "cancelled"), killed)
        self.call("fsck")

    def test_what_is_moved_is_executed_once(self):
        """By a worker that takes the runs as they come, while the moves are killed."""
        each = {"payload": '{"length":"0s"}', "keep_success_ms": DAY_MS}
        self.call("import", given=text(head(), queue(), *(run(at, **each) for at in range(1200)), end(1200)))
        self.call("pause", "naps")
        move = [CULEX, "import", "--url", self.two, "--from", self.one, "--move", "--yes"]
        worker = None
        for there in (100, 500, 800, 0):
            call = subprocess.Popen(move, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.until(lambda: self.came() >= there or call.poll() is not None)
            if there > 0:
                call.send_signal(signal.SIGKILL)
            worker = worker or subprocess.Popen([NAP, "--queues", "naps", "--isolation", "none", "--log-level", "error"],
                                                env={**self.env, "CULEX_URL": self.two}, stdout=subprocess.DEVNULL)
            call.wait()
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.until(lambda: self.count(self.two, "done") == 1200)
        self.assertEqual((self.came(), self.count(self.two), self.count(self.one)), (1200, 0, 0))

    def came(self):
        """Runs that were ever enqueued in the second store."""
        done = subprocess.run([CULEX, "queues", "--json", "--url", self.two], env=self.env, capture_output=True, text=True,
                              check=False)
        return sum(json.loads(line)["totals"]["enqueued"] for line in done.stdout.splitlines())

    def test_moves_at_the_same_time_lose_nothing(self):
        """As a timer begins one while that before it still works."""
        self.call("import", given=text(head(), queue(), *map(run, range(600)), end(600)))
        self.call("pause", "naps")
        move = [CULEX, "import", "--url", self.two, "--from", self.one, "--move", "--yes"]
        calls = [subprocess.Popen(move, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                 for _ in range(3)]
        told = "".join(call.communicate(timeout=120)[1] for call in calls)
        self.assertNotIn("was begun", told)
        self.assertEqual(sorted(each["payload"] for each in self.runs(self.two, "--state", "waiting")),
                         sorted(run(at)["payload"] for at in range(600)))
        self.assertEqual((self.count(self.one), self.count(self.two, "cancelled")), (0, 0))

    def say(self, *words):
        return subprocess.run(["redis-cli", "-s", self.folder / "redis.sock", *words], check=True, capture_output=True,
                              text=True).stdout

    def test_a_run_that_is_begun_during_a_move_is_not_stopped(self):
        """Read, and begun where it comes from before its turn has come: it goes on there, and its copy is withdrawn."""
        source = {**self.env, "CULEX_URL": self.three}
        there = f"redis+unix://{self.folder}/redis.sock"
        subprocess.run([HELD, "enqueue", "pen", "1"], env=source, check=True)
        self.call("pause", "held", "--url", self.three)
        self.say("CLIENT", "PAUSE", "60000", "WRITE")
        move = subprocess.Popen([CULEX, "import", "held", "--url", there, "--from", self.three, "--move", "--yes",
                                 "--store-timeout", "50s"], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True)
        self.addCleanup(move.kill)
        self.until(lambda: " flags=b" in self.say("CLIENT", "LIST"))
        self.call("resume", "held", "--url", self.three)
        worker = subprocess.Popen([HELD, "--queues", "held", "--isolation", "none", "--log-level", "error"], env=source)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.until(lambda: self.count(self.three, "active") == 1)
        self.say("CLIENT", "UNPAUSE")
        told = move.communicate(timeout=60)[1]
        self.assertIn("was begun where it comes from meanwhile; its copy is cancelled", told)
        [run_there] = self.lines("runs", "held", "--url", self.three, "--job", "pen")
        self.assertEqual((run_there["state"], run_there["cancel_requested"]), ("active", False))
        self.assertEqual((self.count(there), self.count(there, "cancelled")), (0, 1))

    def test_a_file_is_kept_from_its_own_store_whatever_is_gone(self):
        self.call("import", given=text(head(), queue(), *map(run, range(5)), end(5)))
        self.call("pause", "naps")
        file = self.export()
        for gone in json.loads(file.splitlines()[2]), json.loads(file.splitlines()[4]):
            self.call("cancel", "--queue", "naps", gone["id"])
            self.call("delete", "--queue", "naps", gone["id"], "--yes")
        self.assertIn("this is the store that the runs come from", self.call("import", given=file, code=2).stderr)
        self.assertEqual(len(self.runs(self.one)), 3)

    def test_what_came_and_was_deleted_here_stays_there(self):
        self.call("import", given=text(head(), queue(), *map(run, range(5)), end(5)))
        self.call("pause", "naps")
        self.call("import", "--url", self.two, "--from", self.one, "--yes")
        [first, *_] = self.lines("runs", "naps", "--url", self.two)
        self.call("cancel", first["id"], "--url", self.two)
        self.call("delete", first["id"], "--url", self.two)
        done = self.call("import", "--url", self.two, "--from", self.one, "--move", "--yes", code=1)
        self.assertIn("1 runs had come before and are gone here", done.stderr)
        [left] = self.lines("runs", "naps")
        self.assertIn(f"{left['id']} had come before, and its copy is gone", done.stderr)
        self.assertEqual((self.count(self.one), self.count(self.two)), (1, 4))

    def test_queues_at_work_are_refused(self):
        self.fill()
        self.call("resume", "naps")
        told = self.export_told()
        self.assertIn("queue naps is not paused", told)
        self.assertNotIn("queue held is not paused", told)
        given = self.export()
        self.assertIn("queue naps was not paused: its workers go on", self.refused(given))
        words = ["import", "--url", self.two, "--from", self.one, "--yes"]
        self.assertIn("queue naps is not paused", self.call(*words, code=2).stderr)
        self.assertIn("queue naps is not paused", self.call(*words, "--move", code=2).stderr)
        self.assertEqual(self.runs(self.two), [])
        self.call("pause", "naps", "--for", "1h")
        self.assertIn("paused for a time alone", self.call(*words, "--move", code=2).stderr)
        self.call("resume", "naps")
        self.assertEqual(self.call(*words, "held").returncode, 0)
        self.call(*words, "--copy")
        self.assertEqual(len(self.runs(self.two)), 10)

    def export_told(self):
        return self.call("export").stderr

    def test_what_is_left_is_told(self):
        self.fill()
        self.nap("batch", "3")
        self.nap("after", "1")
        given = self.export()
        done = self.call("import", "--url", self.two, given=given)
        self.assertIn("queue naps: 1 dead runs are not carried", done.stderr)
        self.assertIn("4 runs are of batches, or others wait for them", done.stderr)
        self.assertIn("still where they come from", done.stderr)
        done = self.call("import", "--url", self.three, "--from", self.one, "--move", "--yes")
        self.assertIn("4 runs are left, for a batch counts them", done.stderr)
        self.assertEqual(self.count(self.one), 4)
        self.assertEqual(self.count(self.one, "dead"), 1)
        self.assertEqual(self.count(self.one, "cancelled"), 0)
        [told] = [each for each in self.lines("import", "--url", self.three, "--from", self.one, "--move", "--yes",
                                              "--state", "dead") if each["queue"] == "naps"]
        self.assertEqual((told["came"], told["removed"], told["left"]["waiting"]), (1, 1, 4))
        self.assertEqual(self.count(self.one, "dead"), 0)

    def test_a_run_goes_on_with_what_is_left_of_it(self):
        later = now_ms() + DAY_MS
        given = text(head(), queue(), run(1, failures=2, crashes=1, attempts_max=5, retry_for_ms=9 * DAY_MS,
                                          expires_at_ms=later),
                     run(2, state="scheduled", at_ms=later, expires_at_ms=later + 5000),
                     run(3, failures=7, attempts_max=5, expires_at_ms=5),
                     run(4, state="dead", failures=5, unique_key="00ab", unique_while=["waiting"],
                         unique_until_ms=later),
                     run(5, unique_key="00cd", unique_while=["waiting"], unique_until_ms=5), end(5))
        self.call("import", "--url", self.two, "--state", "waiting,scheduled,dead", given=given)
        runs = {each["payload"]: each for each in self.runs(self.two)}
        one, two, three, four, five = (runs[run(at)["payload"]] for at in range(1, 6))
        self.assertEqual(one["attempts_max"], 2)
        self.assertAlmostEqual(one["expires_at_ms"], later, delta=30000)
        self.assertAlmostEqual(one["retry_for_ms"], DAY_MS, delta=60000)
        self.assertEqual((two["state"], two["at_ms"], two["expires_at_ms"]), ("scheduled", later, later + 5000))
        self.assertEqual(three["attempts_max"], 1)
        self.assertLessEqual(three["expires_at_ms"], now_ms())
        self.assertEqual((four["state"], four["attempts_max"], four["unique_key"]), ("waiting", 5, "00ab"))
        self.assertAlmostEqual(four["unique_until_ms"], later, delta=30000)
        self.assertNotIn("unique_key", five)

    def test_who_is_in_the_way_is_told(self):
        both = {"unique_key": "00ab", "unique_while": ["waiting"]}
        given = text(head(), queue(), run(1, **both), run(2, **both), run(3), run(3, payload="{}"), run(4, payload=""),
                     end(5))
        done = self.call("import", "--url", self.two, code=1, given=given)
        for words in ("1 runs have not come: other runs have their unique keys", "others have come under their ids",
                      "params cannot be read"):
            self.assertIn(words, done.stderr)
        self.assertEqual(self.count(self.two), 2)
        self.call("capacity", "naps", "3", "--url", self.two)
        given = text(head(), queue(), *map(run, range(10, 15)), end(5))
        done = self.call("import", "--url", self.two, code=1, given=given)
        self.assertIn("is full", done.stderr)
        self.assertEqual(self.count(self.two), 3)
        self.call("capacity", "naps", "0", "--url", self.two)
        self.call("import", "--url", self.two, given=given)
        self.assertEqual(self.count(self.two), 7)

    def test_the_same_store_is_refused(self):
        self.fill()
        for words, given in ((["--from", self.one, "--yes"], ""), ([], self.export())):
            done = self.call("import", "--url", self.one, *words, code=2, given=given)
            self.assertIn("this is the store that the runs come from", done.stderr)
        self.assertEqual(len(self.runs(self.one, "--state", "waiting,scheduled")), 10)

    def test_nothing_is_done_when_it_is_only_asked_for(self):
        self.fill()
        given = self.export()
        for words, data in ((["--from", self.one], ""), (["--from", self.one, "--move"], ""), ([], given)):
            told = self.lines("import", "--url", self.three, "--dry-run", *words, given=data)
            self.assertEqual([(each["queue"], each["wanted"], each["came"], each["dry_run"]) for each in told],
                             [("held", 5, 0, True), ("naps", 5, 0, True)])
        self.assertFalse((self.folder / "three.db").exists())
        self.assertEqual(self.export().splitlines()[1:], given.splitlines()[1:])
        words = ["import", "--url", self.three, "--from", self.one]
        self.assertIn("copy 10 runs of 2 queues? Nobody is there to ask: say --yes", self.call(*words, code=2).stderr)
        self.assertIn("copy 5 runs of 1 queues?", self.call(*words, "n?p*", code=2).stderr)
        self.assertIn("move 10 runs", self.call(*words, "--move", code=2).stderr)
        self.assertEqual(self.runs(self.three), [])

    def test_lines_that_are_none_are_refused_with_their_place(self):
        def with_line(line, number=4):
            told = self.refused(text(head(), queue(), run(1), line, end(2)))
            self.assertIn(f"line {number}: ", told)
            return told

        deep = "[" * 100000
        for line, words in (
                ("", "it is no line of an export"), ("{}", "it is no line of an export"),
                ("null", "it is no line of an export"), (deep, "it is no line of an export"),
                ('{"line":"run",' + '"x":' + deep, "breaks off"), ("\0", "it is no line of an export"),
                ('{"line":"rum"}', "it is no line of an export"), ('{"line":"run"', "it is no line of an export"),
                (json.dumps(run(2))[:-1], "breaks off"), ({**run(2), "x": [1]}, "no member x"),
                ({**run(2), "priorty": 1}, "no member priorty; did you mean priority?"),
                ({**run(2), "priority": 10}, "priority is to be 0 to 9"),
                ({**run(2), "priority": "1"}, "priority is to be 0 to 9"),
                ({**run(2), "attempts_max": -1}, "attempts_max is to be a whole number"),
                ({**run(2), "attempts_max": 1 << 32}, "attempts_max is to be a whole number"),
                ({**run(2), "expires_at_ms": 1 << 63}, "expires_at_ms is to be"),
                ({**run(2), "expires_at_ms": 1.5}, "expires_at_ms is to be"),
                ({**run(2), "id": "7"}, "id is to be the id of a run"),
                ({**run(2), "state": "wating"}, "state is to be scheduled, waiting"),
                ({**run(2), "fingerprint": "12"}, "16 hex digits"),
                ({**run(2), "tags": ["a,b"]}, "tags is to be a list"),
                ({**run(2), "tags": "a"}, "tags is to be a list"),
                ({**run(2), "limits": [{"kind": "rat", "name": "n"}]}, "limits: kind is to be"),
                ({**run(2), "limits": [{"kind": "rate"}]}, "limits: name is missing"),
                ({**run(2), "limits": [{"kind": "rate", "name": "n"}] * 10}, "at most 9 limits"),
                ({**run(2), "payload": "a\0b"}, "payload is to be"),
                ({**run(2), "payload_base64": "QQ=="}, "payload_base64 is to be"),
                (json.dumps(run(2)).replace('"waiting"', '"waiting", "state": "dead"'), "state is there twice"),
                (json.dumps(run(2)).replace('"wink"', '"\udcff"', 1).encode("utf-8", "surrogateescape"), "job is to be"),
                (json.dumps(run(2)).replace('"wink"', '"\\ud800"', 1), "job is to be"),
                (json.dumps(run(2)).replace('"wink"', '"wi\tnk"', 1), "job is to be"),
                ({**run(2), "queue": "mail"}, "it is of queue mail, whose line does not stand before it"),
                ({**run(2), "queue": "n" * 65}, "at most 64 letters"),
                (head(), "it begins another export"),
                (end(1), "line 5: it stands behind the end"),
                (end(7), "7 runs are to stand before it, and 1 do"),
                ("{" + "x" * (10 << 20), "it is longer than 8 MiB")):
            with self.subTest(str(line)[:60]):
                if isinstance(line, bytes):
                    given = text(head(), queue(), run(1)).encode() + line + b"\n" + text(end(2)).encode()
                    self.assertIn(words, self.refused(given))
                elif "line 5" in words:
                    self.assertIn(words, with_line(line, 5))
                else:
                    self.assertIn(words, with_line(line))
        for name in ("id", "job", "state", "attempts_max", "fingerprint", "keep_success_ms"):
            self.assertIn(f"{name} is missing", with_line({at: value for at, value in run(2).items() if at != name}))

    def test_files_that_are_none_are_refused(self):
        whole = text(head(), queue(), run(1), run(2), end(2))
        self.assertIn("line 1: the file breaks off before it: it has no end", self.refused(""))
        self.assertIn("line 1: it is no export", self.refused(text(queue(), run(1), end(1))))
        self.assertIn("version 2, and culex", self.refused(whole.replace('"version": 1', '"version": 2')))
        self.assertIn("line 5: the file breaks off before it", self.refused(text(*whole.splitlines()[:-1])))
        for cut in (2, 30, 200):
            self.assertIn("breaks off in it", self.refused(whole[:-len(json.dumps(end(2))) - 1 - cut]))
        old = whole.replace(str(json.loads(whole.splitlines()[0])["exported_at_ms"]), str(now_ms() - 30 * DAY_MS))
        self.assertIn("older than 29 days", self.refused(old))
        self.call("import", "--url", self.two, "--old", given=old)
        self.assertEqual(self.count(self.two), 2)

    def test_a_file_is_read_to_its_end_before_the_first_run_comes(self):
        """Of a pipe that cannot be: it says how far it came, and goes on when it is mended."""
        lines = text(head(), queue(), *map(run, range(500)), "{", end(501))
        place = self.folder / "file.jsonl"
        place.write_text(lines, encoding="utf-8")
        for words in ([CULEX, "import", "--url", self.two], ["sh", "-c", f"cat {place} | '{CULEX}' import --url {self.two}"]):
            with place.open(encoding="utf-8") as file:
                done = subprocess.run(words, env=self.env, stdin=file, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("line 503: ", done.stderr)
            self.assertEqual(self.count(self.two), 400 if words[0] == "sh" else 0)
            self.assertEqual("400" in done.stdout, words[0] == "sh")
        place.write_text(text(head(), queue(), *map(run, range(500)), end(500)), encoding="utf-8")
        with place.open(encoding="utf-8") as file:
            done = subprocess.run([CULEX, "import", "--json", "--url", self.two], env=self.env, stdin=file,
                                  capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        self.assertEqual((told["came"], told["before"]), (100, 400))

    def shown(self, *words, until="$^", meanwhile=None):
        """What a command on a terminal has shown until its end, and its status."""
        ours, its = pty.openpty()
        with subprocess.Popen([CULEX, *words], env=self.env, stdin=its, stdout=its, stderr=its) as begun:
            os.close(its)
            shown, is_told = "", False
            while True:
                try:
                    shown += os.read(ours, 4096).decode()
                except OSError:
                    break
                if not is_told and re.search(until, shown):
                    is_told = True
                    meanwhile(begun, ours)
            begun.wait(60)
        os.close(ours)
        return shown, begun.returncode

    def test_on_a_terminal_it_asks_and_shows_how_far_it_is(self):
        self.call("import", given=text(head(), queue(), *map(run, range(3000)), end(3000)))
        self.call("pause", "naps")
        for words, told in ((["export"], "params may be secret, and this is a terminal"),
                            (["import", "--url", self.two], "is read from standard input")):
            shown, code = self.shown(*words)
            self.assertEqual(code, 2)
            self.assertIn(told, shown)
        move = ["import", "--url", self.two, "--from", self.one, "--move"]
        shown, code = self.shown(*move, until="move 3000 runs of 1 queues",
                                 meanwhile=lambda _, ours: os.write(ours, b"n\n"))
        self.assertEqual((code, self.runs(self.two)), (1, []), shown)
        shown, code = self.shown(*move, "--yes", until="[0-9]+ of 3000",
                                 meanwhile=lambda begun, _: begun.send_signal(signal.SIGINT))
        self.assertEqual(code, 1)
        self.assertIn("interrupted: run it again to go on", shown)
        there, here = self.count(self.one), self.count(self.two)
        self.assertEqual(there + here, 3000)
        self.assertNotIn(0, (there, here))
        shown, code = self.shown(*move, until="move [0-9]+ runs", meanwhile=lambda _, ours: os.write(ours, b"y\n"))
        self.assertEqual((code, self.count(self.one), self.count(self.two)), (0, 0, 3000), shown)

    def test_a_shell_completes_it(self):
        self.fill()
        for words, offered in ((["export", ""], ["held", "naps"]), (["import", "--from", ""], []),
                               (["import", "--f"], ["--from", "--from-file"]), (["imp"], ["import"]),
                               (["import", "--state", "de"], ["dead"])):
            self.assertEqual(self.call("complete", *words).stdout.split(), offered)
        for command in ("export", "import"):
            told = self.call(command, "--help").stdout
            self.assertIn(f"usage: culex {command} [OPTION...] [QUEUE...]", told)

    def test_words_that_make_no_sense_are_refused(self):
        self.fill()
        for words, told in ((["import", "--move"], "out of which store?"),
                            (["import", "--from", self.one, "--from-file", "f"], "one of them"),
                            (["import", "--from", self.one, "--move", "--copy"], "one of them"),
                            (["import", "--from", self.one, "--old"], "about a file"),
                            (["import", "--state", "done"], "waiting, scheduled and dead"),
                            (["import", "--from", "sqlite:none.db"], "--from: "),
                            (["import", "--from", self.one, "nops"], "did you mean naps?"),
                            (["export", "nops"], "did you mean naps?")):
            done = subprocess.run([CULEX, *words, *(["--url", self.two] if words[0] == "import" else [])], env=self.env,
                                  cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(told, done.stderr)
        self.assertEqual(self.runs(self.two), [])
        secret = self.folder / "url"
        secret.write_text(self.one + "\n", encoding="utf-8")
        secret.chmod(0o600)
        self.call("import", "--url", self.two, "--from-file", secret, "--yes")
        self.assertEqual(len(self.runs(self.two)), 10)

    def test_an_export_tells_no_password(self):
        place = self.redis("guarded.sock", "--requirepass", "hush").replace("unix://", "unix://:hush@") + "?prefix=shop"
        self.call("import", "--url", place, given=text(head(), queue(), run(1), end(1)))
        done = self.call("export", "--url", place)
        self.assertEqual(json.loads(done.stdout.splitlines()[0])["store"], f"redis+unix://{self.folder}/guarded.sock")
        self.assertNotIn("hush", done.stdout + done.stderr)
        self.fill()
        self.assertEqual(json.loads(self.export().splitlines()[0])["store"], self.one)

    def test_an_output_that_is_full_is_told(self):
        self.fill()
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([CULEX, "export"], env=self.env, stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertNotEqual(done.returncode, 0)


if shutil.which("redis-server") is None:
    print("skipped: no redis-server")
    sys.exit(77)
unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
