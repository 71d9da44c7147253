"""Shows that the storm bites: breaks the product in one place at a time and expects a red storm.

    mutants.py [--only TEXT]

Copies the tree to a temporary folder, builds it once, then changes one mechanism, rebuilds, and
lets a short storm rage, three times at most: what needs an unlucky moment does not come every
time. A mutant that survives all three is a hole (exit code 1). Takes minutes: not part of the
test run."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
STEP_LUA, STEP_C = "runtime/backend/redis_step.lua", "runtime/backend/sqlite_step.c"
ENQUEUE_LUA = "runtime/backend/redis_lib_enqueue.lua"
PROGRAMS = ["storm", "storm_worker", "storm_producer", "storm_dump", "storm_check"]
KILLS, TRIES = "120", 3

# What the fast path for plain successes would not let through, switched off.
SLOW = ("if attempt and text and done_settle", "if false and text and done_settle")

# What breaks, where, texts and what they become, the store that must notice.
MUTANTS = [
    ("no fence", STEP_LUA,
     [("r.state == ACTIVE and r.attempt == attempt and r.owner == session\nend", "r.state == ACTIVE\nend"), SLOW],
     "redis"),
    ("no attempt in the fence", STEP_LUA,
     [("r.attempt == attempt and r.owner == session\nend", "r.owner == session\nend"), SLOW], "redis"),
    ("no state in the fence", STEP_LUA,
     [("r.state == ACTIVE and r.attempt == attempt and r.owner == session\nend", "true\nend"), SLOW], "redis"),
    ("a lost run is not put back", STEP_LUA,
     [("leave(id, r, 'LOSS', 0, now, lease)", "lease_drops[#lease_drops + 1] = id")], "redis"),
    ("no fence", STEP_C,
     [("return run->attempt == attempt && strcmp(run->owner, session) == 0;",
       "(void)attempt, (void)session;\n    return run != NULL;")], "sqlite"),
    ("a zygote outlives its supervisor", "runtime/engine/zygote.c",
     [("if (getppid() != zygote->config->supervisor_pid)", "if (getppid() == 0)"),
      ("return (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0 || request_take(zygote);",
       "if (fds[0].revents & POLLIN)\n        request_take(zygote);\n    return true;")], "sqlite"),
    ("what a killed zygote leaves stays", "runtime/engine/executor_process.c",
     [("        group_kill(child);\n", "        (void)group_kill;\n")], "sqlite"),
    ("what a handler leaves stays when its worker is killed", "runtime/engine/zygote.c",
     [("    zygote_kill_all(&zygote);\n", "    (void)zygote_kill_all;\n")], "sqlite"),
]


def build_all(build):
    targets = [f"tests/storm/{program}" for program in PROGRAMS]
    return subprocess.run(["ninja", "-C", build, "-j2", *targets], capture_output=True, check=False).returncode == 0


def tree_copy(target):
    listed = subprocess.run(["git", "-C", TREE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (TREE / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TREE / name, target / name)
    build = target / "build"
    subprocess.run(["meson", "setup", build, target, "-Dtests=true"], stdout=subprocess.DEVNULL, check=True)
    if not build_all(build):
        sys.exit("mutants.py: the tree does not build as it is")
    return build


def killer(build, store):
    """What the storm objected to; None when it found all in order."""
    for seed in range(1, TRIES + 1):
        with tempfile.TemporaryDirectory(prefix="culex-storm-") as folder:
            ended = subprocess.run([build / "tests/storm/storm", store, "--kills", KILLS, "--seed", str(seed),
                                    "--folder", pathlib.Path(folder, "ledgers")],
                                   capture_output=True, text=True, timeout=300, check=False, errors="replace")
        if ended.returncode != 0:
            words = [line for line in ended.stderr.splitlines() if re.match("storm_check:|storm: FAULT", line)]
            return words[0] if words else f"exit code {ended.returncode}"
    return None


def mutant_try(tree, build, path, changes, store):
    original = changed = (tree / path).read_text()
    for old, new in changes:
        if changed.count(old) != 1:
            return f"STALE: '{old}' is there {changed.count(old)} times"
        changed = changed.replace(old, new)
    (tree / path).write_text(changed)
    try:
        return (killer(build, store) or "SURVIVED") if build_all(build) else "STALE: does not build"
    finally:
        (tree / path).write_text(original)


def main(arguments):
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else ""
    bad = 0
    with tempfile.TemporaryDirectory(prefix="culex-mutants-") as folder:
        tree = pathlib.Path(folder)
        build = tree_copy(tree)
        for name, path, changes, store in MUTANTS:
            if only not in name + path:
                continue
            verdict = mutant_try(tree, build, path, changes, store)
            bad += verdict.startswith(("SURVIVED", "STALE"))
            print(f"{pathlib.Path(path).name}: {name}: {verdict}", flush=True)
    print(f"{bad} mutants survived or are stale")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
