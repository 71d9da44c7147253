"""What prelude.py refuses: scripts of the Redis store that could be left half done, or read wrong.

usage: prelude_test.py REPOSITORY
Each case changes one text of one file in a copy of the folder and of verbs.def beside it, and expects
words of the refusal, or "none" where it is to be rendered.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

CASES = [
    ("limit.lua", "-- level: works", "-- level: reads", "a script that reads holds HDEL, HSET"),
    ("step.lua", "-- level: works", "-- level: produces", "a script that produces holds HLEN"),
    ("stats.lua", "-- level: reads", "-- level: looks", "unknown level 'looks'"),
    ("stats.lua", "-- level: reads\n", "", "no line '-- level:'"),
    ("probe.lua", "{'LSET', probe, 0, 'e'}, ", "", "step.lua: a script that works holds LSET"),
    ("stats.lua", "active done", "active gone", "unknown key 'gone'"),
    ("../verbs.def", "VERB(pause, MANAGES", "VERB(pause, READS",
     "a script that works, and in verbs.def its verb READS: ADDS or MANAGES is wanted"),
    ("../verbs.def", "VERB(tick, ADDS", "VERB(tick, MANAGES", "a script that produces, and in verbs.def its verb MANAGES"),
    ("../verbs.def", "VERB(list, READS", "VERB(list, ADDS", "a script that reads, and in verbs.def its verb ADDS"),
    ("../verbs.def", "VERB(fsck, READS", "VERB(fsck, MANAGES", "a script that repairs, and in verbs.def its verb MANAGES"),
    ("stats.lua", "local now = clock()", "\n".join(f"local a{at}" for at in range(200)), "locals at one time"),
    ("stats.lua", "local now = clock()", "local now, ended = clock()\nended = now", "none"),
    ("stats.lua", "local now = clock()", "local now =\n  (function()\nend)()", "its block does not begin at the margin"),
]


def refusal(runtime: pathlib.Path, name: str, old: str, new: str) -> str:
    with tempfile.TemporaryDirectory() as root:
        folder = shutil.copytree(runtime / "store/redis", pathlib.Path(root) / "redis")
        shutil.copy(runtime / "store/verbs.def", root)
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace(old, new, 1))
        made = subprocess.run(
            [sys.executable, folder / "prelude.py", runtime / "core/run_rules.def", folder / "out.c", folder / "out.h"],
            capture_output=True, text=True, check=False)
    return made.stderr if made.returncode else "none"


def main() -> int:
    runtime = pathlib.Path(sys.argv[1]) / "runtime"
    cases = [("stats.lua", "", "", "none"), *CASES]
    wrong = []
    for name, old, new, words in cases:
        said = refusal(runtime, name, old, new)
        if words not in said:
            wrong.append(f"{name}, '{old}': '{words}' is wanted, and the refusal is: {said}")
    print("\n".join(wrong) or f"{len(cases)} cases")
    return 1 if wrong else 0


sys.exit(main())
