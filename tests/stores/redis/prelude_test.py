"""What prelude.py refuses: scripts of the Redis store that could be left half done, or read wrong. And that
the digest of each is that of its text, or the server would be sent the text with each call.

usage: prelude_test.py REPOSITORY
Each case changes one text of one file in a copy of the folder and of verbs.def beside it, and expects
words of the refusal, or "none" where it is to be rendered.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CASES = [
    ("limit.lua", "-- level: works", "-- level: reads", "a script that reads holds HDEL, HSET"),
    ("step.lua", "-- level: works", "-- level: produces", "a script that produces holds LPOP"),
    ("stats.lua", "-- level: reads", "-- level: looks", "unknown level 'looks'"),
    ("stats.lua", "-- level: reads\n", "", "no line '-- level:'"),
    ("probe.lua", "{'ZREMRANGEBYRANK', probe, 0, 0}, ", "", "step.lua: a script that works holds ZREMRANGEBYRANK"),
    ("stats.lua", "active done", "active gone", "unknown key 'gone'"),
    ("../verbs.def", "VERB(pause, MANAGES", "VERB(pause, READS",
     "a script that works, and in verbs.def its verb READS: ADDS or MANAGES is wanted"),
    ("../verbs.def", "VERB(tick, ADDS", "VERB(tick, MANAGES", "a script that produces, and in verbs.def its verb MANAGES"),
    ("../verbs.def", "VERB(list, READS", "VERB(list, ADDS", "a script that reads, and in verbs.def its verb ADDS"),
    ("../verbs.def", "VERB(fsck, READS", "VERB(fsck, MANAGES", "a script that repairs, and in verbs.def its verb MANAGES"),
    ("stats.lua", "local now = clock()", "\n".join(f"local a{at}" for at in range(200)), "locals at one time"),
    ("stats.lua", "local now = clock()", "local now, dead = clock()", "'dead' is the name of a key"),
    ("stats.lua", "local now = clock()", "local ONE = 1\nlocal ONE = 2\nlocal now = clock()", "'ONE' is defined twice"),
    ("stats.lua", "local now = clock()", "local now = clock()\nlocal twice = 1\nlocal twice = 2", "'twice' is defined twice"),
    ("stats.lua", "local now = clock()", "local now, ended = clock()\nended = now", "none"),
    ("stats.lua", "local now = clock()", "local sum = 1\nlocal function sum_read() return sum end\n"
     "local made = {f = function() sum = 2 end, g = sum_read}\nlocal now = clock()",
     "'sum =' behind a function and within a table"),
    ("stats.lua", "local now = clock()", "local ONE = \"now\"\nlocal now = clock()", "only texts between ''"),
    ("stats.lua", "local now = clock()", "local ONE = [[now]]\nlocal now = clock()", "only texts between ''"),
    ("stats.lua", "local now = clock()", "local now =\n  (function()\nend)()", "its block does not begin at the margin"),
]


def digests_wrong(runtime: pathlib.Path) -> list[str]:
    """Names of scripts by whose digest the server does not find them."""
    with tempfile.TemporaryDirectory() as root:
        out = pathlib.Path(root) / "out.c"
        subprocess.run([sys.executable, runtime / "store/redis/prelude.py", runtime / "core/run_rules.def", out,
                        pathlib.Path(root) / "out.h"], check=True)
        source = out.read_text()
    texts = re.findall(r"^static const char (\w+)_text\[\] =\n(.*?);\n\n", source, re.M | re.S)
    digests = dict(re.findall(r'^    "(\w+)", CULEX__REDIS_\w+, "(\w+)"', source, re.M))
    wrong = [] if len(texts) == len(digests) > 0 else ["not all scripts were found"]
    for name, lines in texts:
        text = "".join(re.findall(r'^ +"(.*)"$', lines, re.M)).encode().decode("unicode_escape")
        if hashlib.sha1(text.encode()).hexdigest() != digests[name]:
            wrong.append(f"{name}: the digest is not that of its text")
    return wrong


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
    wrong = digests_wrong(runtime)
    for name, old, new, words in cases:
        said = refusal(runtime, name, old, new)
        if words not in said:
            wrong.append(f"{name}, '{old}': '{words}' is wanted, and the refusal is: {said}")
    print("\n".join(wrong) or f"{len(cases)} cases")
    return 1 if wrong else 0


sys.exit(main())
