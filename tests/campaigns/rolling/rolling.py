"""A rolling deploy, back and forth again: producers and workers of two versions of one schema.

usage: rolling.py PROGRAMS CULEXC CULEX_LIVE SOURCES STORE

    mixed      both producers and both workers at once
    back       the new worker is gone; the old one meets payloads of the new producer
    forward    the old worker is gone; the new one meets payloads of the old producer, and all that
               the old one gave back
    retired    runs of a job that the new version has retired

Every run must be executed exactly once, by a version that understands it, with the params that its
sender meant as far as that version knows them; none may fail, die or be charged for being given
back. Nothing here waits for luck: what a stage must have done is a condition with a deadline.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS, CULEXC, CULEX_LIVE, SOURCES = (pathlib.Path(word).resolve() for word in sys.argv[1:5])
STORE = sys.argv[5]
COUNT = 12  # numbers in each batch: every rule of `sent` and `seen` has several
DEADLINE = 30
JOBS = {"1": ["added_param", "removed_param", "added_value", "renamed_param", "renamed_job", "must",
              "widened", "raised", "relaxed"]}
JOBS["2"] = JOBS["1"] + ["added_job"]


def fail(text):
    sys.exit(f"FAILED: {text}")


# --- what a run carries ------------------------------------------------------------------------


def sent(version, job, n):
    """The params that this version's producer gives to run `n`; "-" for absent."""
    new = version == "2"
    params = {
        "added_param": {"to": f"to{n}"},
        "removed_param": {"to": f"to{n}"},
        "added_value": {"lang": ("EN", "IT", "FR")[n % 3] if new else ("EN", "IT")[n % 2]},
        "renamed_param": {"nick": f"nick{n}"},
        "renamed_job": {"to": f"to{n}"},
        "must": {"to": f"to{n}"},
        "widened": {"amount": (n if n % 2 == 0 else 100000 + n) if new else n - 5},
        "raised": {"text": f"text{n % 10}" if new and n % 2 else f"t{n % 10}",
                   "list": ",".join(str(i) for i in range(n % (5 if new else 3)))},
        "relaxed": {"why": "-" if new and n % 2 else f"why{n}"},
        "added_job": {"to": f"to{n}"},
    }[job]
    if job == "added_param" and new:
        params |= {"cc": f"cc{n}" if n % 2 else "-", "from": f"from{n}" if n % 3 == 0 else "shop"}
    if job == "removed_param" and not new:
        params["note"] = f"note{n}"
    if job == "must" and new:
        params["tenant"] = n + 100
    return params


def seen(version, sender, job, n):
    """What this version's handler gets of it; None when it must not run there."""
    params = sent(sender, job, n)
    if version == "1" and sender == "2":
        old_limits = {
            "removed_param": True,  # it has no note, which the old version requires
            "must": True,
            "added_job": True,
            "added_value": params.get("lang") == "FR",
            "widened": params.get("amount", 0) > 32767,
            "raised": len(params.get("text", "")) > 4 or params.get("list", "").count(",") > 1,
            "relaxed": params.get("why") == "-",
        }
        if old_limits.get(job, False):
            return None
        if job == "added_param":
            return {"to": params["to"]}
    if version == "2" and sender == "1":
        if job == "added_param":
            return params | {"cc": "-", "from": "shop"}
        if job == "removed_param":
            return {"to": params["to"]}
        if job == "must":
            return params | {"tenant": 7}
    return params


# --- programs ----------------------------------------------------------------------------------


