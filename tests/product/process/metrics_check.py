"""Reads the metrics of a worker as strictly as their formats say, and tries what else may come to its port.

usage: metrics_check.py ADDRESS PID NAP REPOSITORY
NAP is `-` where the worker has run nothing yet.
"""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time

OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PLAIN = "text/plain; version=0.0.4; charset=utf-8"
SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\d+(?:\.\d+)?)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"')
SUFFIXES = {"counter": ["_total"], "gauge": [""], "info": ["_info"], "histogram": ["_bucket", "_count", "_sum"]}
BOUND = re.compile(r"\d+\.\d+|\+Inf")
LABELS = {"job_name", "queue", "outcome", "state", "version", "le", "route", "status"}


def connect(address):
    if address.startswith("unix:"):
        way = socket.socket(socket.AF_UNIX)
        way.connect(address[5:])
    else:
        host, port = address.rsplit(":", 1)
        way = socket.create_connection((host, int(port)))
    way.settimeout(60)
    return way


def ask(address, text):
    with connect(address) as way:
        way.sendall(text.encode())
        answer = b"".join(iter(lambda: way.recv(65536), b"")).decode()
    head, _, body = answer.partition("\r\n\r\n")
    status, *lines = head.split("\r\n")
    return int(status.split()[1]), dict(line.split(": ", 1) for line in lines), body


