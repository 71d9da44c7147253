"""Every file says in its first line what it is for.

usage: check_tops.py REPOSITORY
A .c file may leave that to the header of its name.
"""
import pathlib
import subprocess
import sys

OPENINGS = {".c": "/*", ".h": "/*", ".def": "/*", ".re": "/*", ".py": '"""', ".sh": "#", ".lua": "--", ".sql": "--"}
FOLDERS = ("codegen", "ops", "runtime", "tests")
# Not written by hand, or written to be compiled as it stands.
EXEMPT = ("/golden/", "/skeleton/", "/samples/", "/corpus/")


def is_told(path: pathlib.Path) -> bool:
    opening = OPENINGS[path.suffix]
    if "runtime" in path.parts and path.suffix == ".lua":  # the lines behind it are for prelude.py
        opening = f"-- {'/'.join(path.parts[-3:])} - "
    text = path.read_text().removeprefix("#!/usr/bin/env python3\n")
    header = path.with_suffix(".h")
    return text.startswith(opening) or path.suffix == ".c" and header.is_file() and header.read_text().startswith(opening)


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    listed = subprocess.run(["git", "-C", root, "ls-files", *FOLDERS], capture_output=True, text=True, check=False).stdout.split()
    names = listed or [p.relative_to(root).as_posix() for folder in FOLDERS for p in (root / folder).rglob("*") if p.is_file()]
    files = [name for name in names if pathlib.Path(name).suffix in OPENINGS and not any(part in f"/{name}" for part in EXEMPT)]
    silent = [name for name in files if (root / name).is_file() and (root / name).stat().st_size and not is_told(root / name)]
    for name in silent:
        print(f"{name}: its first line does not say what it is for")
    print(f"{len(files)} files")
    return 1 if silent or len(files) < 100 else 0


sys.exit(main())
