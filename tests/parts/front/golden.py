"""Compares what culexc says with what it is expected to say.

golden.py check CULEXC      every check/*.job against its .expected
golden.py ir CULEXC         every schemas/feature/*.job against ir/*.json, most of them in brief
golden.py format CULEXC     some of them in the formats for programs, against format/*
golden.py ids               every diagnostic id has a golden that shows it
golden.py schema CULEXC     what `culexc ir` prints follows schemas/ir.schema.json
golden.py junit             those of format/ have the shape that readers of JUnit's XML share
golden.py sarif             those of format/ follow sarif.schema.json, and their indexes fit

--accept, at the end, writes the files that are compared with; then read the diff.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import brief
import zones

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import goldens  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FEATURES = ROOT / "schemas" / "feature"


# What one run of `culexc check` is given, in each format.
FORMATS = ["short", "json", "sarif", "github", "junit"]
FORMAT_CASES = {
    "broken": ["unknown-type.job", "syntax.job", "duplicate-name.job", "columns.job",
               "unused-import.job", "import-cycle.job", "deceptive-text.job", "lib/types.job"],
    "clean": ["lib/types.job", "lib/lone.job"],
}

# Where the ids stand, and the tests that show them: the schema's and the project file's, the
# lint's, the change's.
TABLES = [("diag_ids.def", "DIAG", ["front/check", "project"]), ("lint_ids.def", "LINT", ["lint"]),
          ("breaking_ids.def", "BREAKING", ["change"])]


def run(command, folder, zones_in="zoneinfo"):
    env = {**os.environ, "TZDIR": str(folder / zones_in)}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


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
        zones.write(work / "zoneinfo")
        for case in sorted(work.glob("*.job")):
            if case.is_symlink():
                continue
            text = case.read_bytes()
            is_gen = text.startswith(b"// command: gen")
            command = [culexc, "gen", "--out", "out"] if is_gen else [culexc, "check"]
            options = re.match(r"(?:// command: gen\n)?// options: (.*)\n", text.decode(errors="replace"))
            command += options[1].split() if options else []
            zones_in = "nowhere" if text.startswith(b"// no tz database\n") else "zoneinfo"
            status, _, messages = run(command + ["-I", ".", case.name], work, zones_in)
            actual = f"{messages}exit {status}\n"
            is_good &= goldens.holds(HERE / "check" / f"{case.stem}.expected", actual, accept)
    return is_good


def first_file(text):
    """Of the document that `culexc ir` prints: the file that was named, as if it stood alone."""
    lines = text.splitlines(keepends=True)
    first = lines.index("    {\n")
    last = next(at for at in range(first, len(lines)) if lines[at].startswith("    }"))
    return "".join(line[4:] for line in lines[first:last]) + "}\n"


# As culexc prints them: every member, its layout, and how text is escaped.
VERBATIM = {"common.job", "text.job"}


def ir(culexc, accept):
    is_good = True
    for case in sorted(FEATURES.glob("*.job")):
        status, text, messages = run([culexc, "ir", case.name], FEATURES)
        if status != 0:
            print(f"{case.name}: exit {status}\n{messages}")
            is_good = False
            continue
        shown = first_file(text)
        shown = shown if case.name in VERBATIM else brief.text_of(json.loads(shown))
        is_good &= goldens.holds(HERE / "ir" / f"{case.stem}.json", shown, accept)
    return is_good


def formats(culexc, accept):
    is_good = True
    for name, files in FORMAT_CASES.items():
        for form in FORMATS:
            status, text, messages = run([culexc, "check", f"--message-format={form}", *files],
                                         HERE / "check")
            text = re.sub(r'"version":"0[0-9.]*"', '"version":"VERSION"', text)
            is_good &= status == (1 if name == "broken" else 0)
            is_good &= (text if form == "short" else messages) == ""
            shown = messages if form == "short" else text
            shown = shown.replace('},{"id"', '},\n{"id"')  # one rule of SARIF a line, for who reviews
            is_good &= goldens.holds(HERE / "format" / f"{name}.{form}", shown, accept)
    return is_good


def ids():
    total, missing = 0, []
    for table, macro, folders in TABLES:
        text = (ROOT / "codegen" / "front" / table).read_text()
        slugs = re.findall(rf'^{macro}\(\w+,\s*"([a-z0-9-]+)"', text, re.M)
        goldens = (path for folder in folders for path in (ROOT / "tests/parts" / folder).rglob("*")
                   if path.is_file() and path.suffix not in {".job", ".py"})
        shown = "".join(path.read_text(errors="replace") for path in goldens)
        missing += [slug for slug in slugs if f"[{slug}]" not in shown]
        total += len(slugs)
    print(f"{total} ids; without a golden: {missing}")
    return total > 40 and not missing


def faults_of(validator, case):
    for fault in validator.iter_errors(json.loads(case.read_text(encoding="utf-8"))):
        yield f"{list(fault.absolute_path)}: {fault.message}"


def sarif():
    import jsonschema

    validator = jsonschema.Draft7Validator(json.loads((HERE / "sarif.schema.json").read_text()))
    faults, results = [], 0
    for case in sorted((HERE / "format").glob("*.sarif")):
        faults += faults_of(validator, case)
        sarif_run = json.loads(case.read_text(encoding="utf-8"))["runs"][0]
        rules = [rule["id"] for rule in sarif_run["tool"]["driver"]["rules"]]
        results += len(sarif_run["results"])
        faults += [str(result) for result in sarif_run["results"]
                   if rules[result["ruleIndex"]] != result["ruleId"]]
    print("\n".join(faults))
    return results > 10 and not faults


ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped"},
    "testcase": {"classname", "name"},
    "failure": {"type", "message"},
    "error": {"message"},
    "system-out": set(),
}
CHILDREN = {"testsuites": {"testsuite"}, "testsuite": {"testcase"},
            "testcase": {"failure", "error", "system-out"}}


def junit_faults(element):
    """What is not in the shape that readers of JUnit's XML share."""
    given = set(element.attrib) - ({"file", "line"} if element.tag == "testcase" else set())
    if given != ATTRIBUTES[element.tag]:
        yield f"{element.tag} has {sorted(given)}"
    for word, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        if word in element.attrib and int(element.get(word)) != len(list(element.iter(tag))):
            yield f"{element.tag} {element.get('name')}: {word} is {element.get(word)}"
    for child in element:
        if child.tag not in CHILDREN.get(element.tag, ()):
            yield f"{child.tag} in {element.tag}"
        yield from junit_faults(child)