def get(address, accept=None, method="GET", path="/metrics"):
    accept = f"Accept: {accept}\r\n" if accept else ""
    return ask(address, f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{accept}\r\n")


def family_read(lines, is_plain):
    """One family, from its TYPE on: its name, type and samples, and what is left."""
    word, what, name, kind = lines[0].split(" ")
    assert (word, what) == ("#", "TYPE"), lines[0]
    lines = lines[1:]
    unit = None
    if lines[0].startswith("# UNIT "):
        assert not is_plain, lines[0]
        unit = lines[0].split(" ")[3]
        assert lines[0] == f"# UNIT {name} {unit}" and name.endswith("_" + unit)
        lines = lines[1:]
    assert is_plain or unit is not None or not name.endswith(("_seconds", "_bytes")), name
    assert re.fullmatch(rf"# HELP {name} [A-Z0-9].*\.", lines[0]), lines[0]
    lines = lines[1:]
    samples = {}
    while lines and not lines[0].startswith("#"):
        match = SAMPLE.fullmatch(lines[0])
        assert match, lines[0]
        labels = tuple(LABEL.findall(match[2] or ""))
        assert {label for label, _ in labels} <= LABELS, lines[0]
        assert (match[1], labels) not in samples, "twice: " + lines[0]
        samples[match[1], labels] = float(match[3])
        lines = lines[1:]
    suffixes = [""] if is_plain and kind != "histogram" else SUFFIXES[kind]
    assert {sample for sample, _ in samples} <= {name + suffix for suffix in suffixes}, name
    if kind == "histogram":
        histogram_check(name, samples)
    return name, kind, samples, lines


def histogram_check(name, samples):
    series = {}
    for (sample, labels), value in samples.items():
        if sample == name + "_bucket":
            bound = dict(labels)["le"]
            assert BOUND.fullmatch(bound), bound
            series.setdefault(tuple(label for label in labels if label[0] != "le"), []).append((float(bound), value))
    for labels, buckets in series.items():
        assert buckets == sorted(buckets) and len(set(bound for bound, _ in buckets)) == len(buckets), buckets
        assert [value for _, value in buckets] == sorted(value for _, value in buckets), buckets
        assert buckets[-1][0] == float("inf") and buckets[-1][1] == samples[name + "_count", labels], buckets
        assert (name + "_sum", labels) in samples, labels
    assert len(samples) == sum(len(buckets) + 2 for buckets in series.values()), name


def read(text, is_plain=False):
    """Families by name, each (type, samples)."""
    assert text.endswith("\n") and "\r" not in text and "\n\n" not in text
    lines = text[:-1].split("\n")
    if not is_plain:
        assert lines.pop() == "# EOF"
    assert "# EOF" not in lines
    families = {}
    while lines:
        name, kind, samples, lines = family_read(lines, is_plain)
        assert name not in families, "twice: " + name
        families[name] = kind, samples
    return families


def monotonic_check(before, after):
    for name, (kind, samples) in before.items():
        for key, value in samples.items():
            assert key in after[name][1], f"{key} has gone"
            if kind in ("counter", "histogram"):
                assert after[name][1][key] >= value, f"{key} went back"


def counts_check(families):
    ends = {tuple(value for _, value in labels): count
            for (_, labels), count in families["culex_runs_ended"][1].items() if count > 0}
    assert ends == {("wink", "naps", "done"): 40, ("count", "naps", "done"): 1, ("count", "naps", "failed"): 1,
                    ("count", "naps", "crashed"): 1}, ends
    ran = sum(count for (name, _), count in families["culex_run_duration_seconds"][1].items() if name.endswith("_count"))
    assert ran == 43, ran
    assert sum(families["culex_runs_dead"][1].values()) == 2
    states = {dict(labels)["state"]: count for (_, labels), count in families["culex_queue_runs"][1].items()
              if dict(labels)["queue"] == "naps"}
    assert states["dead"] == 2 and states["waiting"] == 0 and len(states) == 6, states
    assert families["culex_queue_paused"][1]["culex_queue_paused", (("queue", "naps"),)] == 0
    assert families["culex_concurrency"][1] == {("culex_concurrency", ()): 4}
    for process in "worker", "children":
        assert families[f"culex_{process}_memory_bytes"][1][f"culex_{process}_memory_bytes", ()] > 100000


def formats_check(address):
    for accept, wanted in [(None, OPEN), ("*/*", OPEN), ("application/openmetrics-text;version=1.0.0,text/plain;q=0.5", OPEN),
                           ("text/plain", PLAIN), ("text/plain;version=0.0.4;q=1,*/*;q=0.1", PLAIN)]:
        status, headers, body = get(address, accept)
        assert (status, headers["Content-Type"]) == (200, wanted), (accept, status, headers)
        read(body, is_plain=wanted == PLAIN)
    status, headers, body = get(address, method="HEAD")
    assert status == 200 and body == "" and int(headers["Content-Length"]) > 500, (status, headers, body)


def refusals_check(address):
    assert get(address, path="/")[0] == get(address, path="/metrics/")[0] == get(address, path="/../metrics")[0] == 404
    assert get(address, path="/metrics?x=1")[0] == 200
    for method in "POST", "PUT", "DELETE", "TRACE", "BREW":
        status, headers, _ = get(address, method=method)
        assert status == 405 and headers["Allow"] == "GET, HEAD", (method, status, headers)
    for big, statuses in [("GET /" + "x" * 100000 + " HTTP/1.1\r\n\r\n", (413, 414, 431)),
                          ("GET /metrics HTTP/1.1\r\nX: " + "x" * 100000 + "\r\n\r\n", (413, 431)),
                          ("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\nabc", (405,))]:
        try:
            assert ask(address, big)[0] in statuses, big[:20]
        except ConnectionError:
            pass  # what is not read to its end may end so


def crowd_check(address, pid):
    """A thousand that connect and say nothing take few descriptors; when they have gone, it answers as before."""
    is_file = address.startswith("unix:")
    place = address[5:] if is_file else (address.rsplit(":", 1)[0], int(address.rsplit(":", 1)[1]))
    crowd = [socket.socket(socket.AF_UNIX if is_file else socket.AF_INET) for _ in range(1000)]
    for each in crowd:
        each.setblocking(False)
        each.connect_ex(place)  # those that find no room wait to be taken in
    held = len(os.listdir(f"/proc/{pid}/fd"))
    assert held < 150, held
    for each in crowd:
        each.close()
    stop = time.monotonic() + 60
    while True:
        try:
            return read(get(address)[2])
        except (ConnectionError, IndexError):
            assert time.monotonic() < stop, "it answers no more"
            time.sleep(0.05)


def children_check(address, pid):
    """No descendant has the socket that listens."""
    port = int(address.rsplit(":", 1)[1])
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inode = next(row[9] for row in rows if int(row[1].split(":")[1], 16) == port and row[3] == "0A")
    holders, family = 0, [pid]
    for member in family:
        task = pathlib.Path(f"/proc/{member}/task")
        family += [child for path in task.glob("*/children") for child in path.read_text().split()]
        for number in pathlib.Path(f"/proc/{member}/fd").iterdir():
            holders += os.path.lexists(number) and os.readlink(number) == f"socket:[{inode}]"
    assert len(family) > 2 and holders == 1, (family, holders)


def dashboard_check(families, repository):
    """It shows what there is, all of it, and nothing else."""
    text = pathlib.Path(repository, "ops/grafana/culex-workers.json").read_text()
    json.loads(text)
    shown = set(re.findall(r"culex_[a-z_]+", text))
    there = {name: {name + suffix for suffix in SUFFIXES[kind]} for name, (kind, _) in families.items()}
    assert shown <= set().union(*there.values()), shown - set().union(*there.values())
    assert not [name for name, names in there.items() if not names & shown], "a metric is not shown"


def promtool_check(text):
    done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def main():
    address, pid, nap, repository = sys.argv[1:]
    first = read(get(address)[2])
    stop = time.monotonic() + 60
    while nap != "-" and sum(count for (_, labels), count in first["culex_queue_runs"][1].items()
                             if ("state", "dead") in labels) < 2:
        assert time.monotonic() < stop, "the deaths are not told"
        time.sleep(0.1)  # it looks every few seconds
        first = read(get(address)[2])
    if nap != "-":
        counts_check(first)
        children_check(address, pid)
        subprocess.run([nap, "enqueue", "wink", "0"], check=True)
    formats_check(address)
    refusals_check(address)
    monotonic_check(first, crowd_check(address, pid))
    dashboard_check(first, repository)
    promtool_check(get(address, "text/plain")[2])
    begin = time.monotonic()
    for _ in range(100):
        get(address)
    print(f"a scrape took {(time.monotonic() - begin) * 10:.2f} ms")


if __name__ == "__main__":
    main()
