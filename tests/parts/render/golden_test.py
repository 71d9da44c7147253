"""Compares what is generated with the files in golden/, or accepts it with --accept.

    python3 golden_test.py [--accept]                      the cases of samples.py
    python3 golden_test.py [--accept] CULEXC FOLDER        its .job files, through `CULEXC gen`,
                                                           without those that it may not honour yet
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
import tempfile
from typing import Dict, List

from rendering import GOLDEN, files_of
from samples import CASES, WITHOUT_GOLDEN


# The last line of a C file of `culexc gen`: a digest of, among others, the renderer, so that each
# of its changes would be one of every golden file.
STAMP = re.compile(r"/\* culexc gen: [0-9a-f]{16} \*/\n\Z")


def main(arguments: List[str]) -> int:
    accept = "--accept" in arguments
    rest = [argument for argument in arguments if argument != "--accept"]
    folder = "feature" if rest else "sample"
    made = schema_files(*rest) if rest else sample_files()
    if not made:
        print("nothing was generated")
        return 1
    place = os.path.join(GOLDEN, folder)
    if accept:
        write_all(place, made)
        return 0
    return compare_all(place, made)


def sample_files() -> Dict[str, str]:
    made: Dict[str, str] = {}
    for name, case in CASES.items():
        if name not in WITHOUT_GOLDEN:
            made.update(files_of(case()))
    return made


def schema_files(culexc: str, folder: str) -> Dict[str, str]:
    made: Dict[str, str] = {}
    with tempfile.TemporaryDirectory() as out:
        for name in sorted(name for name in os.listdir(folder) if name.endswith(".job")):
            command = [culexc, "gen", "-I", folder, "--out", out, os.path.join(folder, name)]
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            if done.returncode != 0:
                raise SystemExit(f"{name}: exit {done.returncode}\n{done.stderr}")
        for name in os.listdir(out):
            with open(os.path.join(out, name), encoding="utf-8", newline="") as file:
                made[name] = STAMP.sub("", file.read())
    return made


def write_all(place: str, made: Dict[str, str]) -> None:
    os.makedirs(place, exist_ok=True)
    for name in os.listdir(place):
        os.unlink(os.path.join(place, name))
    for name, content in made.items():
        with open(os.path.join(place, name), "w", encoding="utf-8", newline="") as file:
            file.write(content)
    print(f"accepted {len(made)} files")


def compare_all(place: str, made: Dict[str, str]) -> int:
    expected = {}
    for name in sorted(os.listdir(place)):
        with open(os.path.join(place, name), encoding="utf-8", newline="") as file:
            expected[name] = file.read()
    different = [name for name in sorted({*expected, *made}) if expected.get(name) != made.get(name)]
    for name in different:
        old, new = expected.get(name, ""), made.get(name, "")
        diff = difflib.unified_diff(old.splitlines(), new.splitlines(), f"golden/{name}",
                                    f"generated/{name}", lineterm="")
        print("\n".join(list(diff)[:60]))
    print(f"{len(made)} files, {len(different)} of them differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
