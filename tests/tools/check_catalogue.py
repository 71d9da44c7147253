"""Holds the table of tests/README.md to the tests: each name in it exists, each row has one.

    check_catalogue.py TREE BUILD
"""

import json
import pathlib
import re
import subprocess
import sys

ROWS = 45


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
    for number, cells in re.findall(r"^\| (\d+) \|(.*)\|$", text, re.M):
        yield int(number), re.findall(r"`([^`]+)`", cells.rsplit("|", 1)[1])


def main(tree, build):
    tests = pathlib.Path(tree) / "tests"
    known = names_in_sources(tests) | names_in_build(build)
    folders = {path.name for path in tests.glob("*/*") if path.is_dir()}
    rows, bad = {}, 0
    for number, names in rows_read((tests / "README.md").read_text()):
        rows[number] = names
        for name in names:
            is_file = any(tests.parent.rglob(name)) if "." in name else False
            is_group = name.endswith("*") and any(other.startswith(name[:-1]) for other in known)
            if name not in known and name not in folders and not is_file and not is_group:
                print(f"row {number}: no test is called {name}")
                bad += 1
    for number in range(1, ROWS + 1):
        if not rows.get(number):
            print(f"row {number} has no test")
            bad += 1
    print(f"{len(rows)} rows, {sum(map(len, rows.values()))} names, {bad} wrong")
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
