"""Turns the files of a new project into C: skeleton.py OUT.c FILE..."""

import json
import pathlib
import sys

LITERAL_MAX = 4095  # what every compiler takes


def literal(text: str) -> str:
    if len(text.encode()) > LITERAL_MAX or not text.isascii():
        sys.exit("skeleton.py: a file is plain ASCII of 4095 bytes at most")
    return "\n        ".join(json.dumps(line) for line in text.splitlines(keepends=True))


def main(output: str, paths: list) -> None:
    rows = ""
    for path in map(pathlib.Path, paths):
        name = path.name.replace("gitignore", ".gitignore")
        rows += f'    {{"{name}",\n        {literal(path.read_text())}}},\n'
    pathlib.Path(output).write_text('/* Made by skeleton.py. */\n#include "skeleton.h"\n\n'
                                    "const struct skeleton_file skeleton_files[] = {\n"
                                    f"{rows}    {{0}},\n}};\n")


main(sys.argv[1], sys.argv[2:])
