"""Include directions: who may see whom (ARCHITECTURE.md, "Layers").

usage: check_layers.py REPOSITORY
Names every include that goes the wrong way, third-party headers outside their one place, what only
Linux has outside the platform, the room that a port to another system writes anew, and folders of
stores that the build leaves out.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()

# The rooms of the runtime, each with the others that it includes from, and with what it sees of the
# store, whose other files are the stores' own. A child holds no secret, so it sees nothing of it.
RUNTIME = {
    "include/culex": ([], []),
    "include": (["include/culex"], []),
    "base": (["include/culex"], []),
    "core": (["include/culex", "base"], []),
    "platform": (["include/culex", "base"], []),
    "store": (["include/culex", "base", "core", "platform"], []),
    "log": (["include/culex", "base", "platform"], []),
    "settings": (["include/culex", "base", "core", "platform", "log"], ["store.h", "storeurl.h"]),
    "client": (["include/culex", "base", "core", "platform", "log", "settings"],
               ["store.h", "register.h", "storeurl.h", "event_entry.h", "figure_list.h", "limit_list.h", "list_filter.h", "metadata_list.h", "schedule_list.h", "schema_list.h", "template.h", "worker_list.h",
                "worker_sheet.h"]),
    "handler": (["include/culex", "base", "core", "platform", "log", "client"], ["store.h", "metadata_list.h"]),
    "child": (["include/culex", "base", "platform", "handler"], []),
    "executor": (["base", "core", "platform", "handler", "child"], []),
    "worker": (["include/culex", "base", "core", "platform", "log", "settings", "client", "handler", "executor", "metrics"],
               ["store.h", "register.h", "storeurl.h", "schema_list.h", "template.h", "worker_sheet.h"]),
    "program": (["include/culex", "base", "platform", "log", "settings", "worker"], []),
    "test": (["include", "base", "core", "platform", "settings", "client", "handler", "executor", "worker"],
             ["store.h", "verbs.def"]),
    "tools": (["include/culex", "base", "core", "settings", "client"], ["register.h", "storeurl.h"]),
    "producer": (["include/culex", "base", "client"], ["register.h"]),
    "seal": (["include/culex"], []),
    "metrics": ([], []),
}

# The rooms of the compiler, each with the others that it may include from; and what all of them
# share with the runtime, which is pure.
CODEGEN = {
    "base": [],
    "front": ["base"],
    "gen": ["base", "front"],
    "format": ["base", "front"],
    "lint": ["front"],
    "doc": ["base", "front"],
    "project": ["base", "front", "lint"],
    "change": ["base", "front", "project"],
    "server": ["base", "front", "format", "lint", "project", "change"],
    "cli": ["base", "front", "gen", "format", "lint", "doc", "project", "change", "server"],
}
SHARED = {"runtime/include/culex", "runtime/base", "runtime/core"}

# The rooms of operators' programs, each with the others that it may include from. Of the runtime
# they see what any program does.
OPS = {"command": [], "console": ["command"]}
# And what needs no store, and is compiled once more for them.
OPS_FILES = {"ops/console": {"core/exposition.h", "platform/secret_file.h"}}

# The folders of the stores. Each sees itself and what all stores share; nobody sees into one.
STORES = sorted(path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "runtime/store").glob("*/meson.build"))

# Folder -> the folders of ours that its files may include from.
ALLOWED = {
    **{f"runtime/{room}": {f"runtime/{name}" for name in [room, *seen]} for room, (seen, _) in RUNTIME.items()},
    **{folder: {f"runtime/{name}" for name in ["store", *RUNTIME["store"][0]]} | {folder} for folder in STORES},
    **{f"ops/{room}": {"runtime/include/culex"} | {f"ops/{name}" for name in [room, *seen]} for room, seen in OPS.items()},
    **{f"codegen/{room}": SHARED | {f"codegen/{name}" for name in [room, *seen]} for room, seen in CODEGEN.items()},
}
# Folder -> single headers that it may include besides.
ALLOWED_FILES = {f"runtime/{room}": {f"store/{name}" for name in headers} for room, (_, headers) in RUNTIME.items()} | OPS_FILES
# culex/sqlite.h is of one store by name: a run enqueued in a transaction of the caller's own.
# And a client's spool is a file, whatever its store is.
SINGLE_FILES = {"runtime/client/sqlite_enqueue.c": {"store/sqlite/borrow.h"},
                "runtime/client/spooling.h": {"store/sqlite/spool.h"}}


def libraries(folder: str) -> list[str]:
    """The libraries that the build of a store asks for."""
    return re.findall(r"\bdependency\('(\w+)'", (ROOT / folder / "meson.build").read_text())


# Third-party header -> pattern of the files that may include it.
THIRD_PARTY = {
    r"yaml\.h": r"codegen/project/reader",
    r"sodium\.h": r"runtime/seal/",
    r"microhttpd\.h": r"runtime/metrics/|ops/console/(http|request)\.",
    r"ini\.h": r"runtime/settings/config_file",
    **{rf"{library}(/|\.h)": f"{folder}/" for folder in STORES for library in libraries(folder)},
}
# What no other system has, by header or by call; and addresses of sockets that need no file.
LINUX_HEADER = (r"(sys/(epoll|eventfd|timerfd|signalfd|inotify|prctl|vfs|statfs|sysmacros|random|auxv)|linux/.*"
                r"|execinfo|ucontext|elf|link)\b")
LINUX_CALL = re.compile(r'\b(?:madvise|recvmmsg|sendmmsg|sigabbrev_np|pwritev2|preadv2|memfd_create|pidfd_\w+|gettid)\s*\('
                        r'|\bAF_UNSPEC\b|\bsun_path\s*(?:\+|\[)'
                        r'|"/(?:proc|sys)/')
# Where it may stand, as the file goes on without: a plain write, a hint of the doctor that is not given.
LINUX_PLACE = re.compile(r"runtime/platform/|runtime/log/stderr\.c|runtime/store/\w+/doctor\.c")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def stores_left_out() -> list[str]:
    """Folders with code of a store that has no row in stores.def."""
    rows = re.findall(r"^STORE\((\w+)\)$", (ROOT / "runtime/store/stores.def").read_text(), re.M)
    names = sorted({path.parent.name for path in (ROOT / "runtime/store").glob("*/*.c")})
    return [f"runtime/store/{name}: runtime/store/stores.def has no row of it, so it is not built"
            for name in names if name not in rows]


def owner(path: str) -> str:
    """The ALLOWED folder that `path` lies in."""
    return max((folder for folder in ALLOWED if path.startswith(folder + "/")), key=len, default="")


def target(source: pathlib.Path, name: str) -> str:
    """The repository path that an include means, or "" for a system header."""
    bases = [ROOT / "runtime", ROOT / "runtime/include", ROOT / "ops", source.parent]
    if "codegen" in source.relative_to(ROOT).parts:
        bases += sorted((ROOT / "codegen").iterdir())
    for base in bases:
        if (base / name).is_file():
            return (base / name).resolve().relative_to(ROOT).as_posix()
    return ""


def idle_rows(sources: list[pathlib.Path]) -> list[str]:
    """What the row of a room allows, and no file of it uses."""
    used = {folder: {folder} for folder in ALLOWED}
    for source in sources:
        for match in INCLUDE.finditer(source.read_text()):
            seen = target(source, match.group(2))
            used[owner(source.relative_to(ROOT).as_posix())] |= {owner(seen), match.group(2)}
    allowed = {f"codegen/{room}": {f"codegen/{name}" for name in rooms} for room, rooms in CODEGEN.items()}
    for room, (rooms, headers) in RUNTIME.items():
        allowed[f"runtime/{room}"] = {f"runtime/{name}" for name in rooms} | {f"store/{name}" for name in headers}
    return [f"{folder} includes nothing of {name}: its row need not allow it"
            for folder, names in allowed.items() for name in sorted(names - used[folder])]


def complaints(source: pathlib.Path) -> list[str]:
    path = source.relative_to(ROOT).as_posix()
    folder = owner(path)
    found = []
    for match in INCLUDE.finditer(source.read_text()):
        name = match.group(2)
        line = source.read_text()[:match.start()].count("\n") + 1
        for pattern, place in THIRD_PARTY.items():
            if re.match(pattern, name) and not re.match(place, path):
                found.append(f"{path}:{line}: {name} is for {place}* only")
        seen = target(source, name)
        singles = ALLOWED_FILES.get(folder, set()) | SINGLE_FILES.get(path, set())
        if seen and owner(seen) not in ALLOWED[folder] and name not in singles:
            found.append(f"{path}:{line}: {folder} must not include {seen}")
    return found


def linux_outside(source: pathlib.Path) -> list[str]:
    """What ties `source` to Linux, in a file of the runtime that is to know nothing of it."""
    path = source.relative_to(ROOT).as_posix()
    if not path.startswith("runtime/") or LINUX_PLACE.match(path):
        return []
    text = COMMENT.sub("", source.read_text())
    headers = [match.group(2) for match in INCLUDE.finditer(text) if re.match(LINUX_HEADER, match.group(2))]
    calls = [match.group().strip(" (") for match in LINUX_CALL.finditer(text)]
    return [f"{path}: {name} is for runtime/platform/" for name in headers + calls]


def main() -> int:
    sources = [p for folder in ("runtime", "codegen", "ops") for p in sorted((ROOT / folder).rglob("*"))
               if p.suffix in {".c", ".h", ".re", ".def"}]
    found = [text for source in sources for text in complaints(source) + linux_outside(source)]
    found += idle_rows(sources) + stores_left_out()
    print("\n".join(found) or f"{len(sources)} files, every include goes the right way")
    return 1 if found or len(sources) < 10 else 0


sys.exit(main())
