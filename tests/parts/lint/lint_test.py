"""What culexc lint says about schemas.

lint_test.py golden CULEXC    *.job, each in the tier that its first line names, against .expected
lint_test.py ids              every id has a case of its name that shows it, and a row in the manual
lint_test.py verb CULEXC      tiers, exit statuses, a schema with nothing to say about

`golden --accept`, at the end, writes the files that are compared with; then read the diff.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import goldens  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CASES = HERE
TIERS = ["minimal", "basic", "standard", "strict", "comments"]
TABLE = ROOT / "codegen" / "front" / "lint_ids.def"


def run(*arguments, folder=None):
    culexc = str(pathlib.Path(sys.argv[2]).resolve())
    done = subprocess.run([culexc, "lint", *arguments], cwd=folder, capture_output=True,
                          timeout=60, check=False)
    return done.returncode, done.stderr.decode()


def golden():
    is_good = True
    for case in sorted(CASES.glob("*.job")):
        tier = re.match(r"// tier: (\w+)\n", case.read_text()).group(1)
        status, messages = run("--tier", tier, case.name, folder=CASES)
        actual = f"{messages}exit {status}\n"
        is_good &= goldens.holds(case.with_suffix(".expected"), actual, sys.argv[-1] == "--accept")
    return is_good


def table():
    return re.findall(r'^LINT\(\w+,\s*"([a-z0-9-]+)",\s*([A-Z]+),', TABLE.read_text(), re.M)


def ids():
    """The case of an id shows it once at least, and once it is not in a tier that is too low."""
    manual = (ROOT / "schemas" / "README.md").read_text().partition("\n| id | tier | finds |\n")[2]
    manual = manual.partition("\n\n")[0]
    rows = re.findall(r"^\| `([a-z-]+)` \| ([a-z]+) \|", manual, re.M)
    faults = []
    for slug, tier in table():
        case = CASES / f"{slug if slug != 'file-name' else 'file-Name'}.job"
        shown = case.with_suffix(".expected")
        if not shown.exists() or f"[{slug}]" not in shown.read_text():
            faults.append(f"{slug}: no case shows it")
        elif not case.read_text().startswith(f"// tier: {tier.lower()}\n"):
            faults.append(f"{slug}: its case is of another tier")
        if (slug, tier.lower()) not in rows:
            faults.append(f"{slug}: not in the manual as {tier.lower()}")
    print(f"{len(table())} ids; {faults}")
    return len(table()) >= 37 and not faults and len(rows) == len(table())


def verb():
    """Each tier has the ids of those before it; the rest of the command line."""
    of_tier = {tier: {slug for slug, at in table() if at.lower() == tier} for tier in TIERS}
    allowed = set()
    for tier in TIERS:
        allowed = of_tier[tier] | (allowed if tier != "comments" else set())
        seen = set()
        for case in sorted(CASES.glob("*.job")):
            status, messages = run("--tier", tier, case.name, folder=CASES)
            found = set(re.findall(r"\[([a-z-]+)\]$", messages, re.M))
            assert status == (1 if found else 0), (case.name, messages)
            seen |= found
        assert seen == allowed, (tier, seen ^ allowed)
    by_default = run("strict.job", folder=CASES)[0]
    assert by_default == 3, "a file that is not there"
    assert run("--tier", "none", "no-package.job", folder=CASES)[0] == 2, "no such tier"
    assert run()[0] == 2, "no file"
    status, messages = run("--tier", "minimal", "--tier", "comments", "no-package.job", folder=CASES)
    assert status == 1 and "[undocumented-job]" in messages and "[no-package]" not in messages
    status, messages = run("optional-bool.job", "no-timeout.job", "no-timeout.job", folder=CASES)
    assert status == 1 and messages.count("warning:") == 1, messages
    assert run(HERE / "clean.job", "--tier", "strict", "--tier", "comments") == (0, "")
    with tempfile.TemporaryDirectory() as name:
        broken = pathlib.Path(name) / "broken.job"
        broken.write_text("job j { timeout 1x; }\n")
        status, messages = run(str(broken))
        assert status == 1 and "error:" in messages and "warning:" not in messages, messages
        switches(name)
        others(name)
        fresh(name)
    return True


def others(folder):
    """A type or policy is used when a file that is named with it does, whatever its path there."""
    folder = pathlib.Path(folder)
    (folder / "lib").mkdir()
    (folder / "lib" / "kinds.job").write_text("package k;\nenum colour { NONE = 0 }\nenum size { NONE = 0 }\n"
                                              "retry_policy calm { max 3; }\njob own;\n")
    (folder / "user.job").write_text('package u;\nimport "lib/kinds.job";\nenum size { NONE = 0 }\njob a {\n'
                                     "    params { k.colour c; size s; }\n    retry k.calm;\n}\n")
    status, messages = run("lib/kinds.job", folder=folder)
    assert status == 1 and messages.count("nothing in this file uses") == 3, messages
    for files in [["lib/kinds.job", "user.job"], ["user.job", "-I", ".", "./lib/../lib/kinds.job"]]:
        status, messages = run("-Wno-no-timeout", *files, folder=folder)
        assert status == 1 and messages.count("warning:") == 1, messages
        assert "nothing in this file or the others uses 'size'" in messages, messages


def fresh(folder):
    """What culexc init writes has nothing to be said about."""
    culexc = str(pathlib.Path(sys.argv[2]).resolve())
    subprocess.run([culexc, "init", "fresh"], cwd=folder, stdout=subprocess.DEVNULL, timeout=60, check=True)
    schemas = [str(path) for path in (pathlib.Path(folder) / "fresh").glob("*.job")]
    assert schemas and run(*schemas) == (0, ""), run(*schemas)


def switches(folder):
    """-W, formats and allow comments reach lint's rules as they reach the checker's."""
    case = pathlib.Path(folder) / "case.job"
    case.write_text("package p;\njob a { params { optional bool b; } } // culexc:allow(optional-bool)\n"
                    "job c { params { string s; } } // culexc:allow(float-money)\n")
    status, messages = run("-Wno-unused-allow", str(case))
    assert (status, messages) == (0, ""), messages
    status, messages = run(str(case))
    assert status == 1 and "[unused-allow]" in messages and "[optional-bool]" not in messages
    status, messages = run("-Wno-unused-allow", "-Wstring-unbounded", str(case))
    assert status == 1 and messages.count("warning:") == 1, messages
    culexc = str(pathlib.Path(sys.argv[2]).resolve())
    done = subprocess.run([culexc, "lint", "--message-format=json", "-Werror", str(case)],
                          capture_output=True, timeout=60, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(at["id"], at["severity"]) for at in found] == [("unused-allow", "error")], found


if __name__ == "__main__":
    sys.exit(0 if {"golden": golden, "ids": ids, "verb": verb}[sys.argv[1]]() else 1)
