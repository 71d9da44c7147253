"""The guide, followed to the letter: its files are written, its commands run in one folder in the
order of the page, and what they print is what the page says.

usage: guide.py REPOSITORY BUILD
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from first_job import environment

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)


def steps(page: str):
    """(file, text) or ("", commands, what they print) in the page's order."""
    found = list(BLOCK.finditer(page))
    for at, block in enumerate(found):
        language, name, text = block.groups()
        if name:
            yield name, text, ""
        elif language == "sh":
            after = found[at + 1] if at + 1 < len(found) else None
            is_shown = after and after.group(1) == "text" and page[block.end():after.start()].strip() == ""
            yield "", text, after.group(3) if is_shown else ""


def main() -> None:
    repository, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    page = (repository / "docs/guide.md").read_text()
    env = environment(build)
    programs = commands = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text, wanted in steps(page):
            if name:
                (pathlib.Path(folder) / name).write_text(text)
                programs += 1
                continue
            commands += 1
            done = subprocess.run(["sh", "-euc", text], cwd=folder, env=env, capture_output=True, text=True,
                                  check=False, timeout=120)
            if done.returncode != 0 or done.stdout != wanted:
                sys.exit(f"{text}exit {done.returncode}, printed {done.stdout!r}, not {wanted!r}\n{done.stderr}")
            if done.stderr:
                sys.exit(f"{text}complains:\n{done.stderr}")
    if programs < 9 or commands < 7:
        sys.exit(f"only {programs} files and {commands} commands were found")
    print(f"{programs} files and {commands} commands do what the guide says")


main()
