"""A checker that cannot see proves nothing: each fault below, put into sound ledgers by hand, must
turn storm_check red, for the reason it is meant for.

usage: check_faults.py STORM_CHECK
"""

import pathlib
import subprocess
import sys
import tempfile

# Ids of the runs of a small storm.
CALM = "00000000-0000-7000-8000-000000000001"  # ends at once
TAKEN = "00000000-0000-7000-8000-000000000002"  # its first worker is killed
FAILS = "00000000-0000-7000-8000-000000000003"  # asks to fail for ever
BATCH = "00000000-0000-7000-8000-000000000004"  # of a batch
CRASH = "00000000-0000-7000-8000-000000000005"  # its first child is killed by the storm
UNSURE = "00000000-0000-7000-8000-000000000006"  # never acknowledged, never arrived

SOUND = {
    "driver.ledger": """
born worker 10 worker1 100 .
born worker 20 worker2 100 .
killed worker 10 worker1 2000 .
born worker 30 worker1 2100 .
killed child 21 child 2500 .
""" + 200 * "stopped worker 20 worker 2600 .\n",
    "producers.ledger": f"""
intend 101 plain PLAIN 0 .
acked 101 {CALM} .
intend 102 plain NAP 0 .
acked 102 {TAKEN} .
intend 103 deed FAIL 99 .
acked 103 {FAILS} .
intend 104 plain PLAIN 0 .
acked 104 {BATCH} .
intend 105 plain PLAIN 0 .
acked 105 {CRASH} .
intend 106 plain PLAIN 0 .
""",
    "workers.ledger": f"""
start {CALM} 1 {CALM}-0000000001-aaaa 10 10 PLAIN 0 101 1000 .
end {CALM} 1 done 1001 .
start {TAKEN} 1 {TAKEN}-0000000001-aaaa 10 10 NAP 0 102 1500 .
start {TAKEN} 2 {TAKEN}-0000000002-bbbb 22 20 NAP 0 102 2400 .
end {TAKEN} 2 done 2410 .
start {FAILS} 1 {FAILS}-0000000001-bbbb 22 20 FAIL 99 103 2420 .
end {FAILS} 1 fail 2421 .
start {FAILS} 2 {FAILS}-0000000002-bbbb 22 20 FAIL 99 103 2430 .
end {FAILS} 2 fail 2431 .
start {BATCH} 1 {BATCH}-0000000001-bbbb 22 20 PLAIN 0 104 2440 .
end {BATCH} 1 done 2441 .
start {CRASH} 1 {CRASH}-0000000001-bbbb 21 20 PLAIN 0 105 2450 .
start {CRASH} 2 {CRASH}-0000000002-cccc 30 30 PLAIN 0 105 2550 .
end {CRASH} 2 done 2551 .
""",
    "store.txt": f"""
run {CALM} calm D 1 0 0 0 0 41 aaaa storm.plain .
run {TAKEN} calm D 2 0 0 0 1 41 bbbb storm.plain .
run {FAILS} wild X 2 2 0 0 0 2 - storm.deed asked to fail .
run {BATCH} calm D 1 0 0 0 0 41 bbbb storm.plain .
run {CRASH} calm D 2 0 1 1 0 41 cccc storm.plain .
queue calm 4 4 0 1 1 0 0 1 .
queue wild 1 0 2 0 0 1 0 0 .
sound yes .
""",
}

