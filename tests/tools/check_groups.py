"""The members of a worker that form a group are written in the file of the group's name alone.

usage: check_groups.py REPOSITORY
A struct that worker/NAME.h declares and struct culex_worker holds is a group: whatever assigns to
it, or to a member of it, by way of the worker stands in worker/NAME.c. Others read it, or call.
Prints each other place.
"""
import pathlib
import re
import sys

FOLDER = "runtime/worker"
MEMBER = re.compile(r"^    (struct culex_\w+) (\w+);", re.M)
PATH = r"(?:\.\w+|\[[^\]]*\])*"
WRITTEN = PATH + r"\s*(?:(?:[-+*/|&^]|<<|>>)?=(?!=)|\+\+|--)"
# Of these the check must find the first ones and no other, or it finds nothing at all.
WRITES = ["worker->pace.average_ns = 1;", "lane->worker->pace = (struct culex_pace){0};", "worker->pace.held_count += 1;",
          "worker->pace.rows[i]++;", "    struct culex_pace *pace = &lane->worker->pace;"]
READS = ["if (worker->pace.average_ns == 1)", "x = worker->pace.held_count;", "    const struct culex_pace *pace = &worker->pace;",
         "f(&worker->pace);", "worker->pacer = 1;"]


def code_of(text: str) -> str:
    """`text` without comments and literals, each line where it was."""
    return re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.S)


def groups_of(folder: pathlib.Path) -> dict:
    """From the member's name to the file that may write it."""
    owners = {f"struct {name}": path.stem for path in folder.glob("*.h")
              for name in re.findall(r"^struct (culex_\w+) \{", path.read_text(), re.M)}
    body = re.search(r"^struct culex_worker \{\n(.*?)^\};", (folder / "worker_private.h").read_text(), re.M | re.S).group(1)
    return {member: owners[kind] for kind, member in MEMBER.findall(code_of(body)) if kind in owners}


def strangers(text: str, member: str) -> list:
    """The lines of `text` that write the group."""
    writes = [rf"\bworker->{member}{WRITTEN}", rf"^[ ]*struct \w+ \*\w+ = &(?:\w+->)*worker->{member}{PATH}[,;]"]
    return sorted({text.count("\n", 0, match.start()) + 1 for pattern in writes for match in re.finditer(pattern, text, re.M)})


def main() -> int:
    folder = pathlib.Path(sys.argv[1]) / FOLDER
    groups = groups_of(folder)
    found = 0
    if not all(strangers(line, "pace") for line in WRITES) or any(strangers(line, "pace") for line in READS):
        print("the check does not tell writes from reads any more")
        return 1
    for path in sorted(folder.glob("*.c")):
        text = code_of(path.read_text())
        for member, owner in groups.items():
            for line in strangers(text, member) if path.stem != owner else ():
                found += 1
                print(f"{FOLDER}/{path.name}:{line} writes worker->{member}, which is {owner}.c's")
    print(f"{len(groups)} groups, {found} strangers")
    return 1 if found or len(groups) < 5 else 0


sys.exit(main())
