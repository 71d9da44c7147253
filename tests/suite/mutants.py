"""Shows that the suite bites: breaks the stores one line at a time and expects a red test.

    mutants.py [--only TEXT] [--keep-going]

Copies the tree to a temporary folder, builds it once, then for each mutant below changes one
place, rebuilds, and runs the conformance suite and a short differential test on the store
concerned. A mutant that survives is a hole in the suite (exit code 1). Slow: not part of the
test run."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
LUA, SQL, RULES = "runtime/backend/redis_", "runtime/backend/sqlite_", "runtime/core/run_rules.def"

# What breaks, where, old text, new text, stores that must notice.
MUTANTS = [
    ("no attempt in the fence", LUA + "step.lua", "r.attempt == attempt and r.owner == session\nend",
     "r.owner == session\nend", "redis"),
    ("no session in the fence", LUA + "step.lua", "r.attempt == attempt and r.owner == session\nend",
     "r.attempt == attempt\nend", "redis"),
    ("no state in the fence", LUA + "step.lua", "return r.state == ACTIVE and r.attempt",
     "return r.attempt", "redis"),
    ("no memory of the step", LUA + "step.lua", "if last_nonce == nonce then",
     "if last_nonce == nil then", "redis"),
    ("a repeated done is stale", LUA + "step.lua", "return 'R'", "count('stale', 1) return 'S'", "redis"),
    ("a cancelled ghost is granted", LUA + "step.lua", "if r.state ~= WAITING or granted[id] then",
     "if granted[id] then", "redis"),
    ("expired runs start", LUA + "step.lua", "and now >= expires", "and false", "redis"),
    ("suspects come in company", LUA + "step.lua", "if is_suspect or bytes", "if bytes", "redis"),
    ("a suspect does not end the claim", LUA + "step.lua",
     "if is_suspect then is_enough = true end", "", "redis"),
    ("the first run counts as bytes", LUA + "step.lua", "bytes + #payload > max_bytes",
     "bytes + 2 * #payload > max_bytes", "redis"),
    ("beats pass the timeout", LUA + "step.lua", "if timeout > 0 then", "if timeout < 0 then", "redis"),
    ("an extension shortens", LUA + "step.lua", "math.max(tonumber(r.timeout_from_ms), now + extend - timeout)",
     "now + extend - timeout", "redis"),
    ("an extension does nothing", LUA + "step.lua", "now + extend - timeout)", "0)", "redis"),
    ("progress outlives its attempt", LUA + "step.lua", "write('HDEL', progress, progress_drops)", "", "redis"),
    ("progress is not written", LUA + "step.lua", "write('HSET', progress, progress_puts)", "", "redis"),
    ("a loss does not count itself", LUA + "step.lua", "r.losses + 1 .. ' of '", "r.losses .. ' of '", "redis"),
    ("a second beat forgets the first", LUA + "step.lua", "records[ids[at]] or texts[at]", "texts[at]", "redis"),
    ("a paused queue gives out", LUA + "step.lua", "if want > 0 and not is_paused then",
     "if want > 0 then", "redis"),
    ("the reap charges nothing", LUA + "step.lua", "leave(id, r, 'LOSS'", "leave(id, r, 'RELEASE'",
     "redis"),
    ("an ack leaves the lease", LUA + "lib_plan.lua", "write('ZREM', active, lease_drops)", "", "redis"),
    ("the payload leaks", LUA + "lib_plan.lua", "write('HDEL', payloads, payload_drops)", "", "redis"),
    ("the unique key leaks", LUA + "lib_plan.lua", "write('HDEL', unique, key_drops)", "", "redis"),
    ("ids are not remembered", LUA + "step.lua", "\n  remember(ids, now)", "", "redis"),
    ("a flagged run goes on", LUA + "lib_plan.lua", "then return CANCELLED end", "then end", "redis"),
    ("crash streak never ends", LUA + "lib_plan.lua", "r.crash_streak = 0", "r.crash_streak = r.crash_streak",
     "redis"),
    ("released to the back", LUA + "lib_plan.lua", "ready_put(id, r, true)", "ready_put(id, r, false)",
     "redis"),
    ("a retry keeps its counters", LUA + "retry.lua",
     "r.failures, r.crashes, r.crash_streak, r.losses = 0, 0, 0, 0", "", "redis"),
    ("a tick is taken twice", LUA + "tick.lua", "if mark and tick < mark + tonumber(ARGV[4])",
     "if mark and tick < mark", "redis"),
    ("a purged id is forgotten", LUA + "purge.lua", "remember(ids, now)", "", "redis"),
    ("no attempt in the fence", SQL + "step.c", "return run->attempt == attempt && strcmp",
     "return attempt == attempt && strcmp", "memory"),
    ("no session in the fence", SQL + "step.c",
     "run->attempt == attempt && strcmp(run->owner, session) == 0",
     "run->attempt == attempt && session != NULL", "memory"),
    ("no state in the fence", SQL + "step.c", "if (!is_mine || run.state != CULEX_RUN_ACTIVE)",
     "if (!is_mine)", "memory"),
    ("beats pass the timeout", SQL + "step.c", "if (limit_ms != 0 && at_ms", "if (limit_ms < 0 && at_ms",
     "memory"),
    ("an extension shortens", SQL + "step.c", " || limit_ms < run.limit_ms", "", "memory"),
    ("an extension does nothing", SQL + "step.c", "beat->extend_ms <= 0 ||", "beat->extend_ms >= 0 ||", "memory"),
    ("progress outlives its attempt", SQL + "statement.def", "iif(attempt = ?5, progress, NULL)", "progress",
     "memory"),
    ("a loss does not count itself", SQL + "step.c", "run->counters.losses + 1,", "run->counters.losses,",
     "memory"),
    ("no memory of the step", SQL + "memo.c", "== step->nonce;\n    culex_status", "== step->nonce + 1;\n    culex_status",
     "memory"),
    ("done is not kept for the lease", SQL + "run.c", "keep_ms < move->lease_ms", "keep_ms < 0",
     "memory"),
    ("lost runs go to the back", SQL + "run.c", " || move->event == CULEX_EVENT_LOSS", "", "memory"),
    ("ids are not remembered", SQL + "statement.def", "SELECT 1 FROM seen WHERE queue = ? AND id = ?",
     "SELECT 1 FROM seen WHERE queue = ? AND id = ? AND 0", "memory"),
    ("lower priority first", SQL + "statement.def", "SELECT max(priority) FROM run",
     "SELECT min(priority) FROM run", "memory"),
    ("a worker is forgotten in an hour", SQL + "statement.def",
     "memo.session = worker.session)", "memo.session = '')", "memory"),
    ("leases end a moment late", SQL + "statement.def",
     "state = 'A' AND\"\n          \" at_ms <= ? ORDER", "state = 'A' AND\"\n          \" at_ms < ? ORDER", "memory"),
    ("a retry keeps its expiry", SQL + "statement.def", "SET expires_at_ms = 0 WHERE",
     "SET expires_at_ms = expires_at_ms WHERE", "memory"),
    ("four crashes in a row", RULES, "CRASH_STREAK_MAX, 3", "CRASH_STREAK_MAX, 4", "memory redis"),
    ("eleven losses", RULES, "LOSSES_MAX, 10", "LOSSES_MAX, 11", "memory redis"),
    ("a suspect after three", RULES, "SUSPECT_LOSSES, 2", "SUSPECT_LOSSES, 3", "memory redis"),
    ("less slack", RULES, "TIMEOUT_SLACK_MS, 5000", "TIMEOUT_SLACK_MS, 4999", "memory redis"),
    ("a longer horizon", RULES, "ID_HORIZON_MS, 600000", "ID_HORIZON_MS, 600001", "memory redis"),
    ("a discard is not charged", RULES, "EVENT(DISCARD, 1,", "EVENT(DISCARD, 0,", "memory redis"),
    ("a crash goes to the front", RULES, "TRANSITION(ACTIVE, CRASH, SCHEDULED)",
     "TRANSITION(ACTIVE, CRASH, WAITING)", "redis"),
    ("done may be retried", RULES, "TRANSITION(DEAD, RETRY, WAITING)",
     "TRANSITION(DEAD, RETRY, WAITING)\nTRANSITION(DONE, RETRY, WAITING)", "redis"),
]


def tests_of(build, store):
    suite = build / "tests/suite"
    yield "conformance", [suite / "conformance", store]
    for seed in ("1", "2", "3"):
        yield "differential", [suite / "differential", store, "--ops", "5000", "--seed", seed]


def killer(build, store):
    """The test that went red, with its own words; None when all stayed green."""
    for name, command in tests_of(build, store):
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False,
                                 errors="replace")
        except subprocess.TimeoutExpired:
            return f"{name}: no end"
        if run.returncode != 0:
            lines = (run.stdout + run.stderr).splitlines()
            failed = [line for line in lines if "FAILED  ] " in line and "__" in line]
            word = failed[0].split("] ")[1] if failed else next(
                (line for line in lines if "difference" in line or "redis_check" in line), f"exit {run.returncode}")
            more = f" and {len(set(failed)) - 1} more" if len(set(failed)) > 1 else ""
            return f"{name}: {word}{more}"
    return None


def build_all(build):
    return subprocess.run(["ninja", "-C", build, "-j2", "tests/suite/conformance",
                           "tests/suite/differential"], capture_output=True, check=False).returncode == 0


def tree_copy(target):
    files = subprocess.run(["git", "-C", TREE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, files):
        if (TREE / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TREE / name, target / name)
    build = target / "build"
    subprocess.run(["meson", "setup", build, target, "-Dtests=true"], stdout=subprocess.DEVNULL,
                   check=True)
    if not build_all(build):
        sys.exit("mutants.py: the tree does not build as it is")
    return build


def try_mutant(tree, build, path, old, new, stores):
    original = (tree / path).read_text()
    if original.count(old) != 1:
        return [f"STALE: the text is there {original.count(old)} times"]
    (tree / path).write_text(original.replace(old, new))
    try:
        if not build_all(build):
            return ["STALE: does not build"]
        return [killer(build, store) or f"SURVIVED on {store}" for store in stores.split()]
    finally:
        (tree / path).write_text(original)


def main(arguments):
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else ""
    bad = 0
    with tempfile.TemporaryDirectory(prefix="culex-mutants-") as folder:
        tree = pathlib.Path(folder)
        build = tree_copy(tree)
        for name, path, old, new, stores in MUTANTS:
            if only not in name + path:
                continue
            for verdict in try_mutant(tree, build, path, old, new, stores):
                bad += verdict.startswith(("SURVIVED", "STALE"))
                print(f"{pathlib.Path(path).name}: {name}: {verdict}", flush=True)
    print(f"{bad} mutants survived or are stale")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
