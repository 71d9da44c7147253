"""The members of a worker, a lane or a flight that form a group are written in one file.

usage: check_groups.py REPOSITORY
A struct that worker/NAME.h declares and one of these three holds is a group: whatever assigns to
it, or to a member of it, stands in worker/NAME.c. Others read it, or call. Only who makes a flight
blank writes all of it. Some members stand alone and have their writers in SINGLE.
Prints each other place.
"""
import pathlib
import re
import sys

FOLDER = "runtime/worker"
MEMBER = re.compile(r"^    (struct culex_\w+) (\w+);", re.M)
PATH = r"(?:\.\w+|\[[^\]]*\])*"
HOLDERS = {"worker": "worker_private.h", "lane": "lane.h", "flight": "flight.h"}
MAKERS = {"flight": "flight_pool"}
# Members of no group.
SINGLE = {"state": {"flight_pool"}, "place": {"flight_pool"}, "flight_count": {"flight_pool"}, "pool": {"flight_pool"},
          "claimed_ns": {"flight"}, "deadline_ns": {"flight"}, "term_ns": {"flight", "flight_pool"},
          "is_excused": {"solitude", "flight_pool"}, "asked": {"overstay"}, "is_held": {"pace"}, "is_awaited": {"wake"},
          "nonce": {"lane"}, "refusal": {"greeting"}}
WRITTEN = PATH + r"\s*(?:(?:[-+*/|&^]|<<|>>)?=(?!=)|\+\+|--)"
# Of these the check must find the first ones and no other, or it finds nothing at all.
WRITES = ["worker->pace.average_ns = 1;", "lane->worker->pace = (struct culex_pace){0};", "worker->pace.held_count += 1;",
          "worker->pace.rows[i]++;", "    struct culex_pace *pace = &lane->worker->pace;",
          "worker->lanes[i].pace.count = 0;", "f(worker->lanes[i].pace.count--);", "x = ++lane->pace.count;",
          "    struct culex_pace *pace = &worker->lanes[i].pace;"]
READS = ["if (worker->pace.average_ns == 1)", "x = worker->pace.held_count;", "    const struct culex_pace *pace = &worker->pace;",
         "f(&worker->pace);", "worker->pacer = 1;"]


def code_of(text: str) -> str:
    """`text` without comments and literals, each line where it was."""
    return re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.S)


def groups_of(folder: pathlib.Path) -> dict:
    """From the member's name to the files that may write it."""
    owners = {f"struct {name}": path.stem for path in folder.glob("*.h")
              for name in re.findall(r"^struct (culex_\w+) \{", path.read_text(), re.M)}
    groups = dict(SINGLE)
    for holder, header in HOLDERS.items():
        body = re.search(rf"^struct culex_{holder} \{{\n(.*?)^\}};", (folder / header).read_text(), re.M | re.S).group(1)
        groups |= {member: {owners[kind], MAKERS.get(holder)} for kind, member in MEMBER.findall(code_of(body)) if kind in owners}
    return groups


def strangers(text: str, member: str) -> list:
    """The lines of `text` that write the group."""
    held = rf"(?:->|\]\.){member}\b"
    writes = [held + WRITTEN, rf"(?:\+\+|--)[\w.>\[\]-]*{held}", rf"^[ ]*struct \w+ \*\w+ = &[\w.>\[\]-]*{held}{PATH}[,;]"]
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
        for member, owners in groups.items():
            for line in strangers(text, member) if path.stem not in owners else ():
                found += 1
                print(f"{FOLDER}/{path.name}:{line} writes {member}, which is {' or '.join(sorted(filter(None, owners)))}'s")
    print(f"{len(groups)} groups, {found} strangers")
    return 1 if found or len(groups) < len(SINGLE) + 10 else 0


sys.exit(main())
