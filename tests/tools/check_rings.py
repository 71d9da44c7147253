"""The call graph of the files has no ring: who calls a file is never called back by it.

usage: check_rings.py REPOSITORY
A file stands for its .c, its .h with the functions written out there, and its .def. What is called
through a table of functions is no arrow: that is what tables are for. Prints each ring with one call
for each of its arrows. A header that lists its room's files, callers first, lists them all, in that order.
"""
import collections
import pathlib
import re
import sys

# A room whose functions stand in the place of others of the same names.
DOUBLES = "producer"
SUFFIXES = {".c", ".h", ".re"}
BLANK = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
ROSTER = re.compile(r"(?:^ \*   |  )(\w+\.c)  ?", re.M)
# Headers with a list of their room's files, callers first.
ROSTERS = ["runtime/worker/worker_private.h", "runtime/executor/children.h", "runtime/store/redis/redis.h",
           "runtime/store/sqlite/sqlite.h", "runtime/test/kit.h"]
BODY = re.compile(r"^([A-Za-z_][^;{}=#]*?)\n\{$(.*?)^\}", re.M | re.S)


def plain(text: str) -> str:
    """`text` without comments and literals, each line where it was."""
    return BLANK.sub(lambda match: "\n" * match.group().count("\n") or " ", text)


def defined(text: str) -> tuple:
    """The functions that `text` defines for other files, and those for itself alone."""
    ours, own = set(), set()
    for head in BODY.finditer(text):
        found = [name for name in CALL.findall(head.group(1)) if name != "__attribute__"]
        (own if re.match(r"(static|inline)\b", head.group(1)) else ours).update(found[:1])
    return ours, own


def offered(path: pathlib.Path, text: str) -> set:
    """What other files may call: of a header all that it writes out."""
    ours, own = defined(text)
    return ours | own if path.suffix == ".h" else ours


def calls(path: pathlib.Path, text: str) -> list:
    """Each name that is called, and where. A header's prototypes look like calls, so there only the
    bodies are read."""
    spans = [body.span(2) for body in BODY.finditer(text)] if path.suffix == ".h" else [(0, len(text))]
    return [(call.group(1), call.start()) for span in spans for call in CALL.finditer(text, *span)]


def file_of(root: pathlib.Path, path: pathlib.Path) -> str:
    return path.relative_to(root).with_suffix("").as_posix()


def arrows(root: pathlib.Path, folder: str) -> dict:
    """From a file to the files that it calls, with the place and the name of one call."""
    texts = {path: plain(path.read_text()) for path in sorted((root / folder).rglob("*")) if path.suffix in SUFFIXES and path.parent.name != DOUBLES}
    owners = {name: file_of(root, path) for path, text in texts.items() for name in offered(path, text)}
    graph = collections.defaultdict(dict)
    for path, text in texts.items():
        source = file_of(root, path)
        own = defined(text)[1]
        for name, at in calls(path, text):
            target = source if name in own else owners.get(name, source)
            if target != source:
                line = text[:at].count("\n") + 1
                graph[source].setdefault(target, f"{path.relative_to(root)}:{line} calls {name}")
    return graph


def rings(graph: dict) -> list:
    """Tarjan: the sets of files that reach each other."""
    index, low, stack, found = {}, {}, [], []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in graph.get(node, ()):
            if target not in index:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == index[node]:
            ring = set()
            while node not in ring:
                ring.add(stack.pop())
            if len(ring) > 1:
                found.append(ring)

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def roster_faults(root: pathlib.Path, graph: dict, header: str) -> list:
    """Where the list of a room's files, each above those that it calls, is not as the room is."""
    room = (root / header).parent
    listed = ROSTER.findall((root / header).read_text().split("*/")[0])
    places = {file_of(root, room / name): at for at, name in enumerate(listed)}
    present = {file_of(root, path) for path in room.glob("*.c")}
    faults = [f"{header}: lists {name}, which is not there" for name in sorted(places.keys() - present)]
    faults += [f"{header}: does not list {name}" for name in sorted(present - places.keys())]
    for source in sorted(places):
        faults += [f"{call}, which {header} lists above it" for target, call in sorted(graph.get(source, {}).items())
                   if places.get(target, len(places)) < places[source]]
    return faults


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve()
    sys.setrecursionlimit(10000)
    count = faulty = 0
    for folder in ("runtime", "codegen", "ops"):
        graph = arrows(root, folder)
        if len(graph) < 10:
            print(f"{folder}: hardly any calls found, which cannot be")
            return 1
        faults = [fault for header in ROSTERS if header.startswith(folder) for fault in roster_faults(root, graph, header)]
        print(*faults, sep="\n", end="\n" if faults else "")
        faulty += len(faults)
        for ring in rings(graph):
            count += 1
            print(f"a ring of {len(ring)} in {folder}:")
            for source in sorted(ring):
                for target in sorted(set(graph[source]) & ring):
                    print(f"  {graph[source][target]}, of {target}")
    print(f"{count} rings" if count else "no file is called back by one that it calls")
    return 1 if count or faulty else 0


if __name__ == "__main__":
    sys.exit(main())
