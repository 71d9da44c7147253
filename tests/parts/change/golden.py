"""Compares what culexc breaking says with what it is expected to say.

golden.py changes CULEXC    every folder: old.job is locked, new.job compared with that lock
golden.py ids               every id of breaking_ids.def has a folder of its name that shows it
golden.py schema CULEXC     the locks of all folders follow schemas/lock.schema.json

A folder may have an older.job, locked before; a jobs.lock to be read as it is; a listing, for
--live. --accept, at the end, writes the files that are compared with; then read the diff.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import goldens  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def run(culexc, folder, *words):
    done = subprocess.run([culexc, *words], cwd=folder, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def lock_all(culexc, work):
    """Locks what came before, or says what went wrong."""
    for name in ("older.job", "old.job"):
        if not (work / name).exists():
            continue
        status, messages = run(culexc, work, "lock", name)
        if status != 0:
            return f"lock {name}: exit {status}\n{messages}"
    return ""


def said(culexc, case, work):
    """What breaking says of one folder."""
    shutil.copytree(case, work)
    fault = "" if (work / "jobs.lock").exists() else lock_all(culexc, work)
    live = ["--live", "listing"] if (work / "listing").exists() else []
    status, messages = run(culexc, work, "breaking", *live, "--against", "jobs.lock", "new.job")
    plain = {path.name for path in case.iterdir()} <= {"old.job", "new.job", "expected"}
    if plain:  # A lock says no more and no less than the schema that it was made of.
        direct = run(culexc, work, "breaking", "--against", "old.job", "new.job")
        if direct != (status, messages):
            fault += f"another answer with old.job itself:\n{direct[1]}"
    return f"{fault}{messages}exit {status}\n"


def cases():
    return sorted(path for path in HERE.iterdir() if (path / "new.job").exists())


def changes(culexc, accept):
    is_good = True
    with tempfile.TemporaryDirectory() as name:
        for case in cases():
            actual = said(culexc, case, pathlib.Path(name) / case.name)
            is_good &= goldens.holds(case / "expected", actual, accept)
    return is_good and len(cases()) > 60


def ids():
    table = (ROOT / "codegen" / "front" / "breaking_ids.def").read_text()
    slugs = re.findall(r'^BREAKING\(\w+,\s*"([a-z0-9-]+)"', table, re.M)
    missing = []
    for slug in slugs:
        expected = HERE / slug / "expected"
        if not expected.exists() or f"[{slug}]" not in expected.read_text():
            missing.append(slug)
    page = (ROOT / "schemas" / "README.md").read_text()
    untold = [slug for slug in slugs if f"| `{slug}` (" not in page]
    print(f"{len(slugs)} ids; without a golden: {missing}; not in schemas/README.md: {untold}")
    return len(slugs) > 40 and not missing and not untold


def schema(culexc):
    import jsonschema

    with open(ROOT / "schemas" / "lock.schema.json", encoding="utf-8") as file:
        validator = jsonschema.Draft7Validator(json.load(file))
    faults, count = 0, 0
    with tempfile.TemporaryDirectory() as name:
        for case in [*cases(), ROOT / "schemas" / "feature"]:
            work = pathlib.Path(name) / case.name
            shutil.copytree(case, work)
            (work / "jobs.lock").unlink(missing_ok=True)
            if case.name == "feature":
                (work / "mail_plain.job").unlink()  # It has the names of mail.job.
                run(culexc, work, "lock", *sorted(path.name for path in work.glob("*.job")))
            else:
                lock_all(culexc, work)
            if not (work / "jobs.lock").exists():
                continue
            count += 1
            text = (work / "jobs.lock").read_text(encoding="utf-8")
            for fault in validator.iter_errors(json.loads(text)):
                print(f"{case.name}: {list(fault.absolute_path)}: {fault.message}")
                faults += 1
    print(f"{count} locks, {faults} faults")
    return faults == 0 and count > 60


def main():
    accept = sys.argv[-1] == "--accept"
    verb = sys.argv[1]
    if verb == "changes":
        is_good = changes(pathlib.Path(sys.argv[2]).resolve(), accept)
    elif verb == "ids":
        is_good = ids()
    else:
        is_good = schema(pathlib.Path(sys.argv[2]).resolve())
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
