"""Compares what culexc says with what it is expected to say.

golden.py check CULEXC      every check/*.job against its .expected
golden.py ir CULEXC         every schemas/feature/*.job against ir/*.json
golden.py ids               every diagnostic id has a golden that shows it
golden.py schema            the goldens of ir/ follow schemas/ir.schema.json

--accept, at the end, writes the files that are compared with; then read the diff.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FEATURES = ROOT / "schemas" / "feature"


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def compare(path, actual, accept):
    """True when the file holds `actual`, or was made to."""
    if accept:
        path.write_text(actual, encoding="utf-8")
        return True
    expected = path.read_text(encoding="utf-8") if path.exists() else ""
    if actual == expected:
        return True
    print(f"--- {path.name}: expected\n{expected}--- actual\n{actual}")
    return False


def deep_chain(folder):
    """A chain of imports longer than the limit: too many files to keep."""
    folder.mkdir()
    for depth in range(40):
        (folder / f"d{depth}.job").write_text(f'import "deep/d{depth + 1}.job";\n')


def many_fields(folder):
    """A struct, params and returns of one field too many, and params of just as many as allowed."""
    fields = " ".join(f"bool f{at};" for at in range(1024))
    (folder / "many-fields.job").write_text(
        f"job full {{ params {{ {fields} }} }}\n"
        f"struct s {{ {fields}\n  bool over; }}\n"
        f"job j {{ params {{ {fields}\n  bool over; }} }}\n"
        f"job k {{ returns {{ {fields}\n  bool over; }} }}\n")


def links(folder, outside):
    """Imports by links: to a place inside the folder, and to one outside."""
    outside.mkdir()
    (outside / "secret.job").write_text("struct secret { int32 x; }\n")
    (folder / "link-out.job").symlink_to(outside / "secret.job")
    (folder / "folder-out").symlink_to(outside)
    (folder / "lib" / "link-in.job").symlink_to("types.job")
    (folder / "import-link.job").write_text('import "lib/link-in.job";\nimport "link-out.job";\n'
                                            'import "folder-out/secret.job";\n')


def check(culexc, accept):
    is_good = True
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name) / "check"
        shutil.copytree(HERE / "check", work)
        deep_chain(work / "deep")
        many_fields(work)
        links(work, pathlib.Path(name) / "outside")
        for case in sorted(work.glob("*.job")):
            if case.is_symlink():
                continue
            is_gen = case.read_bytes().startswith(b"// command: gen")
            command = [culexc, "gen", "--out", "out"] if is_gen else [culexc, "check"]
            status, _, messages = run(command + ["-I", ".", case.name], work)
            actual = f"{messages}exit {status}\n"
            is_good &= compare(HERE / "check" / f"{case.stem}.expected", actual, accept)
    return is_good


def ir(culexc, accept):
    is_good = True
    for case in sorted(FEATURES.glob("*.job")):
        status, text, messages = run([culexc, "ir", case.name], FEATURES)
        if status != 0:
            print(f"{case.name}: exit {status}\n{messages}")
            is_good = False
        text = re.sub(r'"compiler": "[^"]*"', '"compiler": "VERSION"', text)
        is_good &= compare(HERE / "ir" / f"{case.stem}.json", text, accept)
    return is_good


def ids():
    table = (ROOT / "codegen" / "front" / "diag_ids.def").read_text()
    slugs = re.findall(r'^DIAG\(\w+,\s*"([a-z0-9-]+)"', table, re.M)
    shown = "".join(path.read_text() for path in (HERE / "check").glob("*.expected"))
    missing = [slug for slug in slugs if f"[{slug}]" not in shown]
    print(f"{len(slugs)} ids; without a golden: {missing}")
    return len(slugs) > 40 and not missing


def schema():
    import jsonschema

    with open(ROOT / "schemas" / "ir.schema.json", encoding="utf-8") as file:
        validator = jsonschema.Draft7Validator(json.load(file))
    is_good = True
    cases = sorted((HERE / "ir").glob("*.json"))
    for case in cases:
        for fault in validator.iter_errors(json.loads(case.read_text(encoding="utf-8"))):
            print(f"{case.name}: {list(fault.absolute_path)}: {fault.message}")
            is_good = False
    return is_good and len(cases) > 5


def main():
    accept = sys.argv[-1] == "--accept"
    verb = sys.argv[1]
    if verb == "check":
        is_good = check(pathlib.Path(sys.argv[2]).resolve(), accept)
    elif verb == "ir":
        is_good = ir(pathlib.Path(sys.argv[2]).resolve(), accept)
    elif verb == "ids":
        is_good = ids()
    else:
        is_good = schema()
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
