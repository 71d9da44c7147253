"""culex console over HTTP, on a real store: each path, good and bad; who may what; bounds; a store that is away.

usage: console_test.py CULEX-CONSOLE CULEX NAP HELD STORE [Class.test_NAME]...
"""
import concurrent.futures
import contextlib

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "process"))
import metrics_check
from served import CONSOLE, CULEX, HELD, NAP, STORE, Served

NOBODY = "01a22d7f-4f59-7826-b394-100000000fff"


def example_workers(scratch):
    """What starts each example that this machine has a program for; its handler fails for "bad", at length, and
    waits for the file `go` with "slow"."""
    go = scratch / "go"
    folder = pathlib.Path(__file__).resolve().parents[3] / "examples" / "http"
    for name, line, more in (("worker.py", 'print(job, params["words"], flush=True)',
                              '\n    if params["words"] == "bad":\n        raise ValueError("bad luck" + "\\U0001f600" * 30000)'
                              f'\n    while params["words"] == "slow" and not os.path.exists("{go}"):\n        time.sleep(0.02)'),
                             ("worker.mjs", "console.log(job, params.words);",
                              ' if (params.words === "bad") throw new Error("bad luck" + "\\u{1f600}".repeat(30000));'
                              f' const fs = await import("node:fs"); while (params.words === "slow" && !fs.existsSync("{go}"))'
                              ' await new Promise((resolve) => setTimeout(resolve, 20));')):
        text = (folder / name).read_text()
        assert line in text, name
        (scratch / name).write_text(text.replace(line, line + more))
    fails = "{ yes \"bad luck $(printf '\\033')\" | head -c 40000 >&2; exit 1; }"
    workers = {"sh": ["sh", folder / "worker.sh", "naps", f"words=$(jq -r .words); [ $words != slow ] || until [ -e {go} ]; do sleep 0.02; done; "
                      "printf '%s\\n' $words | grep -v bad || " + fails],
               "python": [sys.executable, scratch / "worker.py", "naps"], "node": ["node", scratch / "worker.mjs", "naps"]}
    tried = {name: words for name, words in workers.items() if shutil.which(words[0]) and (name != "sh" or shutil.which("jq"))}
    if len(tried) < len(workers):
        print("not tried:", *(workers.keys() - tried.keys()))
    return tried