def listens(address):
    """The socket is there before anybody listens to it."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(address)) == 0


class Stage:
    """The store, the workers that run now, and what has been sent so far."""

    def __init__(self, folder):
        self.folder = folder
        self.server = None
        self.workers = {}
        self.sent = {}  # n -> version of its producer
        self.out = folder / "out"
        self.out.touch()
        self.env = dict(os.environ, ROLLING_OUT=str(self.out))
        for name in list(self.env):
            if name.startswith("CULEX_"):
                del self.env[name]

    def store_start(self):
        if STORE == "sqlite":
            self.env["CULEX_URL"] = f"sqlite:{self.folder}/jobs.db"
            return
        if shutil.which("redis-server") is None:
            print("skipped: no redis-server")
            sys.exit(77)
        address = self.folder / "redis.sock"
        self.server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", address, "--save", "", "--dir",
             self.folder], stdout=subprocess.DEVNULL)
        self.until("redis-server listens", lambda: listens(address))
        self.env["CULEX_URL"] = f"redis+unix://{address}"

    def close(self):
        for version in list(self.workers):
            self.worker_stop(version)
        if self.server is not None:
            self.server.kill()
            self.server.wait()

    def until(self, what, condition):
        end = time.monotonic() + DEADLINE
        while not condition():
            if time.monotonic() > end:
                fail(f"not within {DEADLINE} s: {what}\n" + self.logs())
            time.sleep(0.02)

    def logs(self):
        return "\n".join(path.read_text()[-3000:] for path in sorted(self.folder.glob("*.log")))

    def producer(self, version, begin):
        numbers = range(begin, begin + COUNT)
        self.sent.update({n: version for n in numbers})
        return subprocess.Popen([PROGRAMS / f"rolling_v{version}", "enqueue", str(begin), str(COUNT)],
                                env=self.env)

    def worker_start(self, version, *options):
        log = self.folder / f"worker{version}.log"
        with open(log, "a", encoding="utf-8") as err:
            self.workers[version] = subprocess.Popen(
                [PROGRAMS / f"rolling_v{version}", "--concurrency", "2", "--batch", "4", *options],
                env=self.env, stderr=err)

    def worker_stop(self, version):
        worker = self.workers.pop(version)
        worker.send_signal(signal.SIGTERM)
        self.ended(worker, f"worker {version}")

    def ended(self, process, name):
        try:
            code = process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            process.kill()
            fail(f"{name} does not end\n" + self.logs())
        if code != 0:
            fail(f"{name} ends with {code}\n" + self.logs())

    def runs(self):
        """Of each run: state, job, and whether anything was charged."""
        text = subprocess.run([PROGRAMS / "rolling_v2", "state"], env=self.env, check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        return [line.split(" ", 5) for line in text.splitlines()]

    def is_settled(self):
        """Each run that was sent has ended or waits for a time of its own."""
        states = [run[0] for run in self.runs()]
        total = sum(len(JOBS[version]) for version in self.sent.values())
        return len(states) == total and not {"waiting", "active"} & set(states)

    def live(self):
        text = subprocess.run([CULEX_LIVE, "--queue", "rolling"], env=self.env, check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        return {(row["job"], row["fingerprint"]): row["runs"]
                for row in map(json.loads, text.splitlines()[:-1])}

    def executed(self):
        """(job, n) -> (version, params) of each execution, which may be only one."""
        found = {}
        for line in self.out.read_text().splitlines():
            version, job, n, *words = line.split(" ")
            if (job, int(n)) in found:
                fail(f"executed twice: {line}")
            found[job, int(n)] = version, dict(word.split("=", 1) for word in words)
        return found


# --- checks ------------------------------------------------------------------------------------


def fingerprints(version):
    """job -> (name in the store, fingerprint), as the compiler has it."""
    text = subprocess.run([CULEXC, "ir", SOURCES / f"v{version}" / "order.job"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return {job["name"]: (job["wire"], job["fingerprint"]) for job in json.loads(text)["files"][0]["jobs"]}


def expected_live(stage, is_left):
    """What is still to be executed, by name in the store and fingerprint."""
    counts = {}
    for n, sender in stage.sent.items():
        schema = fingerprints(sender)
        for job in JOBS[sender]:
            name = "second_name" if job == "renamed_job" and sender == "2" else job
            if is_left(sender, job, n):
                counts[schema[name]] = counts.get(schema[name], 0) + 1
    return counts


def check_live(stage, is_left):
    wanted, found = expected_live(stage, is_left), stage.live()
    if wanted != found:
        fail(f"culex-live: wanted {wanted}, found {found}")


def check_runs(stage, *states):
    """On a slow machine some that were given back may be due again by now."""
    for run in stage.runs():
        if run[0] not in states or run[2:5] != ["0", "0", "0"]:
            fail(f"a run is {run}\n" + stage.logs())


def check_executions(stage, is_left):
    executed = stage.executed()
    for n, sender in stage.sent.items():
        for job in JOBS[sender]:
            version, params = executed.pop((job, n), (None, None))
            if version is None and is_left(sender, job, n):
                continue
            if version is None:
                fail(f"{job} {n} of version {sender} was not executed\n" + stage.logs())
            wanted = seen(version, sender, job, n)
            if wanted is None:
                fail(f"version {version} executed {job} {n} of version {sender}: {params}")
            if {name: str(value) for name, value in wanted.items()} != params:
                fail(f"{job} {n} of {sender} at {version}: wanted {wanted}, got {params}")
    if executed:
        fail(f"nobody sent {executed}")


# --- the stages --------------------------------------------------------------------------------


def anything(_sender, _job, _n):
    return True


def nothing(_sender, _job, _n):
    return False


def not_for_old(sender, job, n):
    return seen("1", sender, job, n) is None


def mixed(stage):
    for begin, version in ((0, "1"), (COUNT, "2")):
        stage.ended(stage.producer(version, begin), "producer")
    check_live(stage, anything)  # nothing has run yet: every fingerprint is the compiler's
    producers = [stage.producer(version, begin)
                 for begin, version in ((2 * COUNT, "1"), (3 * COUNT, "2"))]
    stage.worker_start("1")
    stage.worker_start("2")
    for producer in producers:
        stage.ended(producer, "producer")
    stage.until("nothing waits", stage.is_settled)
    check_runs(stage, "done", "scheduled", "waiting", "active")
    check_executions(stage, not_for_old)


def back(stage):
    stage.worker_stop("2")
    first = 4 * COUNT
    stage.ended(stage.producer("2", first), "producer")
    stage.until("nothing waits", stage.is_settled)
    check_runs(stage, "done", "scheduled", "waiting", "active")
    check_executions(stage, not_for_old)
    executed = stage.executed()
    for n in range(first, first + COUNT):
        for job in JOBS["2"]:
            if ((job, n) in executed) == not_for_old("2", job, n):
                fail(f"with old workers only: {job} {n}")
    left = {(job, n) for n, sender in stage.sent.items() for job in JOBS[sender]} - set(executed)
    check_live(stage, lambda _sender, job, n: (job, n) in left)
    log = (stage.folder / "worker1.log").read_text()
    for text in (": not understood: ", "which this program does not know but must",
                 "no handler is registered for this job; given back"):
        if text not in log:
            fail(f"the old worker never said: {text}\n{log}")
    report = subprocess.run([PROGRAMS / "rolling_v1", "--doctor"], env=stage.env, check=False,
                            stdout=subprocess.PIPE, text=True).stdout
    for text in ("queue-unknown-job", "queue-not-understood"):
        if text not in report:
            fail(f"the doctor never said: {text}\n{report}")


def forward(stage):
    stage.worker_stop("1")
    stage.ended(stage.producer("1", 5 * COUNT), "producer")
    stage.worker_start("2", "--drain")
    stage.ended(stage.workers.pop("2"), "worker 2")
    check_runs(stage, "done")
    check_executions(stage, nothing)
    check_live(stage, nothing)


def retired(stage):
    subprocess.run([PROGRAMS / "rolling_v1", "gone", "1"], env=stage.env, check=True)
    stage.worker_start("2", "--drain")
    stage.ended(stage.workers.pop("2"), "worker 2")
    dead = [run for run in stage.runs() if run[0] == "dead"]
    if [(run[1], run[5]) for run in dead] != [("shop.gone", "the job is retired")]:
        fail(f"retired: {dead}")
    if stage.live() != {fingerprints("1")["gone"]: 1}:
        fail(f"a dead run may be retried, so it counts: {stage.live()}")
    if "gone" in stage.out.read_text():
        fail("a retired job was executed")


def main():
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(pathlib.Path(folder))
        try:
            stage.store_start()
            for play in (mixed, back, forward, retired):
                began = time.monotonic()
                play(stage)
                print(f"{play.__name__}: {time.monotonic() - began:.1f} s", flush=True)
            versions = [version for version, _ in stage.executed().values()]
            print(f"{len(versions)} runs, each executed once: {versions.count('1')} by the old "
                  f"version, {versions.count('2')} by the new one")
        finally:
            stage.close()


main()
