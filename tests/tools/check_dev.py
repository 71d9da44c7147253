"""Holds ./dev to its help: each verb that there is or that a page names is listed, each variable told,
and each comment that opens with a function's name stands above that function.

    check_dev.py TREE
"""

import pathlib
import re
import subprocess
import sys

OWN = {"MESON_TESTTHREADS"}  # set by ./dev, too


def pages(tree):
    patterns = ("*.md", "docs/**/*.md", "tests/**/*.md", "tests/**/meson.build", ".ci/*")
    return [page for pattern in patterns for page in tree.glob(pattern) if page.is_file()]


def named_verbs(tree):
    for page in pages(tree):
        for verb in re.findall(r"\./dev ([a-z]+)", page.read_text(encoding="utf-8")):
            yield verb, page.relative_to(tree)


def slipped_comments(text):
    functions = set(re.findall(r"^(\w+)\(\) \{", text, re.M))
    for block, below in re.findall(r"((?:^#.*\n)+)(.*)", text, re.M):
        first = re.match(r"# (\w+)(?=[ :])", block)
        if first and first[1] in functions and not below.startswith(first[1] + "()"):
            yield f"the comment of {first[1]} stands above: {below}"


def helpless(told):
    """The verbs that hand their arguments to nobody who would answer --help."""
    return [verb for verb, row in re.findall(r"^  ([a-z]+) +(\S.*)", told, re.M) if "--help" not in row and "ARGS go to" not in row]


def is_told(tree, verb):
    run = subprocess.run(["sh", str(tree / "dev"), verb, "--help"], capture_output=True, text=True, timeout=60, check=False)
    return run.returncode == 0 and f"  {verb} " in run.stdout


def faults(tree):
    text = (tree / "dev").read_text()
    told = subprocess.run(["sh", str(tree / "dev"), "help"], capture_output=True, text=True, check=True).stdout
    listed = set(re.findall(r"^  ([a-z]+) +\S", told, re.M))
    there = set(re.findall(r"^verb_(\w+)\(\)", text, re.M))
    yield from (f"./dev help does not list {verb}" for verb in there - listed)
    yield from (f"./dev {verb} --help does not tell what it does" for verb in helpless(told) if not is_told(tree, verb))
    yield from (f"{page} names ./dev {verb}" for verb, page in named_verbs(tree) if verb not in there | {"help"})
    variables = set(re.findall(r"\$\{(CULEX_\w+)", text)) | OWN
    yield from (f"./dev help does not tell {name}" for name in variables if name not in told)
    yield from slipped_comments(text)
    yield from (f"./dev installs by another verb than build: {line.strip()}" for line in text.splitlines()
                if "meson install" in line and "build-install" not in line)


def main(tree):
    found = sorted(set(faults(pathlib.Path(tree))))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