# name, file, text, what it becomes, words of the objection
FAULTS = [
    ("an acknowledged run is gone", "store.txt",
     f"run {CALM} calm D 1 0 0 0 0 41 aaaa storm.plain .\n", "", "LOST"),
    ("an acknowledged run of a batch is gone", "store.txt",
     f"run {BATCH} calm D 1 0 0 0 0 41 bbbb storm.plain .\n", "", "LOST"),
    ("an acknowledged run still waits", "store.txt",
     f"run {CALM} calm D 1 0 0 0 0 41 aaaa", f"run {CALM} calm W 1 0 0 0 0 41 -", "LOST"),
    ("an acknowledged run is done that nobody ran", "workers.ledger",
     f"start {CALM} 1 {CALM}-0000000001-aaaa 10 10 PLAIN 0 101 1000 .\nend {CALM} 1 done 1001 .\n", "", "LOST"),
    ("a run has two records", "store.txt", "sound yes",
     f"run {CALM} calm D 1 0 0 0 0 41 aaaa storm.plain .\nsound yes", "DOUBLED: 2 records"),
    ("an attempt is granted to two sessions", "workers.ledger",
     f"start {TAKEN} 2 {TAKEN}-0000000002-bbbb", f"start {TAKEN} 1 {TAKEN}-0000000001-bbbb", "granted twice"),
    ("an attempt is granted twice to one session", "workers.ledger",
     f"end {CALM} 1 done", f"start {CALM} 1 {CALM}-0000000001-aaaa 10 10 PLAIN 0 101 1001 .\nend {CALM} 1 done",
     "granted twice"),
    ("the zombie's completion is recorded", "store.txt",
     f"run {TAKEN} calm D 2 0 0 0 1 41 bbbb", f"run {TAKEN} calm D 2 0 0 0 1 41 aaaa",
     f"done by {TAKEN}-0000000002-aaaa, but {TAKEN}-0000000002-bbbb ran"),
    ("a completion is recorded for a handler that never ended", "workers.ledger",
     f"end {TAKEN} 2 done 2410 .\n", "", "never ended so"),
    ("a failure is recorded as done", "workers.ledger",
     f"end {CALM} 1 done", f"end {CALM} 1 fail", "never ended so"),
    ("a completion is counted twice", "store.txt", "queue calm 4 4", "queue calm 4 5",
     "the store counts 5 done"),
    ("a dead run is not counted", "store.txt", "queue wild 1 0 2 0 0 1", "queue wild 1 0 2 0 0 0",
     "the store counts 0 dead"),
    ("a loss is counted twice", "store.txt", "queue calm 4 4 0 1 1", "queue calm 4 4 0 1 2",
     "the store counts 2 lost"),
    ("a run is enqueued twice", "store.txt", "queue calm 4", "queue calm 5",
     "the store counts 6 enqueued"),
    ("an innocent run is charged a failure", "store.txt",
     f"run {TAKEN} calm D 2 0 0 0 1 41", f"run {TAKEN} calm D 2 1 0 0 0 41",
     "1 failures, 0 of them said by a handler"),
    ("an innocent run is charged a crash nobody caused", "driver.ledger",
     "killed child 21 child 2500 .\n", "", "1 crashes, the storm killed it 0 times"),
    ("an innocent run is dead", "store.txt",
     f"run {CALM} calm D 1 0 0 0 0 41 aaaa", f"run {CALM} calm X 1 0 0 0 0 41 -",
     "dead with allowance left"),
    ("more is charged than was granted", "store.txt",
     f"run {CALM} calm D 1 0 0 0 0", f"run {CALM} calm D 1 0 0 0 1", "2 charges for 1 attempts"),
    ("a run is dead for another reason", "store.txt", "asked to fail", "struck by lightning",
     "another reason"),
    ("attempts go backwards", "store.txt", f"run {TAKEN} calm D 2", f"run {TAKEN} calm D 1",
     "attempt 2 ran, but the store only knows 1"),
    ("an order has brought two runs", "workers.ledger", "NAP 0 102 1500", "NAP 0 101 1500",
     "DOUBLED: order 101"),
    ("a repeat is answered with another run", "producers.ledger", f"acked 101 {CALM} .",
     f"acked 101 {CALM} .\nacked 101 {BATCH} .", "DOUBLED: order 101"),
    ("an order is acknowledged as another's run", "producers.ledger", f"acked 104 {BATCH}",
     f"acked 104 {CALM}", "DOUBLED: order 104"),
    ("runs come from nowhere", "producers.ledger", f"intend 104 plain PLAIN 0 .\nacked 104 {BATCH} .\n", "",
     "1 runs that nobody enqueued"),
    ("params are changed on the way", "workers.ledger", "FAIL 99 103 2420", "FAIL 98 103 2420",
     "other params"),
    ("stops that nobody noticed", "store.txt", "queue calm 4 4 0 1 1 0 0 1", "queue calm 4 4 0 1 1 0 0 0",
     "the stops did nothing"),
    ("the store's structure is not in order", "store.txt", "sound yes .\n", "", "not in order"),
    ("a producer is refused", "producers.ledger", "intend 106", "refused 106 .\nintend 106", "refused"),
    ("nothing was acknowledged", "producers.ledger", "acked", "intended", "nothing is proved"),
]


def checked(program, files):
    """Exit code and words of storm_check on a folder with these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        done = subprocess.run([program, folder], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stderr


def main():
    program = sys.argv[1]
    code, words = checked(program, SOUND)
    failures = [] if code == 0 else [f"sound ledgers are objected to: {words}"]
    for name, file, old, new, objection in FAULTS:
        if old not in SOUND[file]:
            failures.append(f"{name}: nothing to change in {file}")
            continue
        code, words = checked(program, {**SOUND, file: SOUND[file].replace(old, new)})
        if code != 1 or objection not in words:
            failures.append(f"{name}: not seen (exit code {code}): {words}")
    # A line that a dying writer tore is no evidence of anything, and none is missed.
    torn = SOUND["workers.ledger"].rstrip("\n") + f"\nstart {CALM} 2 dd"
    code, words = checked(program, {**SOUND, "workers.ledger": torn})
    if code != 0:
        failures.append(f"a torn last line is objected to: {words}")
    for line in failures:
        print(line, file=sys.stderr)
    print(f"{len(FAULTS)} faults, {max(0, len(FAULTS) - len(failures))} seen")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
