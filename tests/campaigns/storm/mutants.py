"""Shows that the storm bites: breaks the product in one place at a time and expects a red storm.

Copies the tree to a temporary folder, builds it once, then changes one mechanism, rebuilds, and
lets a short storm rage, three times at most: what needs an unlucky moment does not come every
time. Where the moment is too rare for that, the mutant names the test that makes it. A mutant that
survives is a hole (exit code 1). Takes minutes: not part of the test run."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[3]
ACKS_LUA, LEASES_LUA = "runtime/store/redis/lib_acks.lua", "runtime/store/redis/lib_leases.lua"
STEP_C = "runtime/store/sqlite/step.c"
PROGRAMS = ["storm", "storm_worker", "storm_producer", "storm_dump", "storm_check", "test_zygote"]
KILLS, TRIES = "120", 3

# What the fast path for plain successes would not let through, switched off.
SLOW = (ACKS_LUA, "if attempt and text and not (waits_end and is_awaited(id, now)) and done_settle", "if false and text and done_settle")

# The worker's own look at its clock keeps most late results from being sent at all: the fence is
# what stands behind it, so both are broken at once. With threads, as processes are killed besides.
FLIGHT_C, VERDICT_C = "runtime/worker/flight.c", "runtime/worker/verdict.c"
LATE = [(VERDICT_C, "if (has_begun && ended_ns(flight) >= flight->run.lease_ns)", "if (has_begun && flight->run.lease_ns < 0)"),
        (FLIGHT_C, "if (now_ns >= flight->run.lease_ns)", "if (flight->run.lease_ns < 0)")]
HOLDS = "r.state == ACTIVE and r.attempt == attempt and r.owner == session\nend"

# What breaks, its texts and what they become, and who must notice: a storm over a store with an
# isolation, or the test of that name.
MUTANTS = [
    ("no fence in Redis", [(LEASES_LUA, HOLDS, "r.state == ACTIVE\nend"), SLOW, *LATE], "redis", "none"),
    ("no state in the fence in Redis", [(LEASES_LUA, HOLDS, "true\nend"), SLOW, *LATE], "redis", "none"),
    ("a lost run is not put back in Redis",
     [(LEASES_LUA, "vanish(id, r, 'the lease of ' .. r.owner .. '-' .. r.attempt .. ' ran out', now)",
       "lease_drops[#lease_drops + 1] = id")], "redis", "process"),
    ("no fence in SQLite",
     [(STEP_C, "return run->attempt == attempt && strcmp(run->owner, session) == 0;",
       "(void)attempt, (void)session;\n    return run != NULL;"), *LATE], "sqlite", "none"),
    ("a repeat is done again in Redis",
     [("runtime/store/redis/lib_producers.lua", "if last and now <= call_until(last, ms) then", "if false then")], "redis", "none"),
    ("a repeat is done again in SQLite",
     [("runtime/store/sqlite/producer.c", "*ret_is_answered = true;", "*ret_is_answered = false;")], "sqlite", "none"),
    ("what a killed zygote leaves stays",
     [("runtime/executor/children_deaths.c", "        group_kill(child);\n", "        (void)group_kill;\n")],
     "killed_zygote_leaves_nothing_behind"),
    ("what a handler leaves stays when its worker is killed",
     [("runtime/child/zygote.c", "    zygote_kill_all(&zygote);\n", "    (void)zygote_kill_all;\n")],
     "isolation_ends"),
]


def build_all(build):
    targets = [f"tests/campaigns/storm/{program}" for program in PROGRAMS] + ["tests/parts/isolation/test_ends"]
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


def storm_objects(build, store, isolation):
    """What the storm objected to; None when it found all in order."""
    for seed in range(1, TRIES + 1):
        with tempfile.TemporaryDirectory(prefix="culex-storm-") as folder:
            ended = subprocess.run([build / "tests/campaigns/storm/storm", store, "--kills", KILLS, "--seed", str(seed),
                                    "--isolation", isolation, "--folder", pathlib.Path(folder, "ledgers")],
                                   capture_output=True, text=True, timeout=300, check=False, errors="replace")
        if ended.returncode != 0:
            words = [line for line in ended.stderr.splitlines() if re.match("storm_check:|storm: FAULT", line)]
            return words[0] if words else f"exit code {ended.returncode}"
    return None


def test_objects(build, name):
    ended = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", name],
                           stdout=subprocess.DEVNULL, timeout=900, check=False)
    return f"{name} is red" if ended.returncode != 0 else None


def mutant_try(tree, build, changes, *witness):
    objects = test_objects if len(witness) == 1 else storm_objects
    originals = {path: (tree / path).read_text() for path, _, _ in changes}
    try:
        for path, old, new in changes:
            text = (tree / path).read_text()
            if text.count(old) != 1:
                return f"STALE: '{old}' is there {text.count(old)} times"
            (tree / path).write_text(text.replace(old, new))
        return (objects(build, *witness) or "SURVIVED") if build_all(build) else "STALE: does not build"
    finally:
        for path, text in originals.items():
            (tree / path).write_text(text)


def chosen_read():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="TEXT", default="", help="those with TEXT in their name")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if options.only in mutant[0]]
    return chosen or parser.error(f"no mutant has '{options.only}' in its name")


def main():
    chosen = chosen_read()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="culex-mutants-") as folder:
        tree = pathlib.Path(folder)
        build = tree_copy(tree)
        for name, changes, *witness in chosen:
            verdict = mutant_try(tree, build, changes, *witness)
            bad += verdict.startswith(("SURVIVED", "STALE"))
            print(f"{name}: {verdict}", flush=True)
    print(f"{bad} mutants survived or are stale")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