class Reading(Served):
    def held(self, *options):
        """A worker that the server lists, and whose jobs it knows."""
        worker = subprocess.Popen([HELD, "--name", "one", "--isolation", "none", *options], env=self.env,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.until(lambda: self.get("/workers")["workers"])
        self.until(lambda: len(self.get("/schemas?queue=held")["schemas"]) == 4)
        return worker

    def test_queues(self):
        self.fill()
        self.serve()
        [queue] = self.get("/queues")["queues"]
        self.assertEqual([queue[name] for name in ("queue", "waiting", "dead", "done", "paused", "workers")],
                         ["naps", 1, 3, 1, False, 0])
        self.assertGreaterEqual(queue["oldest_waiting_ms"], 0)
        self.assertEqual(self.get("/queues/naps")["totals"]["enqueued"], 5)
        self.refused(self.get("/queues/nops", 404), "not_found", None, "did you mean naps?")
        paused = self.post("/queues/naps/pause")
        self.assertEqual((paused["paused"], paused["paused_until_ms"]), (True, 0))
        paused = self.post("/queues/naps/pause", {"for": "5m"})
        self.assertAlmostEqual(paused["paused_until_ms"] - paused["now_ms"], 300000, delta=5000)
        self.assertFalse(self.post("/queues/naps/resume", {})["paused"])
        self.refused(self.post("/queues/naps/pause", {"for": "5"}, 400), "invalid", "for", "1h30m")
        self.refused(self.post("/queues/naps/pause", {"fore": "5m"}, 400), "invalid", "fore", "did you mean for?")
        self.refused(self.post("/queues/naps/resume", {"for": "5m"}, 400), "invalid", "for")
        self.refused(self.post("/queues/naps/pause", "{", 400), "invalid")
        self.refused(self.post("/queues/nops/pause", None, 404), "not_found")

    def test_runs_page_by_page(self):
        self.fill()
        self.serve()
        self.held().kill()
        for number in range(25):
            self.post("/jobs/held/pen" if number < 5 else "/jobs/naps/wink", None, 201)
        seen, cursor = [], ""
        for _ in range(40):
            page = self.get(f"/runs?limit=4{cursor}")
            seen += page["runs"]
            if "next_cursor" not in page:
                break
            cursor = "&cursor=" + page["next_cursor"]
        self.assertEqual(len({run["id"] for run in seen if run["job"] != "chime"}), 30)
        self.assertEqual({run["queue"] for run in seen}, {"naps", "held"})
        self.assertEqual(len(self.get("/runs?state=dead,done&queue=naps")["runs"]), 4)
        self.assertEqual(len(self.get("/runs?queue=naps&error=no%20route")["runs"]), 2)
        self.assertEqual(len(self.get("/runs?job=pen")["runs"]), 5)
        self.assertEqual(self.get("/runs?before=1h")["runs"], [])
        first = self.get("/runs?queue=naps&limit=2")
        other = self.get("/runs?queue=naps&limit=2&state=dead&cursor=" + first["next_cursor"], 400)
        self.refused(other, "invalid", "cursor", "stale")
        self.stop()
        self.serve()
        stale = self.get("/runs?queue=naps&limit=2&cursor=" + first["next_cursor"], 400)
        self.refused(stale, "invalid", "cursor", "stale", "begin without it")

    def kit(self):
        """A queue with a schema of kit.all, and two runs of that, which wait for their hour."""
        worker = subprocess.Popen([HELD, "--queues", "kit", "--isolation", "none"], env=self.env, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.until(lambda: "kit.all" in {schema["job"] for schema in self.get("/schemas?queue=kit")["schemas"]})
        params = {"to": "x", "blob": "AP8="}
        for _ in range(2):
            self.post("/jobs/kit/kit.all", {"params": params, "delay": "1h"}, 201)

    def test_a_job_is_meant_by_the_end_of_its_name(self):
        self.fill()
        self.serve()
        self.kit()
        for question in ("queue=kit&job=all", "job=all", "queue=kit&job=kit.all"):
            self.assertEqual([run["job"] for run in self.get("/runs?" + question)["runs"]], ["kit.all"] * 2)
        self.assertEqual(self.get("/runs?queue=kit&job=all&state=dead"), {"runs": []})
        self.refused(self.get("/runs?queue=kit&job=kit.al", 400), "invalid", "job", "did you mean kit.all?")
        self.refused(self.get("/runs?job=elephant", 400), "invalid", "job", "no queue has a job elephant")
        self.assertEqual(len(self.get("/runs?queue=naps&job=tell")["runs"]), 3)
        cancel = {"action": "cancel", "job": "all", "states": "scheduled"}
        self.refused(self.post("/queues/kit/bulk", {**cancel, "job": "alk"}, 400), "invalid", "job", "did you mean kit.all?")
        self.refused(self.post("/queues/kit/bulk", {**cancel, "job": "al", "limit": 1}, 400), "invalid", "job")
        self.assertEqual(self.post("/queues/kit/bulk", cancel), {"looked": 2, "matched": 2, "done": 2, "skipped": 0})

    def test_the_name_itself_is_meant_before_the_end_of_another(self):
        self.nap("enqueue", "wink", "1")
        self.serve()
        self.kit()
        carried = subprocess.run([CULEX, "export", "kit"], env=self.env, capture_output=True, text=True, check=True).stdout
        for action, states in (("cancel", "scheduled"), ("delete", "cancelled")):
            self.post("/queues/kit/bulk", {"action": action, "states": states})
        carried = carried.replace('"kit.all"', '"all"').replace(self.env["CULEX_URL"], "another")
        subprocess.run([CULEX, "import", "kit", "--copy", "--yes"], env=self.env, input=carried, text=True, check=True,
                       stdout=subprocess.DEVNULL)
        self.post("/jobs/kit/kit.all", {"params": {"to": "x", "blob": "AP8="}, "delay": "1h"}, 201)
        self.assertEqual([run["job"] for run in self.get("/runs?queue=kit&job=all")["runs"]], ["all", "all"])
        self.assertEqual(self.post("/queues/kit/bulk", {"action": "cancel", "job": "all"})["done"], 2)
        self.assertEqual([run["job"] for run in self.get("/runs?queue=kit&state=scheduled")["runs"]], ["kit.all"])

    def test_a_nul_cuts_nothing_off(self):
        self.fill()
        self.serve()
        self.refused(self.get("/queues/naps%00zz", 400), "invalid", "queue", "naps%00zz")
        self.refused(self.post("/queues/naps/resume%00/x", None, 404), "no_such_path")
        self.refused(self.get("/runs?queue=naps%00zz", 400), "invalid", "queue", "naps%00zz")
        self.assertEqual(self.get("/runs?queue=naps&state=dead&error=no%20route%00zz"), {"runs": []})
        self.assertEqual(len(self.get("/runs?queue=naps&state=dead&error=%6eo%20route")["runs"]), 2)
        self.assertEqual(len(self.get("/runs?queue=naps&state=dead&error=no+route")["runs"]), 2)

    def test_dead_runs_the_newest_first(self):
        for text in ("no route", "disk full", "no answer"):
            self.nap("enqueue", "tell", text, "hush")
            self.drain()
        self.serve()
        asked = "/runs?queue=naps&state=dead"
        oldest = [run["id"] for run in self.get(asked)["runs"]]
        ends = {run["id"]: run["at_ms"] for run in self.get(asked)["runs"]}
        self.assertEqual(len(set(ends.values())), 3)
        newest, cursor = [], ""
        for _ in range(10):
            page = self.get(f"{asked}&order=newest&limit=1{cursor}")
            newest += [run["id"] for run in page["runs"]]
            if "next_cursor" not in page:
                break
            cursor = "&cursor=" + page["next_cursor"]
        self.assertEqual(newest, sorted(oldest, key=lambda id: -ends[id]))
        self.assertEqual(self.get(f"/runs/naps/{newest[0]}")["error"], "no answer")
        self.assertEqual([run["id"] for run in self.get("/runs?state=dead&order=newest")["runs"]], newest)
        first = self.get(f"{asked}&order=newest&limit=1")
        self.refused(self.get(f"{asked}&limit=1&cursor=" + first["next_cursor"], 400), "invalid", "cursor", "stale")
        self.assertEqual(self.get("/runs?state=cancelled&order=newest")["runs"], [])

    def test_bad_questions(self):
        self.fill()
        self.serve()
        for question, param, part in (("stat=dead", "stat", "did you mean state?"), ("state=ded", "state", "dead"),
                                      ("limit=0", "limit", "1 to 1000"), ("limit=x", "limit", "no number"),
                                      ("since=never", "since", "2h"), ("cursor=x", "cursor", "next_cursor"),
                                      ("cursor=" + "0" * 300, "cursor", "next_cursor"), ("queue=" + "q" * 65, "queue", "64"),
                                      ("since=1h&before=2h", "since", "is not before before"), ("order=oldest", "order", "newest is one"),
                                      ("order=newest", "order", "state=dead"), ("order=newest&state=done", "order", "state=dead"),
                                      ("order=newest&state=dead,cancelled", "order", "state=dead")):
            self.refused(self.get("/runs?" + question, 400), "invalid", param, part)
        for path in ("runs", "tags", "limits", "schedules", "schemas", "live"):
            for queue, part in (("", "needs a name"), ("q" * 65, "64"), ("a%20b", "a b")):
                self.refused(self.get(f"/{path}?queue={queue}", 400), "invalid", "queue", part)
        self.refused(self.get("/runs?queue=nops", 404), "not_found", None, "naps")
        self.refused(self.get("/nothing", 404), "no_such_path")
        self.refused(self.get("/runs/naps", 404), "no_such_path")
        self.refused(self.get("/runs/naps/5", 400), "invalid", "id")
        self.refused(self.get("/runs/naps/" + NOBODY, 404), "not_found")
        self.refused(self.get(f"/runs/naps/{NOBODY}/wait?timeout=0s", 404), "not_found")
        self.refused(self.get(f"/runs/naps/{NOBODY}/wait?timeout=2m", 400), "invalid", "timeout", "60s")
        status, headers, value = self.send("PUT", "/api/v1/runs")
        self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"))
        self.refused(value, "method")
        status, headers, _ = self.send("GET", "/api/v1/jobs/naps/tell")
        self.assertEqual((status, headers["Allow"]), (405, "POST"))

    def test_a_run_without_its_secrets(self):
        self.fill()
        self.serve()
        [done] = self.get("/runs?state=done")["runs"]
        self.assertEqual(len(self.get(f"/runs/naps/{done['id']}")["log"]), 5)
        [dead] = self.get("/runs?error=disk")["runs"]
        run = self.get(f"/runs/naps/{dead['id']}")
        self.assertEqual((run["param_values"], run["params_hidden"]), ({"words": "disk full"}, ["token"]))
        self.assertEqual((run["error"], run["attempt"]), ("disk full", 1))
        self.assertNotIn("hush", json.dumps(run))
        shown = subprocess.run([CULEX, "show", dead["id"], "--json"], env=self.env, capture_output=True, text=True,
                               check=True).stdout
        self.assertEqual(json.loads(shown), run)

    def test_runs_of_each_version_are_counted(self):
        self.fill()
        self.serve()
        told = subprocess.run([CULEX, "live", "naps", "--ended", "--json"], env=self.env, capture_output=True, text=True, check=True)
        rows = [json.loads(line) for line in told.stdout.splitlines()]
        self.assertGreater(sum(row["runs"] for row in rows), 0)
        self.assertEqual(self.get("/live?queue=naps"), {"schemas": rows})
        self.refused(self.get("/live", 400), "invalid", "queue")
        self.refused(self.get("/live?queue=nops", 404), "not_found")
        self.assertEqual(self.get("/live?queue=naps"), {"schemas": rows})

    @unittest.skipUnless(STORE == "redis", "in SQLite a queue's name comes with the queue")
    def test_a_name_without_a_queue_hides_none_of_the_others(self):
        self.fill()
        self.serve()
        subprocess.run(["redis-cli", "-s", self.folder / "redis.sock", "sadd", "culex:queues", "ghost"], check=True, capture_output=True)
        for path in ("queues", "runs", "schedules", "limits", "schemas"):
            self.assertIn("naps", json.dumps(self.get("/" + path)), path)
        self.get("/tags")

    @unittest.skipUnless(STORE == "redis", "whoever reads an SQLite store waits for nobody")
    def test_one_counts_at_a_time(self):
        self.fill()
        self.serve()
        self.get("/live?queue=naps")
        os.kill(self.server.pid, signal.SIGSTOP)
        threads = concurrent.futures.ThreadPoolExecutor(2)
        both = [threads.submit(self.send, "GET", "/api/v1/live?queue=naps") for _ in range(2)]
        [quick] = concurrent.futures.wait(both, return_when=concurrent.futures.FIRST_COMPLETED).done
        os.kill(self.server.pid, signal.SIGCONT)
        status, headers, value = quick.result()
        self.assertEqual((status, headers["Retry-After"]), (503, "5"))
        self.refused(value, "busy", None, "somebody else")
        self.assertNotIn("store", value["error"]["hint"])
        self.assertEqual({each.result()[0] for each in both} - {503}, {200})
        self.assertEqual(self.send("GET", "/api/v1/live?queue=naps")[0], 200)

    def test_lists(self):
        self.fill()
        self.serve()
        self.held()
        self.assertEqual(self.get("/workers")["workers"][0]["name"], "one")
        self.until(lambda: any(queue["schedules"] for queue in self.get("/schedules")["queues"]))
        self.assertEqual([each["schedule"] for each in self.get("/schedules?queue=held")["queues"][0]["schedules"]],
                         ["chime"])
        self.assertIn("tell", [each["job"] for each in self.get("/schemas?queue=naps")["schemas"]])
        text = self.get("/schemas/naps/tell")
        self.assertIn("words", json.dumps(text))
        [its] = [each for each in self.get("/schemas")["schemas"] if each["job"] == "tell"]
        self.assertEqual(self.get("/schemas/naps/tell?fingerprint=" + its["fingerprint"]), text)
        self.refused(self.get("/schemas/naps/tell?fingerprint=12", 400), "invalid", "fingerprint")
        self.refused(self.get("/schemas/naps/nothing", 404), "not_found")
        self.refused(self.get("/schedules?queue=nops", 404), "not_found")
        self.assertEqual(self.get("/health")["status"], "ok")

    def test_figures(self):
        self.fill()
        self.serve()
        self.until(lambda: self.get("/queues/naps/figures")["all"]["failed"] == 3)
        figures = self.get("/queues/naps/figures")
        self.assertEqual([figures[name] for name in ("queue", "hours")], ["naps", 2])
        self.assertEqual([figures["all"][name] for name in ("job", "done", "failed", "crashed", "lost", "dead", "cancelled")],
                         [None, 1, 3, 0, 0, 3, 0])
        jobs = {each["job"]: each for each in figures["jobs"]}
        self.assertEqual({job: (each["done"], each["dead"]) for job, each in jobs.items()}, {"scribe": (1, 0), "tell": (0, 3)})
        for spread in (figures["all"]["wait"], figures["all"]["run"], jobs["tell"]["run"]):
            self.assertGreater(spread["count"], 0)
            self.assertLessEqual(spread["p50_us"], spread["p90_us"])
            self.assertLessEqual(spread["p99_us"], spread["max_us"])
            self.assertEqual(sum(bucket["count"] for bucket in spread["buckets"]), spread["count"])
            self.assertEqual(spread["buckets"][-1]["upto_us"], spread["max_us"])
            self.assertEqual(spread["buckets"], sorted(spread["buckets"], key=lambda bucket: bucket["upto_us"]))
        shown = subprocess.run([CULEX, "stats", "naps", "--hours", "48", "--json"], env=self.env, capture_output=True,
                               text=True, check=True).stdout.splitlines()
        longer = self.get("/queues/naps/figures?hours=48")
        self.assertEqual([json.loads(line) for line in shown], [*longer["jobs"], longer["all"]])
        for hours in ("0", "49", "x", "-1", ""):
            self.refused(self.get(f"/queues/naps/figures?hours={hours}", 400), "invalid", "hours")
        self.refused(self.get("/queues/nops/figures", 404), "not_found", None, "did you mean naps?")

    def test_a_batch(self):
        self.nap("enqueue", "wink", "1")
        self.drain()
        self.serve()
        self.nap("batch", "3")
        one, *_ = self.get("/runs?job=wink&state=waiting")["runs"]
        self.post(f"/runs/naps/{one['id']}/cancel")
        self.drain()
        [clap] = self.get("/runs?queue=claps")["runs"]  # a callback, which has the batch's name
        shown = subprocess.run([CULEX, "show", f"claps/{clap['id']}", "--params", "--json"], env=self.env,
                               capture_output=True, text=True, check=True).stdout
        name = re.search(r"naps/[0-9a-f-]{36}", shown)[0]
        self.assertEqual(self.get(f"/batches/{name}"),
                         {"queue": "naps", "id": name.split("/")[1], "added": 3, "done": 2, "dead": 0, "cancelled": 1,
                          "open": 0, "is_closed": True, "is_ended": True, "is_expired": False})
        self.refused(self.get(f"/batches/naps/{NOBODY}", 404), "not_found")
        self.refused(self.get(f"/batches/nops/{NOBODY}", 404), "not_found")
        for bad in ("naps/5", "naps/" + "x" * 255, "n%20ps/" + NOBODY, "q" * 65 + "/" + NOBODY):
            self.refused(self.get(f"/batches/{bad}", 400), "invalid", "id")

    def test_limits(self):
        """What a schema that is told to the store declares: a rate that counts by a param."""
        self.nap("enqueue", "wink", "1")
        self.serve()
        self.assertEqual(self.get("/limits"), {"queues": [{"queue": "naps", "limits": []}]})
        schema = self.folder / "tell.json"
        limits = [{"kind": "rate", "name": "tell:rate", "count": 1, "per_ms": 3600000, "burst": 1, "by": ["words"]}]
        schema.write_text(json.dumps(json.loads(self.nap("schema", "tell")) | {"limits": limits}))
        for words in ("a", "a", "a", "b", "c"):
            self.nap("tell", schema, json.dumps({"words": words}), program=HELD)
        held = self.post("/queues/naps/claim", {"jobs": ["tell"], "wait": "5s"})["claim"]
        self.assertIsNotNone(held)
        [its] = self.get("/limits?queue=naps")["queues"][0]["limits"]
        declared = {"count": 1, "per_ms": 3600000, "burst": 1}
        self.assertEqual([its[name] for name in ("limit", "kind", "declared", "in_force", "is_set", "keys", "active")],
                         ["tell:rate", "rate", declared, declared, False, 3, 1])
        self.assertGreaterEqual(its["parked"], 2)
        shown = subprocess.run([CULEX, "limit", "naps", "--json"], env=self.env, capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(shown.stdout), its)
        path = "/limits/naps/tell:rate"
        for words, told in ((["100/1m", "--burst", "40"], "100/60 s burst 40"), (["50"], "50/60 s burst 40"), (["5/1m"], "5/60 s"),
                            (["declared"], "1/60 min")):
            text = subprocess.run([CULEX, "limit", "naps", "tell:rate", *words], env=self.env, capture_output=True, text=True, check=True)
            self.assertEqual(text.stdout, f"limit tell:rate of queue naps: {told}\n")
        table = subprocess.run([CULEX, "limit", "naps"], env=self.env, capture_output=True, text=True, check=True).stdout
        self.assertNotIn("burst", table)
        first = self.get(path + "/keys?limit=2")
        rest = self.get(path + "/keys?limit=2&cursor=" + first["next_cursor"])
        keys = first["keys"] + rest["keys"]
        self.assertEqual(([each["key"] for each in keys], "next_cursor" in rest), (["a", "b", "c"], False))
        self.assertEqual([each["key"] for each in self.get(path + "/keys")["keys"]], ["a", "b", "c"])
        self.assertGreater(keys[0]["next_ms"], 3000000)
        shown = subprocess.run([CULEX, "limit", "naps", "tell:rate", "--json"], env=self.env, capture_output=True, text=True,
                               check=True).stdout.splitlines()
        self.assertEqual([set(json.loads(line)) for line in shown], [set(each) for each in keys])
        for query, param in (("limit=0", "limit"), ("limit=1001", "limit"), ("cursor=" + "x" * 65, None), ("curser=a", "curser")):
            self.refused(self.get(f"{path}/keys?{query}", 400), "invalid", param)
        for name in ("tell:rat", "x"):
            self.refused(self.get(f"/limits/naps/{name}/keys", 404), "not_found", None, "no limit")
        self.refused(self.get("/limits?queue=nops", 404), "not_found", None, "did you mean naps?")

    def test_a_limit_set_by_hand(self):
        self.nap("enqueue", "wink", "1")
        self.serve()
        worker = self.held()
        worker.kill()
        self.post("/jobs/held/pen", None, 201)
        path = "/limits/held/pen:concurrency"
        one, three = ({"count": count, "per_ms": 0, "burst": 0} for count in (1, 3))
        told = self.post(path + "/set", {"count": 3})
        self.assertEqual([told[name] for name in ("limit", "declared", "in_force", "is_set")],
                         ["pen:concurrency", one, three, True])
        self.assertEqual([each for each in self.get("/limits?queue=held")["queues"][0]["limits"] if each["is_set"]], [told])
        told = self.post(path + "/reset")
        self.assertEqual([told[name] for name in ("in_force", "is_set")], [one, False])
        for body, param, part in (({}, "count", "required and not given"), ({"count": 0}, "count", "from 1 to 1000000"),
                                  ({"count": 1000001}, "count", "from 1 to 1000000"),
                                  ({"count": 1, "per": "0s"}, "per", "1ms or more"), ({"count": 1, "per": "1"}, "per", "1h30m"),
                                  ({"count": 1, "per": "1m"}, None, "rate"), ({"count": 1, "burst": 2}, None, "rate"),
                                  ({"count": 1.5}, "count", "from 1 to 1000000"), ({"cuont": 3}, "cuont", "did you mean count?"), ({"many": 3}, "many", "there are count, burst, per"),
                                  ({"count": 1, "burst": 0}, "burst", "from 1 to 1000000")):
            value = self.post(path + "/set", body, 400)
            self.assertEqual((value["error"]["code"], value["error"].get("param")), ("invalid", param), value)
            self.assertIn(part, value["error"]["message"])
        self.refused(self.post(path + "/reset", {"count": 1}, 400), "invalid", "count")
        self.refused(self.post("/limits/held/pen:concurency/set", {"count": 1}, 404), "not_found", None, "did you mean")
        lines = [line for line in self.lines_of_audit() if "Limit" in line["what"]]
        self.assertEqual([(line["what"], line["status"], line.get("limit")) for line in lines[:2]],
                         [("setLimit", 200, "count 3, per 0 ms, burst 0"), ("resetLimit", 200, None)])
        self.assertEqual(lines[-1]["status"], 404)

    def chime(self):
        """The periodic job of queue held, {} before its first worker has told it."""
        return (self.get("/schedules?queue=held")["queues"][0]["schedules"] or [{}])[0]

    def test_schedules_are_steered(self):
        self.nap("enqueue", "wink", "1")
        self.serve()
        self.held()
        self.until(lambda: "newest" in self.chime() and not self.get("/runs?queue=held&state=waiting,active")["runs"])
        path = "/schedules/held/chime"
        before = self.chime()
        self.assertEqual(self.post(path + "/pause"), before | {"paused": True})
        self.assertEqual(self.chime()["paused"], True)
        self.assertEqual(self.post(path + "/pause", {}), before | {"paused": True}, "twice is as once")
        run = self.post(path + "/run")
        self.assertEqual(run, {"queue": "held", "schedule": "chime", "id": run["id"]})
        self.assertEqual(self.chime(), before | {"paused": True, "newest": run["id"]}, "its ticks stay as they are, and its pause")
        self.assertFalse(self.post(path + "/resume")["paused"])
        self.assertFalse(self.chime()["paused"])
        for verb in ("pause", "resume", "run", "delete"):
            self.refused(self.post(f"{path}/{verb}", {"for": "1h"}, 400), "invalid", "for")
            self.refused(self.post(f"/schedules/held/chimes/{verb}", None, 404), "not_found", None, "did you mean chime?")
            self.refused(self.post(f"/schedules/nops/chime/{verb}", None, 404), "not_found", None, "no queue 'nops'", "did you mean naps?")
        self.refused(self.post(path + "/stop", None, 404), "no_such_path")
        lines = [line for line in self.lines_of_audit() if line["what"] == "runSchedule"]
        self.assertEqual([(line["path"], line["status"], line.get("run")) for line in lines],
                         [("/api/v1" + path + "/run", 200, run["id"])] + [(f"/api/v1/schedules/{name}/run", code, None) for name, code in
                                                                          (("held/chime", 400), ("held/chimes", 404), ("nops/chime", 404))])

    def test_a_run_in_the_way_of_a_schedules_run(self):
        self.nap("enqueue", "wink", "1")
        self.serve()
        self.held()
        self.until(lambda: "newest" in self.chime() and not self.get("/runs?queue=held&state=waiting,active")["runs"])
        self.post("/queues/held/pause")
        run = self.post("/schedules/held/chime/run")["id"]
        value = self.post("/schedules/held/chime/run", None, 409)
        self.assertEqual(value["error"].pop("run"), run)
        self.refused(value, "unique", None, run, "may not overlap")
        self.assertEqual(self.chime()["newest"], run)

    def test_a_schedule_is_forgotten(self):
        self.nap("enqueue", "wink", "1")
        self.serve()
        worker = self.held()
        self.until(self.chime)
        told = {"queue": "held", "schedule": "chime"}
        self.assertEqual(self.post("/schedules/held/chime/delete"), told | {"workers_alive": 1})
        worker.terminate()
        self.assertEqual(worker.wait(60), 0)
        if self.chime():  # it had the time to come back
            self.assertEqual(self.post("/schedules/held/chime/delete"), told | {"workers_alive": 0})
        self.assertEqual(self.chime(), {})
        self.refused(self.post("/schedules/held/chime/delete", None, 404), "not_found")

    def worker(self):
        return (self.get("/workers")["workers"] or [None])[0]

    def test_a_worker_takes_orders(self):
        self.nap("enqueue", "wink", "1")
        self.serve()
        worker = self.held("--concurrency", "3")
        listed = self.worker()
        path = f"/workers/{listed['id']}/set"
        for order, are in (({"quiet": True}, {"is_quiet": True, "concurrency": 3}), ({"quiet": False}, {"is_quiet": False}),
                           ({"quiet": True, "concurrency": 2}, {"is_quiet": True, "concurrency": 2}),
                           ({"quiet": False, "concurrency": 1}, {"is_quiet": False, "concurrency": 1})):
            self.assertEqual(self.post(path, order), {"worker": listed["id"], **order})
            its = self.worker()
            self.assertTrue(its["is_pending"] or are.items() <= its.items(), its)
            self.until(lambda: not self.worker()["is_pending"])
            self.assertLessEqual(are.items(), self.worker().items(), order)
        self.assertEqual(self.post(path, {"stop": True}), {"worker": listed["id"], "stop": True})
        self.assertEqual(worker.wait(30), 0)
        self.until(lambda: self.worker() is None)
        self.refused(self.post(path, {"quiet": True}, 404), "not_found", None, "no worker " + listed["id"], "GET workers")
        lines = [(line["status"], line["order"], line["path"]) for line in self.lines_of_audit() if line["what"] == "setWorker"]
        self.assertEqual(lines, [(code, order, "/api/v1" + path) for code, order in (
            (200, "quiet"), (200, "go"), (200, "quiet, concurrency 2"), (200, "go, concurrency 1"), (200, "stop"), (404, "quiet"))])

    def test_what_is_wrong_of_an_order_is_named(self):
        self.nap("enqueue", "wink", "1")
        self.serve()
        self.held("--concurrency", "3")
        listed = self.worker()
        path = f"/workers/{listed['id']}/set"
        for body, param, part in (({}, None, "one or more of quiet, stop and concurrency"), (None, None, "an order of nothing"),
                                  ({"quiet": None}, None, "an order of nothing"), ({"quiet": "yes"}, "quiet", ""),
                                  ({"stop": False}, "stop", "true, or left out"), ({"stop": 1}, "stop", ""),
                                  ({"quiet": True, "stop": False}, "stop", "true, or left out"),
                                  ({"concurrency": 0}, "concurrency", "1"), ({"concurrency": 1025}, "concurrency", "1024"),
                                  ({"concurrency": 4}, "concurrency", "at most 3 runs"), ({"concurrency": "two"}, "concurrency", ""),
                                  ({"concurrency": 1.5}, "concurrency", ""), ({"qiet": True}, "qiet", "did you mean quiet?"),
                                  ('{"quiet":true,"quiet":false}', "quiet", "")):
            value = self.post(path, body, 400)
            self.assertEqual((value["error"]["code"], value["error"].get("param")), ("invalid", param), value)
            self.assertIn(part, value["error"]["message"])
        self.assertEqual(self.worker()["is_pending"], False, "something was ordered all the same")
        for unknown in ("one", "abba", "0" * 200):
            for order in ({"quiet": True}, {"concurrency": 1024}):
                self.refused(self.post(f"/workers/{unknown}/set", order, 404), "not_found", None, "no worker " + unknown, "ids that orders take")

    def test_tags(self):
        self.fill()
        self.serve()
        for tags in (["red"], ["red", "blue"], []):
            self.post("/jobs/naps/wink", {"tags": tags, "delay": "1h"}, 201)
        self.assertEqual(self.get("/tags"), {"tags": [{"tag": "blue", "runs": 1}, {"tag": "red", "runs": 2}],
                                             "runs_looked_at": 8, "is_complete": True})
        first = self.get("/tags/red?limit=1")
        rest = self.get("/tags/red?limit=1&cursor=" + first["next_cursor"])
        self.assertEqual(len({run["id"] for run in first["runs"] + rest["runs"]}), 2)
        self.assertEqual(self.get("/tags/green")["runs"], [])


class Enqueuing(Served):
    def setUp(self):
        super().setUp()
        self.nap("enqueue", "wink", "1")
        self.drain()  # a worker has told the schemas

    def test_an_enqueue(self):
        self.serve()
        told = self.post("/jobs/naps/tell", {"params": {"words": "a route", "token": "hush"}, "priority": 3,
                                             "delay": "1h", "tags": ["red"]}, 201)
        self.assertEqual((told["queue"], told["job"], told["outcome"]), ("naps", "tell", "new"))
        run = self.get(f"/runs/naps/{told['id']}")
        self.assertEqual((run["state"], run["priority"], run["tags"]), ("scheduled", 3, ["red"]))
        self.assertEqual(run["param_values"], {"words": "a route"})
        self.assertAlmostEqual(run["at_ms"] - run["created_at_ms"], 3600000, delta=5000)
        later = self.post("/jobs/naps/wink", {"at": "2100-01-01T00:00:00Z"}, 201)
        self.assertEqual(self.get(f"/runs/naps/{later['id']}")["at_ms"], 4102444800000)
        self.post("/jobs/naps/wink", None, 201)
        self.post("/jobs/naps/wink", {"params": None, "delay": None, "priority": None, "tags": None, "idempotency_key": None}, 201)
        self.assertIn(told["id"], [line.get("run") for line in self.lines_of_audit()])
        self.assertNotIn("hush", self.log.read_text())

    def test_what_is_wrong_is_named(self):
        self.serve()
        before = self.get("/queues/naps")["totals"]["enqueued"]
        for body, param, part in (({"params": {"wordz": "x"}}, "wordz", "did you mean words?"),
                                  ({}, "words", "required and not given: words (string)"),
                                  ({"params": None}, "words", "required and not given: words (string)"),
                                  ('{"params":null,"params":{"words":"x"}}', None, "twice"),
                                  ({"params": {"words": 5}}, "words", "expected a string"),
                                  ({"params": [5]}, None, "expected an object"),
                                  ({"params": {"words": "x"}, "dealy": "1s"}, "dealy", "no param 'dealy'"),
                                  ({"params": {"words": "x"}, "delay": 5}, "delay", "string"),
                                  ({"params": {"words": "x"}, "delay": "5"}, "delay", "1h30m"),
                                  ({"params": {"words": "x"}, "at": "2001-01-01"}, "at", "past"),
                                  ({"params": {"words": "x"}, "at": "2100-01-01", "delay": "1s"}, "at", "one of them"),
                                  ({"params": {"words": "x"}, "priority": 12}, "priority", "0 to 9"),
                                  ({"params": {"words": "x"}, "tags": "red"}, "tags", "list"),
                                  ({"params": {"words": "x"}, "tags": ["a b,"]}, None, "tag 1: 1 to 64 bytes"),
                                  ({"params": {"words": "x"}, "idempotency_key": ""}, "idempotency_key", "is empty"),
                                  ('{"params":{"words":"x"},"params":{}}', "params", "given twice"),
                                  ('{"params":{"words":"x"}', None, "at byte 23"), ('{"params":{"words":"x"}}}', None, "more text"),
                                  ("[]", None, "object"), ("\0", None, "no value"), (b"\xff\xfe", None, "no value"),
                                  ('{"params":' + "[" * 100000, None, "inside each other")):
            value = self.post("/jobs/naps/tell", body, 400)
            self.assertEqual(value["error"]["code"], "invalid")
            if param:
                self.assertEqual(value["error"].get("param"), param, value)
            self.assertIn(part, value["error"]["message"])
        self.refused(self.post("/jobs/naps/tel", None, 404), "not_found", None, "did you mean tell?")
        value = self.post("/jobs/nops/tell", None, 404)
        self.refused(value, "not_found", None, "has a schema of the job tell")
        self.assertNotIn("--schema", value["error"]["message"])
        self.post("/jobs/" + "q" * 65 + "/tell", None, 400)
        secret = self.post("/jobs/naps/tell", {"params": {"words": "x", "token": 5551234}}, 400)
        self.assertNotIn("5551234", json.dumps(secret))
        self.assertEqual(self.get("/queues/naps")["totals"]["enqueued"], before)

    def test_the_words_are_those_of_http(self):
        """Nobody who speaks HTTP has options, filters, flags or NULL."""
        self.serve()
        words = {"params": {"words": "x"}}
        self.post("/jobs/naps/tell", words, 201)
        token = self.post("/queues/naps/claim", {})["claim"]["token"]
        jobs = (({"delay": "50us"}, "delay", "whole milliseconds"),
                ({"delay": "99999d"}, "delay", "at most 36525d"), ({"at": "2001-01-01"}, "at", "past"), ({"at": "x"}, "at", "no time"),
                ({"at": "2150-01-01"}, "at", "after 2149"), ({"idempotency_key": ""}, "idempotency_key", "leave it out"),
                ({"idempotency_key": "x" * 300}, "idempotency_key", "1 to 255 bytes"))
        runs = (("error=", "error", "error has 1 to 4096 bytes"), ("error=" + "x" * 5000, "error", "1 to 4096"),
                ("tag=", "tag", "no tag"), ("since=2000-01-01", "since", "before 2001"), ("before=1999-01-01", "before", "before 2001"),
                ("since=1h&before=2h", "since", "since is not before before"))
        posts = (("/queues/naps/claim", {"lease": "1ms"}, "lease", "200ms to 1d"), ("/queues/naps/claim", {"lease": "2d"}, "lease", "1d"),
                 ("/queues/naps/claim", {"wait": "1us"}, "wait", "whole milliseconds"),
                 ("/queues/naps/claim", {"wait": "61s"}, "wait", "at most 60s"),
                 (f"/claims/{token}/heartbeat", {"lease": "9d"}, "lease", "200ms to 1d"),
                 (f"/claims/{token}/fail", {"delay": "1ns"}, "delay", "whole milliseconds"),
                 (f"/claims/{token}/release", {"delay": "99999d"}, "delay", "at most 36525d"),
                 ("/queues/naps/pause", {"for": "1us"}, "for", "1ms to 36525d"), ("/queues/naps/pause", {"for": "0s"}, "for", "1ms"))
        told = [(self.post("/jobs/naps/tell", {**words, **body}, 400), param, part) for body, param, part in jobs]
        told += [(self.post("/jobs", [{**words, **body, "queue": "naps", "job": "tell"}])["results"][0], param, part)
                 for body, param, part in jobs]
        told += [(self.get("/runs?" + query, 400), param, part) for query, param, part in runs]
        told += [(self.post(path, body, 400), param, part) for path, body, param, part in posts]
        told += [(self.get(f"/runs/naps/{NOBODY}/wait?timeout={span}", 400), "timeout", part)
                 for span, part in (("1us", "whole milliseconds"), ("2m", "at most 60s"))]
        pending = self.get(f"/runs/naps/{self.post('/jobs/naps/wink', None, 201)['id']}/wait?timeout=1000050us")
        self.assertEqual(pending, {"end": "pending"})  # its last piece would be too short
        for value, param, part in told:
            self.refused(value, "invalid", param, part)
            self.assertNotRegex(value["error"]["message"], r"options\.|filter\.|--[a-z]|NULL|culex_|error_part|nanosec|item|\d ns")

    @unittest.skipUnless((NAP.parent / "vault").exists(), "no libsodium")
    def test_an_encrypted_param(self):
        self.seal()
        self.serve()
        known = "/jobs/vault.pay/vault.pay"
        whole = {"params": {"shop": "x", "iban": "IT99", "cents": 1, "lines": ["a"]}}
        given, lacking = self.post(known, whole, 501), self.post(known, {"params": {"shop": "x"}}, 501)
        [of_many] = self.post("/jobs", [{**whole, "queue": "vault.pay", "job": "vault.pay"}])["results"]
        for value, words in ((given, "is encrypted"), (of_many, "is encrypted"), (lacking, "is required and encrypted")):
            self.refused(value, "no_key", "iban")
            self.assertEqual(value["error"]["message"], f"iban {words}, and there is no key for it")
        self.assertEqual(self.get("/runs?queue=vault.pay")["runs"], [])

    def test_a_ticket_is_no_run(self):
        """It is what an enqueue is known by that nobody knows the end of; over HTTP there is none."""
        self.serve()
        ticket = "01a22d7f-4f59-8826-b394-100000000fff"
        for value in (self.get(f"/runs/naps/{ticket}", 404), self.get(f"/runs/naps/{ticket}/wait?timeout=0s", 404),
                      self.post(f"/runs/naps/{ticket}/cancel", None, 404)):
            self.refused(value, "not_found", None, "no run has this id")

    def test_an_enqueue_that_nobody_knows_the_end_of(self):
        """The store has it, and its answer does not come."""
        if STORE == "sqlite":
            self.skipTest("a file answers")
        is_mute = threading.Event()
        place = self.folder / "mute.sock"
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(place))
        listener.listen()

        def pass_on(one, other, is_answer):
            try:
                while data := one.recv(65536):
                    if b"hush now" in data and not is_answer:
                        is_mute.set()
                    if not (is_answer and is_mute.is_set()):
                        other.sendall(data)
            except OSError:
                pass
            for link in (one, other):
                link.close()

        def meet():
            while True:
                try:
                    near, _ = listener.accept()
                except OSError:
                    return
                far = socket.socket(socket.AF_UNIX)
                far.connect(str(self.folder / "redis.sock"))
                threading.Thread(target=pass_on, args=(near, far, False), daemon=True).start()
                threading.Thread(target=pass_on, args=(far, near, True), daemon=True).start()

        threading.Thread(target=meet, daemon=True).start()
        self.env["CULEX_URL"] = f"redis+unix://{place}"
        self.serve("--store-timeout", "500ms")
        run = {"params": {"words": "hush now"}}
        for path, body in (("/jobs/naps/tell", run), ("/jobs", [{**run, "queue": "naps", "job": "tell"}])):
            is_mute.clear()
            self.until(lambda: self.send("GET", "/api/v1/queues")[0] == 200)
            status, _, value = self.send("POST", "/api/v1" + path, body)
            value = value["results"][0] if status == 200 else value
            self.refused(value, "unknown", None, "may be in the store")
            self.assertNotRegex(value["error"]["message"], "ticket|CULEX_|item|call")

    def test_what_comes_twice_is_refused(self):
        """It would count once, in silence."""
        self.serve()
        one = [{"queue": "naps", "job": "wink"}]
        self.refused(self.post("/jobs", one, 400, Idempotency_Key="k"), "invalid", "idempotency_key", "of one run")
        for query in "state=dead&state=done", "queue=naps&queue=held", "limit=1&limit=1":
            self.refused(self.get(f"/runs?{query}", 400), "invalid", query.split("=")[0], "given twice")

    def test_the_same_words_as_the_command(self):
        self.serve()
        for params in ({"wordz": "x"}, {}, {"words": 5}):
            value = self.post("/jobs/naps/tell", {"params": params}, 400)
            told = subprocess.run([CULEX, "enqueue", "tell", "--queue", "naps", "--payload", json.dumps(params)],
                                  env=self.env, capture_output=True, text=True, check=False)
            self.assertEqual(told.returncode, 2)
            self.assertEqual(told.stderr.replace("of --payload", "of params"),
                             f"culex: {value['error']['message']}\n")

    def test_an_idempotency_key(self):
        self.serve()
        body = {"params": {"words": "once"}}
        self.refused(self.post("/jobs/naps/tell", body, 400, Idempotency_Key=""), "invalid", "idempotency_key", "is empty")
        first = self.post("/jobs/naps/tell", body, 201, Idempotency_Key="k1")
        second = self.post("/jobs/naps/tell", body, 200, Idempotency_Key="k1")
        self.assertEqual((second["id"], second["outcome"]), (first["id"], "duplicate"))
        self.assertEqual(self.post("/jobs/naps/tell", {**body, "idempotency_key": "k1"})["id"], first["id"])
        self.refused(self.post("/jobs/naps/tell", {"params": {"words": "twice"}}, 409, Idempotency_Key="k1"), "conflict")
        both = self.post("/jobs/naps/tell", {**body, "idempotency_key": "k2"}, 400, Idempotency_Key="k1")
        self.refused(both, "invalid", "idempotency_key")

    def test_many_at_once(self):
        self.serve()
        runs = [{"queue": "naps", "job": "tell", "params": {"words": str(number)}} for number in range(450)]
        runs[7]["params"] = {}
        runs[300]["job"] = "tel"
        runs[301] = 5
        del runs[302]["queue"]
        told = self.post("/jobs", runs)
        self.assertEqual((told["enqueued"], told["failed"], len(told["results"])), (446, 4, 450))
        self.assertEqual([number for number, each in enumerate(told["results"]) if "error" in each], [7, 300, 301, 302])
        self.assertEqual(told["results"][7]["error"]["param"], "words")
        self.assertEqual(len({each["id"] for each in told["results"] if "id" in each}), 446)
        run = self.get(f"/runs/naps/{told['results'][449]['id']}")
        self.assertEqual(run["param_values"], {"words": "449"})
        self.assertEqual(self.post("/jobs", []), {"enqueued": 0, "failed": 0, "results": []})
        for body in ("{}", "[1,]", "[1 2]", "[{}", "[]]", "x", "[" * 100000):
            value = self.post("/jobs", body, 400 if body != "[1 2]" else 200)
            self.assertTrue("error" in value or value["failed"] == 1)
        self.refused(self.post("/jobs", [5] * 1001, 413), "too_large")

    def test_one_of_many_does_not_hold_up_the_others(self):
        self.serve()
        runs = [{"queue": "naps", "job": "tell", "params": {"words": word}, "idempotency_key": "same"}
                for word in ("one", "two")] + [{"queue": "naps", "job": "wink"}]
        told = self.post("/jobs", runs)
        self.assertEqual([each.get("outcome") or each["error"]["code"] for each in told["results"]],
                         ["new", "conflict", "new"])

    def trace(self, *headers, path="/jobs/naps/wink", body=b"{}", code=201):
        """Of what is enqueued with these headers: traceparent and tracestate, as its worker is told."""
        connection = self.connect()
        connection.putrequest("POST", "/api/v1" + path)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", len(body)), *headers):
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        self.assertEqual(answer.status, code, told)
        held = self.post("/queues/naps/claim", {})["claim"]
        shown = self.get(f"/runs/naps/{held['id']}")
        self.assertEqual(shown.get("traceparent"), held.get("traceparent"))
        self.post(f"/claims/{held['token']}/complete")
        return held.get("traceparent"), held.get("tracestate")

    PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    OTHER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"

    def test_a_trace_of_headers(self):
        self.serve()
        parent, state = ("traceparent", self.PARENT), ("tracestate", 'a=1,b="\\')
        self.assertEqual(self.trace(parent), (self.PARENT, None))
        self.assertEqual(self.trace(("Traceparent", self.PARENT), state), (self.PARENT, 'a=1,b="\\'))
        self.assertEqual(self.trace(parent, state, ("tracestate", ""), ("TraceState", "c=3")),
                         (self.PARENT, 'a=1,b="\\,c=3'))
        self.assertEqual(self.trace(parent, ("tracestate", "x" * 512)), (self.PARENT, "x" * 512))
        later = "cc" + self.PARENT[2:] + "-what-comes"
        self.assertEqual(self.trace(("traceparent", later)), (self.PARENT, None))
        for state in ("x" * 513,), ("x" * 300, "y" * 300), ("a=\xe9",), ("a=1", "b=\tc"):
            self.assertEqual(self.trace(parent, *(("tracestate", each) for each in state)), (self.PARENT, None), state)

    def test_a_header_that_is_no_trace_is_passed_over(self):
        self.serve()
        good = self.PARENT
        for bad in ("", "x", "ff" + good[2:], "0" + good, good + "-", good + "-more", good[:-1], good[:-2] + "0g",
                    good.upper(), good.replace("-b7", "_b7"), f"00-{'0' * 32}-{good[36:]}", f"{good[:36]}{'0' * 16}-01",
                    "cc" + good[2:] + "x", "00"):
            self.assertEqual(self.trace(("traceparent", bad), ("tracestate", "a=1")), (None, None), bad)
        self.assertEqual(self.trace(("traceparent", good), ("traceparent", good)), (None, None))
        self.assertEqual(self.trace(("tracestate", "a=1")), (None, None))

    def test_a_trace_of_the_body(self):
        self.serve()
        own = json.dumps({"traceparent": self.OTHER, "tracestate": "b=2"}).encode()
        alone = json.dumps({"traceparent": self.OTHER}).encode()
        headers = ("traceparent", self.PARENT), ("tracestate", "a=1")
        self.assertEqual(self.trace(body=own), (self.OTHER, "b=2"))
        self.assertEqual(self.trace(*headers, body=own), (self.OTHER, "b=2"))
        self.assertEqual(self.trace(*headers, body=alone), (self.OTHER, None), "the state of another trace")
        for body, param in (({"traceparent": self.PARENT[:-1]}, "traceparent"), ({"traceparent": ""}, "traceparent"),
                            ({"traceparent": "ff" + self.PARENT[2:]}, "traceparent"), ({"tracestate": "a=1"}, "tracestate"),
                            ({"traceparent": self.PARENT, "tracestate": "x" * 513}, "tracestate"),
                            ({"traceparent": self.PARENT, "tracestate": "\u00e9"}, "tracestate"),
                            ({"traceparent": 5}, "traceparent")):
            self.refused(self.post("/jobs/naps/wink", body, 400), "invalid", param)

    def test_a_trace_of_each_of_many(self):
        self.serve()
        item = {"queue": "naps", "job": "wink"}
        for headers, own, wanted in (((), {"traceparent": self.OTHER, "tracestate": "b=2"}, (self.OTHER, "b=2")),
                                     ((("traceparent", self.PARENT), ("tracestate", "a=1")), {}, (self.PARENT, "a=1")),
                                     ((("traceparent", self.PARENT),), {"traceparent": self.OTHER}, (self.OTHER, None))):
            body = json.dumps([{**item, **own}]).encode()
            self.assertEqual(self.trace(*headers, path="/jobs", body=body, code=200), wanted)
        told = self.post("/jobs", [{**item, "traceparent": self.PARENT}, {**item, "traceparent": "x"}, item])
        self.assertEqual([each.get("outcome") or each["error"]["param"] for each in told["results"]],
                         ["new", "traceparent", "new"])
        runs = [self.get(f"/runs/naps/{each['id']}") for each in told["results"] if "id" in each]
        self.assertEqual([run.get("traceparent") for run in runs], [self.PARENT, None])

    def test_a_full_queue(self):
        self.serve()
        subprocess.run([CULEX, "capacity", "naps", "1"], env=self.env, check=True, stdout=subprocess.DEVNULL)
        self.post("/jobs/naps/wink", None, 201)
        status, headers, value = self.send("POST", "/api/v1/jobs/naps/wink")
        self.assertEqual((status, headers["Retry-After"]), (429, "5"))
        self.refused(value, "full")

    def test_changes_of_a_run(self):
        self.serve()
        run = self.post("/jobs/naps/tell", {"params": {"words": "x"}}, 201)
        path = f"/runs/naps/{run['id']}"
        self.refused(self.post(path + "/retry", None, 409), "state")
        self.refused(self.post(path + "/delete", None, 409), "state")
        self.refused(self.post(path + "/cancel", "[]", 400), "invalid")
        self.drain()
        self.assertEqual(self.get(path)["state"], "dead")
        self.assertEqual(self.post(path + "/retry")["state"], "waiting")
        self.assertEqual(self.post(path + "/cancel")["state"], "cancelled")
        self.refused(self.post(path + "/cancel", None, 409), "state")
        self.assertEqual(self.post(path + "/delete")["state"], "deleted")
        self.refused(self.post(path + "/delete", None, 404), "not_found")
        self.refused(self.post("/runs/naps/5/cancel", None, 400), "invalid", "id")
        ends = [(line["what"], line["status"]) for line in self.lines_of_audit()]
        self.assertEqual(ends[-4:], [("cancelRun", 409), ("deleteRun", 200), ("deleteRun", 404), ("cancelRun", 400)])

    def test_many_runs_are_changed_at_once(self):
        self.fill()
        self.serve()
        bulk = "/queues/naps/bulk"
        route = {"action": "retry", "error": "no route"}
        counts = {"looked": 3, "matched": 2, "done": 0, "skipped": 0}
        self.assertEqual(self.post(bulk, {**route, "dry": True}), counts)
        self.assertEqual(len(self.get("/runs?queue=naps&state=dead")["runs"]), 3)
        self.assertEqual(self.post(bulk, route), {**counts, "done": 2})
        [dead] = self.get("/runs?queue=naps&state=dead")["runs"]
        self.assertEqual(self.get(f"/runs/naps/{dead['id']}")["error"], "disk full")
        self.assertEqual(self.post(bulk, {"action": "cancel", "states": "waiting", "job": "tell"})["done"], 2)
        self.assertEqual(self.get("/runs?state=waiting")["runs"][0]["job"], "wink")
        self.assertEqual(self.post(bulk, {"action": "delete", "states": "dead,cancelled", "since": "1h"})["done"], 3)
        self.assertEqual({run["state"] for run in self.get("/runs?queue=naps")["runs"]}, {"done", "waiting"})
        told = [(line["what"], line["status"], line["runs"]) for line in self.lines_of_audit()]
        self.assertEqual(told[:2], [("changeRuns", 200, "retry, dry: looked at 3, matched 2, done 0, skipped 0"),
                                    ("changeRuns", 200, "retry: looked at 3, matched 2, done 2, skipped 0")])

    def test_changes_of_many_runs_go_on_where_they_were(self):
        for number in range(12):
            self.nap("enqueue", "tell", "odd" if number % 2 else "even", "hush")
        self.drain()
        self.serve()
        wanted = {"action": "delete", "states": "dead", "error": "odd", "limit": 5}
        looked = done = 0
        answer = {"next_cursor": None}
        cursors = []
        while "next_cursor" in answer and len(cursors) < 12:
            answer = self.post("/queues/naps/bulk", {**wanted, "cursor": answer["next_cursor"]})
            self.assertLessEqual(answer["looked"], 5)
            looked, done = looked + answer["looked"], done + answer["done"]
            cursors += [answer.get("next_cursor")]
        self.assertEqual((looked, done, cursors[-1]), (12, 6, None))
        self.assertEqual(len(self.get("/runs?state=dead")["runs"]), 6)
        for other in ({"error": "even"}, {"action": "retry"}, {"states": "dead,done"}, {"job": "tell"}, {"tag": "a"}, {"dry": True},
                      {"since": "1h"}, {"before": "1s"}):
            refusal = self.post("/queues/naps/bulk", {**wanted, "cursor": cursors[0], **other}, 400)
            self.refused(refusal, "invalid", "cursor", "stale")
        self.post("/queues/claps/bulk", {**wanted, "cursor": cursors[0]}, 400)
        listed = self.get("/runs?queue=naps&limit=1")["next_cursor"]
        for cursor in ("x", "0" * 300, listed, cursors[0] + "0"):
            self.refused(self.post("/queues/naps/bulk", {**wanted, "cursor": cursor}, 400), "invalid", "cursor")

    def test_what_is_wrong_of_many_changes_is_named(self):
        self.fill()
        self.serve()
        for body, param, part in (({}, "action", "required and not given"), ({"action": "retri", "error": "x"}, "action", "did you mean retry?"),
                                  ({"action": "delete"}, None, "which runs"), ({"action": "delete", "error": ""}, "error", "is empty"), ({"action": "delete", "tag": ""}, "tag", "is empty"),
                                  ({"action": "delete", "dry": True}, None, "which runs"),
                                  ({"action": "retry", "states": "done"}, "states", "dead"),
                                  ({"action": "retry", "states": "ded"}, "states", "dead"),
                                  ({"action": "retry", "since": "never"}, "since", "2h"),
                                  ({"action": "retry", "since": "1h", "before": "2h"}, "since", "is not before before"),
                                  ({"action": "retry", "error": ""}, "error", "is empty"),
                                  ({"action": "retry", "error": "x", "limit": 1001}, "limit", "1000"),
                                  ({"action": "retry", "eror": "x"}, "eror", "did you mean error?")):
            self.refused(self.post("/queues/naps/bulk", body, 400), "invalid", param, part)
        self.refused(self.post("/queues/nops/bulk", {"action": "retry", "error": "x"}, 404), "not_found", None, "naps")
        self.assertEqual(len(self.get("/runs?queue=naps&state=dead")["runs"]), 3)


class Waiting(Served):
    def setUp(self):
        super().setUp()
        self.nap("enqueue", "wink", "1")
        self.drain()

    def at_work(self):
        return self.get("/health")["at_work"]

    def test_a_wait(self):
        self.serve()
        run = self.post("/jobs/naps/tell", {"params": {"words": "no route"}}, 201)
        path = f"/runs/naps/{run['id']}/wait"
        self.assertEqual(self.get(path + "?timeout=100ms"), {"end": "pending"})
        answers = []
        waiter = threading.Thread(target=lambda: answers.append(self.get(path + "?timeout=60s")))
        waiter.start()
        self.drain()
        waiter.join(30)
        self.assertEqual((answers[0]["end"], answers[0]["run"]["error"]), ("dead", "no route"))
        self.assertEqual(self.get(path)["end"], "dead")

    def test_two_hundred_wait_at_once(self):
        self.serve()
        run = self.post("/jobs/naps/wink", None, 201)
        answers = []

        def wait():
            answers.append(self.get(f"/runs/naps/{run['id']}/wait?timeout=60s")["end"])

        waiters = [threading.Thread(target=wait) for _ in range(200)]
        for waiter in waiters:
            waiter.start()
        self.until(lambda: self.at_work() > 200)
        begun = time.monotonic()
        self.get("/queues")
        self.post("/jobs/naps/wink", None, 201)
        self.assertLess(time.monotonic() - begun, 3, "they hold up the others")
        self.drain()
        for waiter in waiters:
            waiter.join(60)
        self.assertEqual(answers, ["done"] * 200)

    def test_it_ends_while_somebody_waits(self):
        self.serve()
        run = self.post("/jobs/naps/wink", {"delay": "1h"}, 201)
        answers = []
        waiter = threading.Thread(
            target=lambda: answers.append(self.get(f"/runs/naps/{run['id']}/wait?timeout=60s")))
        waiter.start()
        self.until(lambda: self.at_work() > 1)
        begun = time.monotonic()
        self.stop()
        self.assertLess(time.monotonic() - begun, 10)
        waiter.join(10)
        self.assertEqual(answers, [{"end": "pending"}])

    def test_who_has_gone_costs_no_thread(self):
        self.serve()
        run = self.post("/jobs/naps/wink", {"delay": "1h"}, 201)
        lost = [self.connect() for _ in range(20)]
        for connection in lost:
            connection.request("GET", f"/api/v1/runs/naps/{run['id']}/wait?timeout=60s")
        self.until(lambda: self.at_work() > 20)
        for connection in lost:
            connection.close()
        self.until(lambda: self.at_work() == 1, 20)


class Working(Served):
    """The worker's side: what a claim is, tests/parts/engine/test_claims.c and test_claims_storm.c tell."""

    def setUp(self):
        super().setUp()
        self.fill()
        self.serve()
        for run in self.get("/runs?queue=naps&state=waiting")["runs"]:
            self.post(f"/runs/naps/{run['id']}/cancel")

    def claim(self, code=200, **body):
        value = self.post("/queues/naps/claim", body, code)
        return value["claim"] if code == 200 else value

    def tell(self, *words):
        self.nap("enqueue", "tell", *words)

    def test_a_run_that_is_done(self):
        self.tell("hello", "hunter2")
        held = self.claim(lease="10s", jobs=["tell"])
        self.assertEqual((held["job"], held["attempt"], held["params"], held["is_by_schema"]),
                         ("tell", 1, {"words": "hello", "token": "hunter2"}, True))
        self.assertIsNone(self.claim())
        beat = self.post(f"/claims/{held['token']}/heartbeat", {"lease": "1m", "progress": 50, "progress_text": "half"})
        self.assertEqual(beat["order"], "go_on")
        self.assertGreater(beat["lease_ends_ms"], held["lease_ends_ms"])
        run = self.get(f"/runs/naps/{held['id']}")
        self.assertEqual((run["state"], run["progress"], run["progress_text"]), ("active", 50, "half"))
        self.assertEqual(self.post(f"/claims/{held['token']}/complete", {}), {"told": "completed"})
        self.assertEqual(self.get("/queues/naps")["totals"]["done"], 2)
        self.assertNotIn("claims", self.log.read_text())

    def test_a_run_of_a_job_that_is_not_wanted(self):
        """Claims pass it by, and nobody is told that it has no worker."""
        self.nap("enqueue", "ox")
        [run] = self.get("/runs?queue=naps&state=waiting")["runs"]
        path = f"/runs/naps/{run['id']}"
        self.until(lambda: self.assertIsNone(self.claim(jobs=["tell"], wait="2s")) or self.get(path)["attempt"] >= 4)
        run = self.get(path)
        self.assertEqual((run["failures"], run["error"]), (0, "a claim wanted other jobs"))
        checked, examined = (subprocess.run([CULEX, *words], env=self.env, capture_output=True, text=True, check=False)
                             for words in (("check", "naps", "--no-worker", "ok"), ("doctor", "--json")))
        self.assertEqual(checked.returncode, 0, checked.stdout)
        findings = {each["id"] for each in json.loads(examined.stdout)["findings"]}
        self.assertIn("queues", findings)
        self.assertNotIn("queue-unknown-job", findings)

    @unittest.skipUnless((NAP.parent / "vault").exists(), "no libsodium")
    def test_a_run_that_nobody_here_can_open(self):
        path = self.seal()
        for known in {}, {"CULEX_KEYS": str(path)}:  # those are for the programs that execute runs
            self.stop()
            self.env |= known
            self.serve()
            paid = subprocess.run([CULEX, "enqueue", "vault.pay", "shop=x", "iban=IT99", "cents=1", "lines=a", "--keys", path],
                                  env=self.env, capture_output=True, text=True, check=True).stdout.strip()
            told = self.post("/queues/vault.pay/claim", {}, 501)
            self.refused(told, "no_key", None, "iban: it is encrypted, and this server has no keys; the run has gone back, for 5 s")
            run = self.get(f"/runs/vault.pay/{paid}")
            self.assertEqual((run["state"], run["failures"]), ("scheduled", 0))
            self.post(f"/runs/vault.pay/{paid}/cancel")

    def schemas_replace(self, text):
        """What is kept of the schemas of naps; None: nothing."""
        if STORE == "sqlite":
            with contextlib.closing(sqlite3.connect(self.folder / "jobs.db")) as store, store:
                if text is None:
                    store.execute("DELETE FROM job_schema")
                else:
                    store.execute("UPDATE job_schema SET text = ?", [text.encode()])
            return
        redis = lambda *words: subprocess.run(["redis-cli", "-e", "-s", self.folder / "redis.sock", *words], check=True,
                                              capture_output=True, text=True).stdout
        if text is None:
            redis("del", "culex:{naps}:schemas")
        else:
            for field in redis("hkeys", "culex:{naps}:schema_texts").split():
                redis("hset", "culex:{naps}:schema_texts", field, text)

    def test_a_run_without_a_schema_that_says_anything(self):
        """The payload is all there is: a schema that is damaged, of a form to come, and none."""
        for text in "{", '{"schema":2}', None:
            self.tell("hello")
            self.schemas_replace(text)
            held = self.claim()
            self.assertEqual((held["params"], held["is_by_schema"]), ({"words": "hello", "token": ""}, False), text)
            self.post(f"/claims/{held['token']}/complete", {})

    def schemas_break(self):
        """What is kept of the schemas of naps cannot be read any more; status and code of what tells so."""
        if STORE == "sqlite":
            with contextlib.closing(sqlite3.connect(self.folder / "jobs.db")) as store, store:
                store.execute("ALTER TABLE job_schema RENAME COLUMN text TO lost")
                try:
                    store.execute("ALTER TABLE job_schema ADD COLUMN text BLOB AS (abs(-9223372036854775807 - (told_ms > 0))) VIRTUAL")
                except sqlite3.OperationalError:
                    self.skipTest("this SQLite reads each row when a column is added, and so fails here already")
            return 503, "store_failed"
        for words in (["rename", "culex:{naps}:schema_texts", "lost"], ["set", "culex:{naps}:schema_texts", "x"]):
            subprocess.run(["redis-cli", "-e", "-s", self.folder / "redis.sock", *words], check=True, capture_output=True)
        return 500, "failed"

    def test_a_run_whose_schema_cannot_be_read(self):
        """Params without their defaults are no params: it goes back, uncharged."""
        self.tell("hello")
        status, code = self.schemas_break()
        self.refused(self.post("/queues/naps/claim", {}, status), code, None, "; the run has gone back")
        [run] = self.get("/runs?queue=naps&state=waiting")["runs"]
        self.assertEqual((run["attempt"], run["failures"]), (1, 0))

    def test_a_run_that_fails(self):
        self.tell("hello")
        held = self.claim()
        self.assertEqual(self.post(f"/claims/{held['token']}/fail", {"error": "no\nroute", "final": True}), {"told": "failed"})
        run = self.get(f"/runs/naps/{held['id']}")
        self.assertEqual((run["state"], run["error"]), ("dead", "no\nroute"))
        for verb in "complete", "fail", "heartbeat", "release":
            self.refused(self.post(f"/claims/{held['token']}/{verb}", {}, 409), "stale")

    def test_a_run_whose_texts_have_its_secret(self):
        self.tell("hello", "hunter2")
        held = self.claim()
        self.post(f"/claims/{held['token']}/heartbeat", {"progress_text": "hello hunter2"})
        self.assertEqual(self.get(f"/runs/naps/{held['id']}")["progress_text"], "hello [secret]")
        self.post(f"/claims/{held['token']}/fail", {"error": "hunter2 is wrong", "final": True})
        self.assertEqual(self.get(f"/runs/naps/{held['id']}")["error"], "[secret] is wrong")

    def test_a_run_that_is_done_twice(self):
        self.nap("enqueue", "ox")
        held = self.claim()
        for _ in range(2):
            self.assertEqual(self.post(f"/claims/{held['token']}/complete", {}), {"told": "completed"})
        for verb in "fail", "release":
            self.refused(self.post(f"/claims/{held['token']}/{verb}", {}, 409), "conflict", None, "has already ended")

    def test_a_run_that_is_given_back_or_lost(self):
        self.tell("hello")
        first = self.claim()
        self.assertEqual(self.post(f"/claims/{first['token']}/release", {}), {"told": "released"})
        second = self.claim(wait="10s", lease="200ms")
        third = self.claim(wait="20s")
        self.assertEqual((first["id"], second["id"]), (third["id"], third["id"]))
        self.refused(self.post(f"/claims/{second['token']}/complete", {}, 409), "stale")
        self.post(f"/claims/{third['token']}/complete", {})
        self.assertEqual(self.get("/queues/naps")["totals"]["lost"], 1)

    def test_a_run_that_is_cancelled(self):
        self.tell("hello")
        held = self.claim()
        self.post(f"/runs/naps/{held['id']}/cancel")
        self.assertEqual(self.post(f"/claims/{held['token']}/heartbeat", {})["order"], "cancel")
        self.post(f"/claims/{held['token']}/fail", {})
        self.assertEqual(self.get(f"/runs/naps/{held['id']}")["state"], "cancelled")

    def keys(self):
        """How many there are in the store, whatever they are."""
        if STORE == "redis":
            told = subprocess.run(["redis-cli", "-s", self.folder / "redis.sock", "keys", "*"], capture_output=True, text=True, check=True)
            return len(told.stdout.splitlines())
        with sqlite3.connect(self.folder / "jobs.db") as reader:
            tables = [name for [name] in reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            return sum(reader.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)

    def test_a_queue_that_nobody_uses_is_not_begun_by_a_claim(self):
        self.nap("enqueue", "wink", "1")
        self.post("/queues/nobody/claim")
        before = self.keys()
        made_up = self.post("/queues/naps/claim", {"jobs": ["wink"]})["claim"]["token"].removesuffix("naps") + "nobody"
        for queue in ("nobody", *(f"tenant{number}" for number in range(40))):
            self.assertIsNone(self.post(f"/queues/{queue}/claim")["claim"])
        for verb in ("heartbeat", "complete", "fail", "release"):
            self.refused(self.post(f"/claims/{made_up}/{verb}", None, 404), "not_found")
        self.assertLess(self.keys() - before, 10, "but for what the claim of the run is")
        self.assertEqual([queue["queue"] for queue in self.get("/queues")["queues"]], ["naps"])

    def test_a_claim_waits_for_a_run(self):
        got = []
        waiter = threading.Thread(target=lambda: got.append(self.claim(wait="30s")))
        waiter.start()
        self.until(lambda: self.get("/health")["at_work"] > 1)
        self.tell("hello")
        waiter.join(40)
        self.assertEqual(got[0]["job"], "tell")

    def test_a_run_comes_back_at_once_whose_claimer_has_gone(self):
        with socket.create_connection(("127.0.0.1", self.port)) as link:
            body = b'{"wait":"30s","lease":"1h"}'
            link.sendall(b"POST /api/v1/queues/naps/claim HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                         b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self.until(lambda: self.get("/health")["at_work"] > 1)
        self.until(lambda: self.get("/health")["at_work"] == 1)
        self.tell("hello")
        self.assertIsNotNone(self.claim(wait="10s"))

    def test_what_is_wrong_is_named(self):
        self.refused(self.claim(400, wait="2m"), "invalid", "wait", "at most 60s")
        self.refused(self.claim(400, lease="soon"), "invalid", "lease")
        self.refused(self.claim(400, lease="1ms"), "invalid", "lease", "lease")
        self.refused(self.claim(400, job="tell"), "invalid", "job", "did you mean jobs?")
        self.refused(self.post("/claims/nonsense/complete", {}, 400), "invalid", None, "no token of a lease")
        self.tell("hello")
        token = self.claim()["token"]
        self.refused(self.post(f"/claims/{token}/complete", {"result": {"x": 1}}, 400), "invalid", None, "returns nothing")
        self.refused(self.post(f"/claims/{token}/complete", '{"result":{}', 400), "invalid", None, "no JSON")
        self.refused(self.post(f"/claims/{token}/complete", '{"result":null,"result":1}', 400), "invalid", "result")
        self.post(f"/claims/{token}/complete", '{"result":null}')

    def test_the_examples(self):
        """A worker in each of three languages, whose handler fails for one run, with more to say than may be sent."""
        self.env["CULEX_HTTP"] = f"http://127.0.0.1:{self.port}"
        for name, words in example_workers(self.folder).items():
            before = self.get("/queues/naps")["totals"]
            for text in "one", "two", "bad":
                self.tell(text)
            done = subprocess.run(words, env=self.env, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertIn("one", done.stdout)
            after = self.get("/queues/naps")["totals"]
            self.assertEqual(after["done"] + after["failed"], before["done"] + before["failed"] + 3, name)
            self.assertEqual(after["failed"] - before["failed"], 1, name)
            [bad, *_] = self.get("/runs?queue=naps&state=dead&error=bad%20luck")["runs"]
            self.assertGreater(len(self.get(f"/runs/naps/{bad['id']}")["error"]), 500, name)
            self.post(f"/runs/naps/{bad['id']}/delete")

    def away(self):
        """Where the console was: one request is answered with 503, and the next one's connection is lost. Returns what was asked but for
        heartbeats, which come when they come."""
        asked = []
        with socket.create_server(("127.0.0.1", self.port)) as place:
            place.settimeout(60)
            while len(asked) < 2:
                link, _ = place.accept()
                with link, link.makefile("rb") as told:
                    path = told.readline().split()[1].decode()
                    if path.endswith("/heartbeat"):
                        continue
                    asked.append(path.rpartition("/")[2])
                    headers = http.client.parse_headers(told)
                    told.read(int(headers["Content-Length"]))
                    if len(asked) == 1:
                        link.sendall(b"HTTP/1.1 503 Away\r\nContent-Length: 28\r\nConnection: close\r\n\r\n"
                                     b'{"error":{"message":"away"}}')
        return asked

    def test_the_examples_outlive_a_console(self):
        """It is away for a claim, and for the end of the run."""
        self.env["CULEX_HTTP"] = f"http://127.0.0.1:{self.port}"
        for name, words in example_workers(self.folder).items():
            before = self.get("/queues/naps")["totals"]
            self.tell("slow")
            self.stop()
            with subprocess.Popen(words, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as worker:
                self.addCleanup(worker.kill)
                self.assertEqual(self.away(), ["claim", "claim"], name)
                self.serve(port=self.port)
                self.until(lambda: self.get("/runs?queue=naps&state=active")["runs"])
                self.stop()
                (self.folder / "go").touch()
                self.assertEqual(self.away(), ["complete", "complete"], name)
                self.serve(port=self.port)
                self.assertEqual((worker.communicate(timeout=60)[1], worker.returncode), ("", 0), name)
            (self.folder / "go").unlink()
            after = self.get("/queues/naps")["totals"]
            self.assertEqual((after["done"], after["failed"]), (before["done"] + 1, before["failed"]), name)


class Access(Served):
    READ, ENQUEUE, OPERATE, WORK = "r" * 32, "e" * 32, "o" * 32, "w" * 32

    def tokens(self, text=None):
        path = self.folder / "tokens"
        path.write_text(text or f"# who\nread {self.READ}\nenqueue {self.ENQUEUE} shop\n\noperate {self.OPERATE} # all\n"
                        f"work {self.WORK}\n")
        path.chmod(0o600)
        return "--tokens", path

    def test_the_examples_say_that_a_token_is_wrong(self):
        self.fill()
        self.serve(*self.tokens())
        self.env |= {"CULEX_HTTP": f"http://127.0.0.1:{self.port}", "CULEX_TOKEN": "x" * 32}
        for name, words in example_workers(self.folder).items():
            done = subprocess.run(words, env=self.env, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""), (name, done.stderr))
            self.assertIn("token", done.stderr, name)
            self.assertLessEqual(len(done.stderr.splitlines()), 2, (name, done.stderr))

    def listed(self):
        """The id of a worker of another queue."""
        worker = subprocess.Popen([HELD, "--name", "one", "--isolation", "none"], env=self.env, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        head = {"Authorization": f"Bearer {self.READ}"}
        self.until(lambda: self.get("/workers", **head)["workers"])
        return self.get("/workers", **head)["workers"][0]["id"]

    def test_roles(self):
        self.fill()
        self.serve(*self.tokens())
        [run] = self.get("/runs?state=done", Authorization=f"Bearer {self.READ}")["runs"]
        one = f"/api/v1/runs/naps/{run['id']}"
        table = (("GET", "/api/v1/queues", "ro"), ("GET", "/api/v1/runs", "ro"), ("GET", one, "reo"),
                 ("GET", one + "/wait", "reo"), ("GET", "/api/v1/workers", "ro"), ("GET", "/api/v1/schemas", "reo"),
                 ("GET", "/api/v1/health", "reow"), ("GET", "/metrics", "ro"), ("GET", "/api/v1/limits", "ro"),
                 ("GET", "/api/v1/queues/naps/figures", "ro"), ("POST", "/api/v1/jobs/naps/wink", "eo"), ("POST", "/api/v1/jobs", "eo"),
                 ("POST", "/api/v1/queues/naps/pause", "o"), ("POST", "/api/v1/queues/naps/claim", "wo"),
                 ("POST", "/api/v1/queues/naps/bulk", "o"), ("POST", one + "/delete", "o"),
                 ("POST", f"/api/v1/workers/{self.listed()}/set", "o"))
        for verb in ("pause", "resume", "run", "delete"):  # who may is told that there is none
            for token in (self.READ, self.ENQUEUE, self.OPERATE, self.WORK):
                status, _, value = self.send("POST", f"/api/v1/schedules/naps/none/{verb}", Authorization=f"Bearer {token}")
                self.assertEqual((status, value["error"]["code"]), (404, "not_found") if token == self.OPERATE else (403, "role"))
        bodies = {"/api/v1/jobs": [], table[-1][1]: {"quiet": True}, "/api/v1/queues/naps/bulk": {"action": "retry", "error": "x"}}
        for method, path, allowed in table:
            body = bodies.get(path)
            for token in (self.READ, self.ENQUEUE, self.OPERATE, self.WORK):
                status, _, value = self.send(method, path, body, Authorization=f"Bearer {token}")
                self.assertEqual(status in (200, 201), token[0] in allowed, (method, path, token, value))
                if status not in (200, 201):
                    self.assertEqual((status, value["error"]["code"]), (403, "role"))
            for header in ({}, {"Authorization": "Bearer " + "x" * 32}, {"Authorization": "Basic " + self.OPERATE},
                           {"Authorization": "Bearer " + self.OPERATE[:-1]}, {"Authorization": "Bearer "},
                           {"Authorization": "Bearer " + self.OPERATE + "o"}, {"Authorization": "Bearer " + "o" * 9000}):
                status, headers, value = self.send(method, path, body, **header)
                self.assertEqual((status, headers["WWW-Authenticate"]), (401, "Bearer"), (path, header))
                self.refused(value, "token")
        self.assertEqual(self.send("GET", "/")[0], 200)
        self.assertEqual(self.send("GET", "/api/v1/openapi.json")[0], 200)
        self.assertEqual({line["who"] for line in self.lines_of_audit() if line["status"] < 400}, {"shop", "line 5"})
        for token in (self.READ, self.ENQUEUE, self.OPERATE):
            self.assertNotIn(token, self.log.read_text())

    def end(self, *words, program=CONSOLE, code=2, **user):
        done = subprocess.run([program, *words], env=self.env, capture_output=True, text=True, check=False, timeout=30,
                              cwd=self.folder, **user)
        self.assertEqual(done.returncode, code, (words, done.stderr))
        return done.stderr

    def test_what_it_does_not_start_with(self):
        self.assertIn("--tokens FILE", self.end("--listen", "0.0.0.0:0"))
        self.assertIn("ADDRESS:PORT", self.end("--listen", "7420"))
        self.assertIn("ADDRESS:PORT", self.end("--listen", "127.0.0.1:65536"))
        self.assertIn("another line has this token",
                      self.end(*self.tokens(f"read {self.READ} a\noperate {self.READ} b\n")))
        self.assertIn("--listen nowhere.invalid:1", self.end("--listen", "nowhere.invalid:1"))
        self.assertIn("--base", self.end("--base", "x"))
        self.assertIn("--base", self.end("--base", "/x/"))
        self.assertIn("1 to 10000", self.end("--connections", "0"))
        self.assertIn("No such file", self.end("--tokens", "nothing"))
        self.assertIn("--audit", self.end("--audit", "/nothing/here"))
        self.assertIn("too much", self.end("surplus"))
        self.assertIn("does not take --queue", self.end("--queue", "x"))
        self.assertIn("did you mean --listen?", self.end("--lisen", "x"))
        for text, part in (("operate short\n", "16 to 128"), (f"admin {self.READ}\n", "read, enqueue, work or operate"),
                           ("# nothing\n", "no token"), ("read\n", "16 to 128"), ("x" * 600, "too long"),
                           ("".join(f"read {at:032}\n" for at in range(257)), "more than 256")):
            told = self.end(*self.tokens(text))
            self.assertIn(part, told)
            self.assertNotIn(self.READ, told)
        _, path = self.tokens()
        path.chmod(0o640)
        self.assertIn("chmod 600", self.end("--tokens", path))
        self.env["CULEX_URL"] = "ftp://nowhere"
        self.assertIn("ftp", self.end("--listen", "127.0.0.1:0"))

    def test_keys_are_no_business_of_its(self):
        """Those in the environment are for the worker that was started beside it."""
        self.nap("enqueue", "ox")
        self.env["CULEX_KEYS"] = "nowhere"
        self.serve()
        self.assertEqual([queue["queue"] for queue in self.get("/queues")["queues"]], ["naps"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can lend a file")
    def test_tokens_that_root_lends(self):
        _, path = self.tokens()
        self.folder.chmod(0o755)
        no_group = "give it a group of this process, and mode 0440"
        for mode, user, group, answer in ((0o440, 0, 0, "ADDRESS:PORT"), (0o440, 0, 65534, "ADDRESS:PORT"), (0o440, 0, 1, "ADDRESS:PORT"),
                                          (0o440, 0, 2, "Permission denied"), (0o444, 0, 2, no_group), (0o444, 0, 0, no_group),
                                          (0o660, 0, 0, no_group), (0o644, 1, 1, "belongs to user 1"), (0o640, 65534, 0, "chmod 600")):
            path.chmod(mode)
            os.chown(path, user, group)
            self.assertIn(answer, self.end("--listen", "7420", "--tokens", path, user=65534, group=65534, extra_groups=[0, 1]))

    def test_the_command_becomes_it(self):
        folder = self.folder / "bin"
        folder.mkdir()
        for program in (CULEX, CONSOLE):
            shutil.copy(program, folder)
        self.env["LD_LIBRARY_PATH"] = str(CULEX.parents[2] / "runtime")
        shown = subprocess.run([CULEX, "console", "--help"], env=self.env, capture_output=True, text=True, check=True)
        self.assertIn("--read-only", shown.stdout)
        self.assertIn("--tokens FILE", self.end("--url", self.env["CULEX_URL"], "console", "--listen", "0.0.0.0:0",
                                                program=folder / "culex"))
        (folder / "culex-console").unlink()
        self.env["PATH"] = "/nowhere"
        self.assertIn("libmicrohttpd", self.end("console", program=folder / "culex", code=1))

    def test_names_of_hosts_and_pages_of_others(self):
        self.fill()
        self.serve("--host", "jobs.example,other.example")
        for host in ("127.0.0.1:9", "localhost", "LOCALHOST:80", "[::1]:7420", "10.1.2.3", "jobs.example", "other.example:443"):
            self.get("/queues", Host=host)
        for host in ("evil.example", "jobs.example.evil.example", "localhost.evil.example", "", "127.0.0.1.nip.io", "[::1"):
            self.refused(self.get("/queues", 403 if host != "[::1" else 200, Host=host), "host") if host != "[::1" else None
        own = f"http://127.0.0.1:{self.port}"
        self.post("/queues/naps/resume", Origin=own)
        self.post("/queues/naps/resume", Host="jobs.example", Origin="https://jobs.example")
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": own + ".evil.example"},
                        {"Origin": "http://127.0.0.1:1"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}):
            self.refused(self.post("/queues/naps/resume", None, 403, **headers), "origin")
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""):
            self.refused(self.post("/queues/naps/resume", None, 415, Content_Type=kind), "content_type")
        self.post("/queues/naps/resume", None, Content_Type="application/json; charset=utf-8")
        self.assertEqual(self.lines_of_audit()[-1]["what"], "resumeQueue")

    def test_refusals_are_audited(self):
        self.fill()
        self.serve(*self.tokens())
        bearer = {"Authorization": f"Bearer {self.OPERATE}"}
        for code, headers in ((401, {}), (401, {"Authorization": "Bearer " + "x" * 32}), (403, {"Authorization": f"Bearer {self.READ}"}),
                              (403, {**bearer, "Origin": "http://evil.example"}), (403, {**bearer, "Host": "evil.example"})):
            self.post("/queues/naps/pause", None, code, **headers)
            self.get("/queues", code, **headers) if code == 401 or "Host" in headers else None
        self.post("/queues/naps/claim", {}, 403, **{"Authorization": f"Bearer {self.READ}"})
        self.post("/queues/naps/pause", None, **bearer)
        self.assertEqual([(line["who"], line["what"], line["status"], line.get("refused")) for line in self.lines_of_audit()],
                         [("anybody", "pauseQueue", 401, "token"), ("anybody", "pauseQueue", 401, "token"),
                          ("line 2", "pauseQueue", 403, "role"), ("line 5", "pauseQueue", 403, "origin"),
                          ("anybody", "pauseQueue", 403, "host"), ("line 2", "claim", 403, "role"),
                          ("line 5", "pauseQueue", 200, None)])
        self.assertEqual({line["from"] for line in self.lines_of_audit()}, {"127.0.0.1"})
        self.stop()
        self.serve("--read-only")
        self.post("/queues/naps/pause", None, 403)
        self.post("/nothing", None, 404)
        [line] = self.lines_of_audit()
        self.assertEqual((line["what"], line["refused"]), ("pauseQueue", "read_only"))

    def test_headers_of_each_answer(self):
        self.serve()
        for path in ("/", "/api/v1/queues", "/api/v1/nothing"):
            _, headers, _ = self.send("GET", path)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertEqual(headers["Cache-Control"], "no-cache" if path == "/" else "no-store")
        status, _, text = self.send("HEAD", "/api/v1/health" if STORE == "redis" else "/")
        self.assertEqual((status, text), (200, b""))

    def test_read_only(self):
        self.fill()
        self.serve("--read-only")
        self.get("/runs")
        for path in ("/queues/naps/pause", "/jobs/naps/wink", "/jobs", "/workers/abba/set",
                     *(f"/schedules/naps/none/{verb}" for verb in ("pause", "resume", "run", "delete"))):
            self.refused(self.post(path, None, 403), "read_only")
        self.assertEqual(self.get("/health")["read_only"], True)

    def test_behind_a_proxy(self):
        self.fill()
        self.serve("--base", "/culex")
        self.assertEqual(self.send("GET", "/culex/api/v1/queues")[0], 200)
        status, headers, _ = self.send("GET", "/culex")
        self.assertEqual((status, headers["Location"]), (308, "/culex/"))
        for path in ("/api/v1/queues", "/culexx/api/v1/queues", "/"):
            self.assertEqual(self.send("GET", path)[0], 404)

    def test_audit_file(self):
        self.fill()
        path = self.folder / "audit"
        self.serve("--audit", path)
        self.post("/queues/naps/pause")
        self.get("/queues")
        [line] = self.lines_of_audit(path)
        self.assertEqual([line[name] for name in ("who", "from", "what", "path", "status")],
                         ["anybody", "127.0.0.1", "pauseQueue", "/api/v1/queues/naps/pause", 200])
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_an_audit_that_nobody_reads_holds_nobody_up(self):
        self.fill()
        console = subprocess.Popen([CONSOLE, "--listen", "127.0.0.1:0"], env=self.env, stderr=subprocess.PIPE)
        self.addCleanup(console.stderr.close)
        self.addCleanup(console.kill)
        self.port = int(re.search(rb"listening at http://127\.0\.0\.1:(\d+)", console.stderr.readline()).group(1))
        used = self.connect()
        for _ in range(1000):
            self.assertEqual(self.send("POST", "/api/v1/queues/naps/resume", connection=used)[0], 200)
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(console.stderr))
        reader.start()
        self.until(lambda: len(lines) > 100)
        self.assertEqual(self.send("POST", "/api/v1/queues/naps/resume", connection=used)[0], 200)
        console.terminate()
        self.assertEqual(console.wait(30), 0)
        reader.join()
        told = [json.loads(line) for line in lines if line.endswith(b"}\n") and line.startswith(b"{")]
        lost = sum(line["lines"] for line in told if line["what"] == "linesLost")
        whole = sum(line["what"] == "resumeQueue" for line in told)
        self.assertGreater(lost, 100)
        self.assertIn(whole + lost, (1000, 1001), "one may have been cut")

    def test_no_client_is_sent_the_audit_where_standard_error_is_closed(self):
        self.fill()
        place = self.folder / "console.sock"
        for closed in ((2,), (0, 2), (0, 1, 2)):
            without = " ".join(f"{number}>&-" for number in closed)
            console = subprocess.Popen(["sh", "-c", f'exec "$0" "$@" {without}', CONSOLE, "--listen", f"unix:{place}"], env=self.env)
            self.addCleanup(console.kill)
            self.until(lambda: place.exists() and self.is_open(place))
            for number in closed:
                self.assertEqual(os.readlink(f"/proc/{console.pid}/fd/{number}"), "/dev/null", closed)
            with socket.socket(socket.AF_UNIX) as link:
                link.connect(str(place))
                link.sendall(b"POST /api/v1/queues/naps/resume HTTP/1.0\r\nHost: any.name\r\n"
                             b"Content-Type: application/json\r\nContent-Length: 0\r\n\r\n")
                answer = link.makefile("rb").read()
            self.assertRegex(answer, rb"^HTTP/1\.[01] 200 ")
            console.terminate()
            self.assertEqual(console.wait(20), 0)

    def test_it_tells_failures_under_its_own_name(self):
        for words, code, part in ((["--listen", "7420"], 2, "ADDRESS:PORT"), (["--tokens", "/nowhere"], 2, "/nowhere"),
                                  (["--listen", "unix:/nowhere/at/all"], 1, "")):
            self.assertTrue(self.end(*words, code=code).startswith("culex-console: "), words)
            self.assertIn(part, self.end(*words, code=code))
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([CONSOLE, "--openapi"], env=self.env, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (3, "culex-console: cannot write the output\n"))

    def test_a_socket(self):
        self.fill()
        place = self.folder / "console.sock"
        for _ in range(2):
            console = subprocess.Popen([CONSOLE, "--listen", f"unix:{place}"], env=self.env, stderr=subprocess.PIPE, text=True)
            self.addCleanup(console.kill)
            self.assertIn(f"listening at unix:{place}", console.stderr.readline())
            self.assertEqual(place.stat().st_mode & 0o777, 0o600)
            with socket.socket(socket.AF_UNIX) as link:
                link.connect(str(place))
                link.sendall(b"GET /api/v1/queues HTTP/1.0\r\nHost: any.name\r\n\r\n")
                answer = link.makefile("rb").read()
            self.assertEqual(json.loads(answer.split(b"\r\n\r\n")[1])["queues"][0]["queue"], "naps")
            console.terminate()
            self.assertEqual(console.wait(20), 0)
            console.stderr.close()
            self.assertFalse(place.exists())
            with socket.socket(socket.AF_UNIX) as left:  # of one that was killed
                left.bind(str(place))


class Metrics(Served):
    """What Prometheus is told, read as strictly as that of a worker."""

    def scrape(self, accept=None, code=200, **headers):
        if accept:
            headers["Accept"] = accept
        status, told, text = self.send("GET", "/metrics", **headers)
        self.assertEqual(status, code, text)
        return told["Content-Type"], text.decode() if isinstance(text, bytes) else text

    def queues(self, *names):
        """Begins them, each with a run that waits for an hour."""
        schema = self.folder / "wink.json"
        schema.write_text(self.nap("schema", "wink"))
        for name in names:
            subprocess.run([CULEX, "enqueue", "wink", "--queue", name, "--schema", schema, "--delay", "1h"], env=self.env,
                           check=True, stdout=subprocess.DEVNULL)

    def samples(self, name):
        """Of a family: values by the labels."""
        kind, text = self.scrape(metrics_check.OPEN)
        self.assertEqual(kind, metrics_check.OPEN)
        return {tuple(value for _, value in labels): value
                for (_, labels), value in metrics_check.read(text).get(name, ("", {}))[1].items()}

    def test_what_is_told(self):
        self.fill()
        self.serve()
        self.queues("other", "a.b-c_d", "third")
        self.post("/queues/naps/pause")
        subprocess.run([CULEX, "capacity", "naps", "7"], env=self.env, check=True, stdout=subprocess.DEVNULL)
        runs = self.samples("culex_queue_runs")
        self.assertEqual({state: runs["naps", state] for state in ("scheduled", "waiting", "active", "done", "dead", "cancelled")},
                         {"scheduled": 0, "waiting": 1, "active": 0, "done": 1, "dead": 3, "cancelled": 0})
        self.assertEqual({queue for queue, _ in runs}, {"naps", "other", "a.b-c_d", "third"})
        self.assertEqual(self.samples("culex_queue_paused")["naps",], 1)
        self.assertEqual(self.samples("culex_queue_capacity")["naps",], 7)
        self.assertGreater(self.samples("culex_queue_oldest_waiting_seconds")["naps",], 0)
        self.assertEqual(self.samples("culex_queue_oldest_waiting_seconds")["third",], 0)
        self.assertEqual(self.samples("culex_queue_enqueued")["naps",], 5)
        ended = self.samples("culex_queue_ended")
        self.assertEqual([ended["naps", state] for state in ("done", "dead", "cancelled")], [1, 3, 0])
        self.assertEqual(self.samples("culex_queue_failed_attempts")["naps", "failed"], 3)
        for name, value in (("culex_store_up", 1), ("culex_queues", 4), ("culex_workers", 0), ("culex_console_requests_active", 1)):
            self.assertEqual(self.samples(name), {(): value}, name)
        [version] = self.samples("culex_build")
        self.assertIn(version[0], subprocess.run([CONSOLE, "--version"], capture_output=True, text=True, check=True).stdout)

    def test_both_formats(self):
        self.fill()
        self.serve()
        for accept in (None, "text/plain", "*/*", "text/plain;version=0.0.4;q=0.5"):
            kind, text = self.scrape(accept)
            self.assertEqual(kind, metrics_check.PLAIN)
            metrics_check.read(text, is_plain=True)
        both = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"
        self.assertEqual(self.scrape(both)[0], metrics_check.OPEN)
        if not shutil.which("promtool"):
            self.skipTest("no promtool")
        metrics_check.promtool_check(self.scrape()[1])

    def test_requests_are_counted(self):
        self.fill()
        self.serve()
        for _ in range(3):
            self.get("/queues")
        self.get("/runs/naps/5", 400)
        self.get("/nothing", 404)
        self.post("/queues/naps/pause", " " * 5000, 413)
        with socket.create_connection(("127.0.0.1", self.port)) as link:
            link.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            link.recv(1)
        self.scrape()
        told = self.samples("culex_console_requests")
        self.assertEqual(told, {("queues", "200"): 3, ("run", "400"): 1, ("none", "404"): 1, ("pauseQueue", "413"): 1,
                                ("stream", "200"): 1, ("metrics", "200"): 1})

    def test_a_store_that_is_away(self):
        if STORE == "redis":
            self.server.terminate()
            self.server.wait()
        self.serve()
        self.assertEqual(self.samples("culex_store_up"), {(): 0})
        self.assertEqual(self.samples("culex_queue_runs"), {})
        metrics_check.promtool_check(self.scrape()[1]) if shutil.which("promtool") else None

    def test_of_very_many_queues_the_first_are_told(self):
        self.nap("enqueue", "wink", "1")
        lines = [json.loads(line) for line in subprocess.run([CULEX, "export", "naps"], env=self.env, capture_output=True,
                                                             text=True, check=True).stdout.splitlines()]
        [run] = [line for line in lines if line["line"] == "run"]
        [queue] = [line for line in lines if line["line"] == "queue"]
        for number in range(1005):
            its = {"queue": f"q{number:04}"}
            lines[-1:-1] = [{**queue, **its}, {**run, **its, "id": f"{run['id'][:-4]}{number + 16:04x}"}]
        lines[-1]["runs"] = 1006
        subprocess.run([CULEX, "import", "--yes", "--copy", "q*"], env=self.env, check=True, stdout=subprocess.DEVNULL,
                       input="\n".join(json.dumps(line) for line in lines) + "\n", text=True)
        self.serve()
        begun = time.monotonic()
        self.assertEqual(self.samples("culex_queues"), {(): 1006})
        print(f"a scrape of a thousand queues took {(time.monotonic() - begun) * 1000:.0f} ms")
        self.assertEqual({queue for queue, _ in self.samples("culex_queue_runs")},
                         {"naps"} | {f"q{number:04}" for number in range(999)})

    def test_how_long_a_scrape_takes(self):
        self.fill()
        self.serve()
        self.queues("one", "two", "three", "four")
        connection, spans = self.connect(), []
        for _ in range(50):
            begun = time.monotonic()
            self.assertEqual(self.send("GET", "/metrics", connection=connection)[0], 200)
            spans.append(time.monotonic() - begun)
        spans.sort()
        print(f"a scrape of five queues took {spans[25] * 1000:.2f} ms, of 50 the slowest {spans[-1] * 1000:.2f} ms")
        self.assertLess(spans[25], 0.1)


class Bounds(Served):
    def raw(self, data, timeout=20):
        """What comes back for these bytes, until the server closes or says no more."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as link:
            try:
                link.sendall(data)
                link.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            text = b""
            try:
                while piece := link.recv(65536):
                    text += piece
            except ConnectionResetError:
                pass
        return text

    def memory(self, what="VmRSS"):
        text = pathlib.Path(f"/proc/{self.console.pid}/status").read_text()
        return int(text.split(what + ":")[1].split()[0]) // 1024

    def test_a_body_that_is_too_large(self):
        self.fill()
        self.serve()
        head = (b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n")
        before = self.memory()
        with socket.create_connection(("127.0.0.1", self.port), 20) as link:
            link.sendall(head % 100_000_000)
            answer = link.recv(65536)  # before any of the body
        self.assertTrue(answer.startswith(b"HTTP/1.1 413 "), answer)
        self.assertLess(self.memory(), before + 8)
        self.refused(self.post("/queues/naps/pause", " " * 5000, 413), "too_large")
        large = [{"queue": "naps", "job": "tell", "params": {"words": "x" * 900_000}}] * 4
        self.assertEqual(self.post("/jobs", large)["enqueued"], 4)
        status, _, value = self.send("GET", "/api/v1/queues", "{}", Content_Length="2")
        self.assertEqual((status, value["error"]["code"]), (413, "too_large"))
        chunked = (b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                   b"Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n")
        self.assertIn(b" 411 ", self.raw(chunked).split(b"\r\n")[0])
        for length in (b"-1", b"99999999999999999999999999", b"0x10", b"5, 5"):
            answer = self.raw(head.replace(b"%d", length) + b"[]")
            self.assertIn(answer[9:12], (b"400", b"413", b""), answer)

    def test_hostile_bytes(self):
        self.fill()
        self.serve()
        for data in (b"", b"\r\n\r\n", b"\0" * 5000, b"GET", b"GET / HTTP/9.9\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n",
                     b"GET /api/v1/runs/%00%00/%ff HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     b"GET /api/v1/runs?cursor=%00&limit=%ff&tag=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100000 + b"\r\n",
                     b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     b"GET /api/v1//runs HTTP/1.1\r\nHost: localhost\r\n\r\n", os.urandom(20000),
                     b"GET /api/v1/queues HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
                     b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Content-Length: 50\r\n\r\n[1,2"):
            self.raw(data)
        self.assertIn("%s%n", json.dumps(self.get("/runs/naps/%25s%25n", 400)))
        self.assertEqual(self.get("/queues")["queues"][0]["dead"], 3)

    def test_many_large_bodies_at_once(self):
        """Those that do not fit are told so before they are sent; small ones go on meanwhile."""
        self.fill()
        self.serve()
        body = json.dumps([{"queue": "naps", "job": "tell", "params": {"words": "x" * 1_000_000}}] * 4).encode()
        head = (f"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Expect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n").encode()
        before = self.memory("VmHWM")
        taken, refused = [], 0
        for _ in range(90):
            link = socket.create_connection(("127.0.0.1", self.port), 60)
            self.addCleanup(link.close)
            link.sendall(head)
            answer = link.recv(65536)
            if answer.startswith(b"HTTP/1.1 100 "):
                link.sendall(body[:-1])
                taken.append(link)
            else:
                self.assertTrue(answer.startswith(b"HTTP/1.1 503 "), answer)
                self.assertIn(b"Retry-After: 1\r\n", answer)
                refused += 1
        self.post("/jobs/naps/wink", None, 201)
        for link in taken:
            link.sendall(body[-1:])
        for link in taken:
            self.assertTrue(link.recv(65536).startswith(b"HTTP/1.1 200 "))
        peak = self.memory("VmHWM") - before
        self.until(lambda: self.memory("VmRSS") < before + 64)
        print(f"{len(taken)} bodies of 4 MB were taken, {refused} refused: {peak} MB at the most, "
              f"{self.memory('VmRSS') - before} MB behind them")
        self.assertEqual((len(taken), refused), (16, 74))
        self.assertLess(peak, 300)

    def test_a_header_that_comes_twice(self):
        """Whoever stands between may go by the other one."""
        self.fill()
        self.serve()
        post = b"POST /api/v1/queues/naps/pause HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        get = b"GET /api/v1/queues HTTP/1.1\r\nHost: localhost\r\n"
        for data in (get + b"Host: localhost\r\n\r\n", get + b"host: evil.example\r\n\r\n",
                     post + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
                     post + b"Content-Length: 2\r\ncontent-length: 40\r\n\r\n{}"):
            head, _, body = self.raw(data + get + b"\r\n").partition(b"\r\n\r\n")
            self.assertTrue(head.startswith(b"HTTP/1.1 400 "), (data, head))
            self.assertEqual(body.count(b"HTTP/1.1"), 0, "what stands behind it is no request")
            if body:  # some versions of libmicrohttpd answer by themselves
                self.assertIn(b"twice", body)
        self.assertEqual(self.get("/queues/naps")["paused"], False)

    def is_served(self):
        """Who comes while the last place is being freed may be sent away."""
        try:
            return self.send("GET", "/api/v1/queues")[0] == 200
        except OSError:
            return False

    def test_connections_are_bounded(self):
        self.fill()
        self.serve("--connections", "8")
        idle = [socket.create_connection(("127.0.0.1", self.port), 20) for _ in range(8)]
        self.until(lambda: len(list(pathlib.Path(f"/proc/{self.console.pid}/task").iterdir())) >= 9)
        late = self.connect(1)
        with self.assertRaises(OSError):
            late.request("GET", "/api/v1/queues")
            late.getresponse()
        for link in idle:
            link.close()
        self.until(self.is_served)

    def test_keep_alive(self):
        self.fill()
        self.serve()
        connection = self.connect()
        for _ in range(50):
            self.assertEqual(self.send("GET", "/api/v1/queues", connection=connection)[0], 200)
            self.assertEqual(self.send("POST", "/api/v1/jobs/naps/wink", connection=connection)[0], 201)
            self.assertEqual(self.send("GET", "/api/v1/nothing", connection=connection)[0], 404)

    def test_who_is_slow_is_let_go(self):
        self.fill()
        self.serve()
        with socket.create_connection(("127.0.0.1", self.port), 60) as link:
            link.sendall(b"GET /api/v1/queues HTTP/1.1\r\n")
            begun = time.monotonic()
            link.settimeout(1)
            while time.monotonic() - begun < 60:  # a byte now and then is no reason to stay
                try:
                    link.sendall(b"X")
                    if link.recv(1) == b"":
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
            self.assertLess(time.monotonic() - begun, 45)


class Away(Served):
    def test_a_store_that_is_not_there_yet(self):
        if STORE == "redis":
            self.server.terminate()
            self.server.wait()
        self.serve()
        self.assertIn("requests are told so until it is there", self.log.read_text())
        for _ in range(3):
            status, headers, value = self.send("GET", "/api/v1/queues")
            self.assertEqual((status, headers["Retry-After"]), (503, "2"))
            self.refused(value, "store_away")
        self.assertEqual(self.send("GET", "/")[0], 200)
        if STORE == "redis":
            self.redis()
        self.fill()
        self.until(lambda: self.send("GET", "/api/v1/queues")[0] == 200)

    def test_a_store_that_goes_and_comes_back(self):
        self.fill()
        self.serve()
        self.get("/queues")
        self.post("/jobs/naps/wink", None, 201)
        place = self.folder / "jobs.db"
        if STORE == "redis":
            self.server.terminate()
            self.server.wait()
            (self.folder / "redis.sock").unlink(missing_ok=True)
        else:
            for end in ("", "-wal", "-shm"):
                place.with_name("jobs.db" + end).rename(self.folder / f"old.db{end}")
        for method, path in (("GET", "/queues"), ("POST", "/jobs/naps/wink"), ("GET", "/runs"), ("GET", "/health")):
            status, headers, value = self.send(method, "/api/v1" + path)
            self.assertEqual(status, 503, value)
            self.assertIn("Retry-After", headers)
        if STORE == "redis":
            self.redis()
        self.fill()
        self.until(lambda: self.send("GET", "/api/v1/queues")[0] == 200)
        self.until(lambda: self.send("POST", "/api/v1/jobs/naps/wink")[0] == 201)

    def test_it_ends_at_once_when_it_is_told(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.serve()
            self.connect().connect()
            self.console.send_signal(number)
            self.assertEqual(self.console.wait(20), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
