"""What prelude.py refuses: scripts of the Redis store that could be left half done, or read wrong.

usage: prelude_test.py REPOSITORY
Each case changes one text of one script in a copy of the folder, and expects words of the refusal,
or "none" where it is to be rendered.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

CASES = [
    ("limit.lua", "-- level: works", "-- level: reads", "a script that reads holds HDEL, HSET"),
    ("step.lua", "-- level: works", "-- level: produces", "a script that produces holds HDEL"),
    ("stats.lua", "-- level: reads", "-- level: looks", "unknown level 'looks'"),
    ("stats.lua", "-- level: reads\n", "", "no line '-- level:'"),
    ("probe.lua", "{'LSET', probe, 0, 'e'}, ", "", "step.lua: a script that works holds LSET"),
    ("stats.lua", "active done", "active gone", "unknown key 'gone'"),
    ("stats.lua", "local now = clock()", "\n".join(f"local a{at}" for at in range(200)), "locals at one time"),
    ("stats.lua", "local now = clock()", "local now, ended = clock()\nended = now", "none"),
    ("stats.lua", "local now = clock()", "local now =\n  (function()\nend)()", "its block does not begin at the margin"),
]


def refusal(runtime: pathlib.Path, name: str, old: str, new: str) -> str:
    with tempfile.TemporaryDirectory() as root:
        folder = shutil.copytree(runtime / "store/redis", pathlib.Path(root) / "redis")
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
