"""Holds the table of tests/README.md to the tests: each name in it exists, each row has one and a number of its own.

    check_catalogue.py TREE BUILD
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROWS_MIN = 60


def names_in_sources(tests):
    found = set()
    for path in tests.rglob("*.[ch]"):
        found.update(re.findall(r"\b(test_\w+)\(void \*\*", path.read_text(errors="replace")))
    found.update(re.findall(r"CASE\((\w+)\)", (tests / "stores/suite/cases.def").read_text()))
    return found


def names_in_build(build):
    listed = subprocess.run(["meson", "introspect", "--tests", str(build)], capture_output=True,
                            text=True, check=True).stdout
    names = {test["name"] for test in json.loads(listed)}
    return names | {name.removesuffix("_replay") for name in names}


def rows_read(text):
    for number, cells in re.findall(r"^\| (\d+[a-z]?) \|(.*)\|$", text, re.M):
        yield number, re.findall(r"`([^`]+)`", cells.rsplit("|", 1)[1])


def faults(tests, build, rows):
    known = names_in_sources(tests) | names_in_build(build) | {path.name for path in tests.glob("*/*") if path.is_dir()}
    for number, names in rows:
        for name in names:
            is_file = any(tests.parent.rglob(name)) if "." in name else False
            is_group = name.endswith("*") and any(other.startswith(name[:-1]) for other in known)
            if name not in known and not is_file and not is_group:
                yield f"row {number}: no test is called {name}"
        if not names:
            yield f"row {number} has no test"
    for number, times in collections.Counter(number for number, _ in rows).items():
        if times > 1:
            yield f"{times} rows have the number {number}"


def main(tree, build):
    tests = pathlib.Path(tree) / "tests"
    rows = list(rows_read((tests / "README.md").read_text()))
    found = list(faults(tests, build, rows))
    print("".join(fault + "\n" for fault in found), end="")
    print(f"{len(rows)} rows, {sum(len(names) for _, names in rows)} names, {len(found)} wrong")
    return 1 if found or len(rows) < ROWS_MIN else 0


sys.exit(main(*sys.argv[1:]))
