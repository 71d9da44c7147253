"""The pages for people who work on the code name files by their path from the top, and each is there.

In a table whose first column is a folder, other cells may name files relative to it. ARCHITECTURE.md
has a row in its map for each room, and the map fits on one screen. Who looks for the words of a
diagnostic or of a finding finds each file that has some.

usage: paths_test.py REPOSITORY
"""
import pathlib
import re
import sys

PAGES = ["ARCHITECTURE.md", "CONTRIBUTING.md"]
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
SUFFIX = r"\.(?:c|h|def|re|lua|py|sh|md|job|build|txt|json|yaml|cmake|lock)"
PATH = re.compile(rf"[\w.*-]+(?:/[\w.*-]+)+/?|[\w*-]+{SUFFIX}")
THEIRS = {"culex.yaml", "jobs.lock", "hello_job.h"}  # files of users' projects
MAP_LINES, MAP_COLUMNS = 45, 120


def is_there(folder: pathlib.Path, name: str) -> bool:
    return any(folder.glob(name.rstrip("/")))


def folder_of(repository: pathlib.Path, line: str) -> pathlib.Path:
    """What the files of a table's row are relative to."""
    first = re.match(r"\| `([\w./-]+)` \|", line)
    folder = repository / first[1] if first else repository
    return folder if folder.is_dir() else repository


def faults(repository: pathlib.Path, page: str) -> list:
    found = []
    for line in FENCE.sub("", (repository / page).read_text()).splitlines():
        folder = folder_of(repository, line)
        for name in re.findall(r"`([^`]+)`", line):
            if PATH.fullmatch(name) and name not in THEIRS and not name.startswith("./") \
                    and not is_there(repository, name) and not is_there(folder, name):
                found.append(f"{page}: no `{name}`")
    return found


def rooms(repository: pathlib.Path) -> set:
    built = {str(path.parent.relative_to(repository)) for half in ("codegen", "ops", "runtime")
             for path in (repository / half).glob("*/meson.build")}
    top = {path.name for path in repository.iterdir() if path.is_dir()}
    return built | top - {"codegen", "ops", "runtime"}


def map_faults(repository: pathlib.Path) -> list:
    page = (repository / "ARCHITECTURE.md").read_text()
    lines = page[page.index("## Map\n"):page.index("\n## Where is")].splitlines()
    mapped = {name for line in lines for name in re.findall(r"`([^`]+)`", line.split("|")[1] if "|" in line else "")}
    own = {name for name in rooms(repository) if not name.startswith((".", "build", "__"))}
    wide = [line for line in lines if len(line) > MAP_COLUMNS]
    return ([f"the map has no row for {name}" for name in sorted(own - mapped)]
            + [f"the map has a row wider than {MAP_COLUMNS} columns: {line}" for line in wide]
            + [f"the map has {len(lines)} lines, more than {MAP_LINES}"] * (len(lines) > MAP_LINES))


def wording_faults(repository: pathlib.Path) -> list:
    page = (repository / "ARCHITECTURE.md").read_text()
    rows = re.findall(r"^\| (?:a diagnostic|a finding) .*$", page, re.M)
    named = {path for row in rows for name in re.findall(r"`([\w/*]+\.c)`", row) for path in repository.glob(name)}
    wording = {path for path in repository.glob("codegen/**/*.c")
               if re.search(r"^ +diag_report\(", path.read_text(), re.M)}
    return [f"no row about diagnostics and findings names {path.relative_to(repository)}"
            for path in sorted(wording - named)] + ["no file words a diagnostic"] * (not wording)


def main() -> int:
    repository = pathlib.Path(sys.argv[1])
    found = [fault for page in PAGES for fault in faults(repository, page)]
    found += map_faults(repository) + wording_faults(repository)
    print("\n".join(found) or "every path that is named is there")
    return 1 if found else 0


sys.exit(main())
