"""Packs the renderer so that it runs with python3 alone.

    python3 pack.py SOURCE_DIR OUTPUT_DIR DEPFILE

OUTPUT_DIR becomes the renderer, its templates, and in vendor/ the pure Python files
of the Jinja2 and MarkupSafe that belong to the Python running this script. They are
compiled too; the compiled files are checked by hash, so no time stamp gets in.
"""

from __future__ import annotations

import compileall
import importlib.metadata
import importlib.util
import os
import py_compile
import shutil
import sys
from typing import Dict, List

# import name, name of the distribution
VENDORED = {"jinja2": "Jinja2", "markupsafe": "MarkupSafe"}
LICENCE_WORDS = ("license", "licence", "copying")


def main(source: str, output: str, depfile: str) -> None:
    shutil.rmtree(output, ignore_errors=True)
    copies = own_files(source)
    for package, distribution in VENDORED.items():
        copies.update(package_files(package))
        copies.update(licence_files(package, distribution))
    for target, path in sorted(copies.items()):
        place = os.path.join(output, target)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copyfile(path, place)
    compile_all(output)
    os.utime(output)  # ninja compares the folder's own time
    # The folders too, so that a new file is seen.
    folders = [source, os.path.join(source, "templates")]
    write_depfile(depfile, output, folders + sorted(copies.values()))


def own_files(source: str) -> Dict[str, str]:
    """Target below the output folder, and where it comes from."""
    names = [name for name in os.listdir(source) if name.endswith(".py")]
    names += [os.path.join("templates", name)
              for name in os.listdir(os.path.join(source, "templates")) if name.endswith(".j2")]
    return {name: os.path.join(source, name) for name in names}


def package_files(package: str) -> Dict[str, str]:
    """Without compiled extensions: MarkupSafe has the same in Python."""
    folder = package_folder(package)
    names = [name for name in os.listdir(folder) if name.endswith(".py")]
    return {os.path.join("vendor", package, name): os.path.join(folder, name) for name in names}


def package_folder(package: str) -> str:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        sys.exit(f"pack.py: {sys.executable} has no module {package}")
    return os.path.dirname(spec.origin)


def licence_files(package: str, distribution: str) -> Dict[str, str]:
    """The licence text that must go with a copy, from where pip or Debian put it."""
    found: List[str] = []
    for file in importlib.metadata.files(distribution) or []:
        if any(word in file.name.lower() for word in LICENCE_WORDS):
            found.append(str(file.locate()))
    found.append(f"/usr/share/doc/python3-{package}/copyright")
    for path in found:
        if os.path.isfile(path):
            return {os.path.join("vendor", package, "LICENCE"): path}
    return {}


def compile_all(output: str) -> None:
    """Loading compiled modules halves the renderer's start; one of another Python ignores them."""
    compileall.compile_dir(output, quiet=1, stripdir=output, prependdir="render",
                           invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)


def write_depfile(depfile: str, output: str, inputs: List[str]) -> None:
    escaped = [path.replace("\\", "\\\\").replace(" ", "\\ ") for path in inputs]
    with open(depfile, "w", encoding="utf-8") as file:
        file.write(f"{os.path.relpath(output)}: " + " ".join(escaped) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
