"""Holds the lines of a JSON log to the list of members in docs/operating.md. usage: log_check.py LOG"""

import datetime
import json
import re
import sys

MEMBERS = {"time": str, "level": str, "queue": str, "job": str, "run": str, "attempt": int, "outcome": str,
           "duration_ms": float, "error": str, "next_at": str, "message": str}
INVISIBLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
# What a line of each outcome has beside the run.
NEEDED = {"done": {"duration_ms"}, "failed": {"duration_ms", "error", "next_at"},
          "crashed": {"error", "next_at"}, "dead": {"error"}, "released": {"next_at"}}


def line_check(text):
    line = json.loads(text)
    assert list(line) == [name for name in MEMBERS if name in line], "members and their order"
    for name, value in line.items():
        assert isinstance(value, MEMBERS[name]), f"{name} is {value!r}"
    for name in {"time", "next_at"} & set(line):
        datetime.datetime.strptime(line[name], "%Y-%m-%dT%H:%M:%S.%fZ")
    assert not INVISIBLE.search(text), "a character that is not seen"
    if "run" in line:
        assert {"queue", "job", "attempt"} <= set(line)
    if "outcome" in line:
        assert NEEDED[line["outcome"]] <= set(line), f"members of {line['outcome']}"
    return line


def begins_check(lines):
    """The next attempt is to come: never before this one's first line."""
    first = {}
    for line in lines:
        if "run" in line:
            began = first.setdefault((line["run"], line["attempt"]), line["time"])
            assert line.get("next_at", began) >= began, f"the next attempt is before this one: {line}"


def main(path):
    lines = []
    for text in open(path, encoding="utf-8", newline="\n").read().split("\n")[:-1]:
        try:
            lines.append(line_check(text))
        except (AssertionError, KeyError, ValueError) as error:
            sys.exit(f"{error!r} in: {text}")
    begins_check(lines)
    ends = {(line["job"], line["outcome"]): line for line in lines if "outcome" in line}
    wanted = {("nap", "done"), ("never", "failed"), ("crash", "crashed"), ("crash", "dead"), ("gone", "dead"),
              ("tell", "dead"), ("nap", "released")}
    assert wanted <= set(ends), f"no line of {wanted - set(ends)}"
    assert ends["nap", "done"]["duration_ms"] >= 10
    assert ends["never", "failed"]["error"] == "as always"
    assert "second line" in ends["tell", "dead"]["error"]
    assert {line["queue"] for line in ends.values()} == {"naps"}


main(sys.argv[1])
