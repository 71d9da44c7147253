"""What culexc says to habits from elsewhere: each file of habits/ is one language or one corner of ours.

habits.py CULEXC [--accept]

A case is a line `PLACE: what was written`, and below it, indented, what is expected: a caret under
what the first message is about, the message, `write` what its help says, and `fixed` what
`check --fix` makes of the line. There is just one error for each case, and after a fix none.

Nor is a row of habits.def ours by now: what it says of others is refused, or nobody would be told.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import goldens  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "habits"
# Where a line stands in a schema: %s.
PLACES = {
    "file": "%s\n",
    "enum": "enum e {\n%s\n}\n",
    "params": "enum lang { EN, IT }\nstruct money { int64 minor; }\njob a {\nparams {\n%s\n}\n}\n",
    "job": "job a {\nparams { string to = \"\"; uint64 tenant = 0; }\n%s\n}\n",
    "bare": "job a {\n%s\n}\n",
    "retry": "retry_policy p {\n%s\n}\njob a { retry p; }\n",
    "schema": "%s\n",
}
CASES_MIN = 80

TABLE = HERE.parents[3] / "codegen" / "front" / "habits.def"
ROW = re.compile(r'^HABIT\((\w+), "((?:[^"\\]|\\.)*)", (?:NULL|"((?:[^"\\]|\\.)*)"), \w+, (.+)\)$', re.M)
ROW_PLACES = {"FILE": "file", "ENUM": "enum", "FIELD": "params", "JOB": "job", "POLICY": "retry"}
# What a letter of a pattern may stand for; the rest of a setting is each value that one may have.
LETTERS = {"N": "to", "I": "7", "K": "word", "M": "word", "V": "7", "S": '"x"', "G": '"x"', "P": "a.b", "D": "30s",
           "L": "to, tenant", "Z": "512M", "T": "string", "E": "=", "O": "timeout", "C": "{ }", "W": "1h 30m",
           "X": "a<b>", "B": "optional", "H": "a-b", "Y": "nullable", "^": ""}
RESTS = ["7", "30s", '"x"', "512M"]
ROWS_MIN = 500


def culexc(path, *words):
    done = subprocess.run([CULEXC, "check", *words, path.name], cwd=path.parent,
                          capture_output=True, timeout=60, check=False)
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def errors(path, *words):
    found = culexc(path, "--message-format=json", *words)
    return [one for one in found if one["severity"] == "error"]


def underline(first, line, text):
    """A caret line below the first line of the case, or the place when it is elsewhere."""
    at, width = first["column"] - 1, first["end_column"] - first["column"]
    if first["line"] != line:
        return f"line {first['line'] - line + 1}, column {first['column']}:"
    return " " * at + "^" * max(1, min(width, len(text) - at))


def fixed_line(path, line):
    """What check --fix makes of it; a fix leaves no error behind."""
    left = errors(path, "--fix")
    text = path.read_text().splitlines()
    return (text[line - 1] if line <= len(text) else "") + "".join(
        f"\nAND STILL {one['message']}" for one in left)


def told(folder, place, written):
    """The expected lines of a case."""
    path = folder / "a.job"
    text = written.replace("\\n", "\n")
    line = PLACES[place].split("%s")[0].count("\n") + 1
    path.write_text(PLACES[place] % text)
    found = errors(path)
    if not found:
        return ["NOTHING IS SAID"]
    first = found[0]
    lines = [f"{underline(first, line, text.splitlines()[0])} {first['message']}"]
    lines += [first["help"]] if first.get("help") else []
    lines += [f"note: {note['message']}" for note in first.get("notes", [])]
    lines += [f"AND {one['line'] - line + 1}:{one['column']} {one['message']}" for one in found[1:]]
    fixes = first.get("fixes", [])
    if fixes and all(fix["applicability"] == "machine-applicable" for fix in fixes):
        lines += f"fixed: {fixed_line(path, line)}".splitlines()
    return lines


def cases(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        place, _, written = line.partition(": ")
        if place in PLACES:
            yield place, written


def shown(folder, path):
    """The file as it should be, and how many cases it has."""
    text, count = [], 0
    for line in path.read_text(encoding="utf-8").splitlines():
        place, _, written = line.partition(": ")
        if line.startswith(" "):
            continue
        text.append(line)
        if place in PLACES:
            indent = " " * (len(place) + 2)
            text += [(indent + one).rstrip() for one in told(folder, place, written)]
            count += 1
    return "\n".join(text) + "\n", count


def nested(folder):
    """Forms of types inside each other, as deep as a line is looked at, take no time."""
    path = folder / "nested.job"
    for opener in ["map<", "list<", "[", "Optional[", "map[", "Union[", "const ", "*", "a | "]:
        path.write_text(PLACES["params"] % (opener * 40 + "x y;"))
        errors(path)


def rows():
    """Place and pattern of each row that says of a word what is written instead."""
    text = TABLE.read_text(encoding="utf-8")
    found = ROW.findall(text)
    assert len(found) == text.count("\nHABIT("), "a row of habits.def that was not read"
    for place, pattern, instead, why in found:
        is_spelling = pattern == instead  # of a part that has a spelling here, too
        if place in ROW_PLACES and not is_spelling and why != '""' and "~" not in pattern:
            yield place, pattern.replace('\\"', '"')


def written_as(place, pattern):
    """Lines that a pattern stands for."""
    words = pattern.split()
    for rest in RESTS if {"R", "A", "V"} & set(words) and place == "JOB" else RESTS[:1]:
        fill = {**LETTERS, "R": rest, "A": rest, "V": rest}
        yield " ".join(fill.get(word, word) for word in words) + ("\n" if place == "ENUM" else ";")


def ours_by_now(folder):
    """What rows say of others, and the compiler takes."""
    path, taken, total = folder / "a.job", [], 0
    for total, (place, pattern) in enumerate(rows(), 1):
        for line in written_as(place, pattern):
            path.write_text(PLACES[ROW_PLACES[place]] % line)
            if not errors(path):
                taken.append(f'HABIT({place}, "{pattern}", ...): the language has it: {line}')
    assert total >= ROWS_MIN, total
    return taken


def main():
    accept, total, is_good = sys.argv[-1] == "--accept", 0, True
    with tempfile.TemporaryDirectory() as name:
        (pathlib.Path(name) / "common.job").write_text("struct lib { int32 x; }\n")
        nested(pathlib.Path(name))
        taken = ours_by_now(pathlib.Path(name))
        is_good &= not taken
        print("".join(f"{one}\n" for one in taken), end="")
        for path in sorted(HERE.glob("*.txt")):
            actual, count = shown(pathlib.Path(name), path)
            total += count
            is_good &= goldens.holds(path, actual, accept)
            for fault in ("NOTHING IS SAID", "AND "):
                for line in actual.splitlines():
                    if line.strip().startswith(fault):
                        print(f"{path.name}: {line.strip()}")
                        is_good = False
    print(f"{total} cases")
    sys.exit(0 if is_good and total >= CASES_MIN else 1)


CULEXC = pathlib.Path(sys.argv[1]).resolve()
main()