def junit():
    faults, tests = [], 0
    for case in sorted((HERE / "format").glob("*.junit")):
        root = xml.etree.ElementTree.fromstring(case.read_text(encoding="utf-8"))
        faults += [] if root.tag == "testsuites" else [f"{case.name} begins with {root.tag}"]
        faults += [f"{case.name}: {fault}" for fault in junit_faults(root)]
        names = [(one.get("classname"), one.get("name")) for one in root.iter("testcase")]
        faults += [f"{case.name}: {name} twice" for name in names if names.count(name) > 1]
        tests += len(names)
    print("\n".join(faults))
    return tests > 10 and not faults


def schema(culexc):
    """All in one document, together with what they import."""
    import jsonschema

    with open(ROOT / "schemas" / "ir.schema.json", encoding="utf-8") as file:
        validator = jsonschema.Draft7Validator(json.load(file))
    names = [case.name for case in sorted(FEATURES.glob("*.job")) if case.name != "common.job"]
    status, text, messages = run([culexc, "ir", *names], FEATURES)
    files = [] if status != 0 else json.loads(text)["files"]
    faults = [f"{list(fault.absolute_path)}: {fault.message}"
              for fault in (validator.iter_errors(json.loads(text)) if files else [])]
    print("\n".join(faults), messages)
    named = [file["file"] for file in files if file["named"]]
    imported = [file["file"] for file in files if not file["named"]]
    return not faults and named == names and imported == ["common.job"]


def main():
    accept = sys.argv[-1] == "--accept"
    verb = sys.argv[1]
    if verb == "check":
        is_good = check(pathlib.Path(sys.argv[2]).resolve(), accept)
    elif verb == "ir":
        is_good = ir(pathlib.Path(sys.argv[2]).resolve(), accept)
    elif verb == "format":
        is_good = formats(pathlib.Path(sys.argv[2]).resolve(), accept)
    else:
        rest = [pathlib.Path(word).resolve() for word in sys.argv[2:]]
        is_good = {"ids": ids, "schema": schema, "sarif": sarif, "junit": junit}[verb](*rest)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
