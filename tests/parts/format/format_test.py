"""culexc fmt: one layout, and nothing lost on the way to it.

format_test.py golden CULEXC     golden/*.job against its .layout
format_test.py verbs CULEXC      what the options do to files
format_test.py same CULEXC       random layouts of schemas: same tokens, comments and IR; idempotent
format_test.py tree CULEXC       the schemas of this repository are laid out

`golden --accept`, at the end, writes the files that are compared with; then read the diff.
"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import goldens  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CULEXC = str(pathlib.Path(sys.argv[2]).resolve())
WIDTH = 100
PIECE = re.compile(rb"""
    (?P<gap>[ \t\r\n]+) | (?P<comment>//(?:[^\r\n]|\r(?!\n))*|/\*.*?\*/)
    | x?"(?:[^"\\\n]|\\[^\n])*" | '(?:[^'\\\n]|\\[^\n])*' | [A-Za-z_][A-Za-z_0-9]*
    | [0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[A-Za-z_0-9.]* | \[\[ | \]\] | <= | .
    """, re.X | re.S)


def run(*arguments, folder=None, text=b""):
    return subprocess.run([CULEXC, *map(str, arguments)], cwd=folder, input=text,
                          capture_output=True, timeout=60, check=False)


def pieces(text):
    """Tokens and comments, the latter without blanks at the ends of their lines."""
    found = []
    for match in PIECE.finditer(text.removeprefix(b"\xef\xbb\xbf")):
        if match.lastgroup == "comment":
            found.append(b"\n".join(line.strip(b" \t\r") for line in match.group().split(b"\n")))
        elif match.lastgroup != "gap":
            found.append(match.group())
    return found


def expect(holds, what):
    if not holds:
        sys.exit(what)


def golden():
    is_good = True
    cases = sorted((HERE / "golden").glob("*.job"))
    for case in cases:
        done = run("fmt", case.name, folder=case.parent)
        actual = done.stdout + done.stderr + f"exit {done.returncode}\n".encode()
        layout = case.with_suffix(".layout")
        is_good &= goldens.holds(layout, actual, sys.argv[-1] == "--accept")
    expect(is_good and len(cases) > 5, f"of {len(cases)} goldens, some differ")


UGLY = b"job  a{every 5m ;}\n"
NEAT = b"job a {every 5m ;}\n".replace(b"{every 5m ;}", b"{ every 5m; }")
BROKEN = b"job a { every ; }\n"


def rewriting(work):
    ugly, link = work / "ugly.job", work / "link.job"
    ugly.write_bytes(UGLY)
    ugly.chmod(0o640)
    link.symlink_to("ugly.job")
    expect(run("fmt", "-w", link).returncode == 0, "a link cannot be rewritten")
    expect(link.is_symlink() and ugly.read_bytes() == NEAT, "-w goes through a link")
    expect(ugly.stat().st_mode & 0o777 == 0o640, "-w keeps the mode")
    before = ugly.stat()
    expect(run("fmt", "-w", ugly).returncode == 0, "what is laid out can be rewritten")
    after = ugly.stat()
    expect((before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns),
           "-w leaves alone what is laid out")
    expect(sorted(os.listdir(work)) == ["link.job", "ugly.job"], "-w leaves nothing behind")


def refusing(work):
    broken = work / "broken.job"
    broken.write_bytes(BROKEN)
    ugly = work / "ugly.job"
    ugly.write_bytes(UGLY)
    done = run("fmt", "-w", broken, ugly)
    expect(done.returncode == 1 and b"[syntax]" in done.stderr, "a syntax error is reported")
    expect(broken.read_bytes() == BROKEN, "a file with a syntax error is left alone")
    expect(ugly.read_bytes() == NEAT, "the files behind a broken one are laid out")
    expect(run("fmt", work / "none.job").returncode == 3, "a file that is not there")
    done = run("fmt", "--check", work)
    expect(done.returncode == 1 and b"broken.job" in done.stderr, "a folder is the schemas in it")
    for words in (["-w", "-"], ["-w", "-d", ugly], []):
        expect(run("fmt", *words).returncode == 2, f"wrong usage: {words}")
    ugly.write_bytes(UGLY)
    ugly.chmod(0o444)
    if os.geteuid() != 0:
        expect(run("fmt", "-w", ugly).returncode == 3, "a file that may not be written")
        expect(ugly.read_bytes() == UGLY, "a file that may not be written is left alone")
    many = b"enum e{" + b",".join(b"V%d" % at for at in range(4000)) + b"}"
    deep = b"job j{params{" + b"int8 a;" * 70000 + b"}}"
    expect(run("fmt", "-", text=many).returncode == 0, "a long enum")
    done = run("fmt", "-", text=deep)
    expect(done.returncode == 1 and done.stdout == b"" and b"[too-many]" in done.stderr,
           "a layout that is no schema any more is refused")


def showing(work):
    ugly, neat = work / "ugly.job", work / "neat.job"
    ugly.write_bytes(UGLY)
    neat.write_bytes(NEAT)
    done = run("fmt", "--check", neat.name, ugly.name, folder=work)
    expect((done.returncode, done.stdout) == (1, b"ugly.job\n"), "--check names what differs")
    expect(run("fmt", "--check", neat).returncode == 0, "--check of what is laid out")
    expect(run("fmt", "--check", "-", text=UGLY).returncode == 1, "--check of standard input")
    expect(run("fmt", ugly).stdout == NEAT, "the layout goes to standard output")
    expect(run("fmt", "-", text=UGLY).stdout == NEAT, "standard input is laid out")
    expect(run("fmt", "-d", neat).stdout == b"", "no difference is shown as nothing")
    expect(run("fmt", "-d", "-", text=b"\n\n").stdout == b"--- -\n+++ -\n@@ -1,2 +0,0 @@\n-\n-\n",
           "the difference to nothing")
    expect(ugly.read_bytes() == UGLY, "only -w writes")
    expect(b"<stdin>:1:15" in run("fmt", "-", text=BROKEN).stderr, "standard input has a name")


def patching(work):
    """What -d prints makes the layout, in the hands of patch(1)."""
    noise = random.Random(7)
    texts = [path.read_bytes() for path in schemas()]
    for number in range(40):
        text = scatter(noise, noise.choice(texts), noise.choice([0.02, 0.3]))
        if number % 4 == 0:
            text = text.rstrip()
        text = text.replace(b"\r", b"")  # patch(1) guesses at those
        folder = work / str(number)
        folder.mkdir()
        (folder / "a.job").write_bytes(text)
        layout = run("fmt", "a.job", folder=folder).stdout
        diff = run("fmt", "-d", "a.job", folder=folder).stdout
        if layout != text:
            done = subprocess.run(["patch", "-s", "-F0", "-p0"], cwd=folder, input=diff,
                                  capture_output=True, timeout=60, check=False)
            expect(done.returncode == 0, f"patch: {done.stdout}\n{diff.decode()}")
        expect((folder / "a.job").read_bytes() == layout, f"patched:\n{diff.decode()}")


def verbs():
    for part in (rewriting, refusing, showing, patching):
        with tempfile.TemporaryDirectory() as name:
            part(pathlib.Path(name))


def schemas():
    """Those of the repository that parse, but for the ones that are too large to be scattered."""
    found = [*sorted((ROOT / "schemas").rglob("*.job")), *sorted((ROOT / "examples").rglob("*.job")),
             *sorted((ROOT / "tests").rglob("*.job"))]
    return [path for path in found
            if path.stat().st_size < 20000 and run("fmt", path).returncode == 0]


GAPS = [b" ", b"  ", b"\t", b"\n", b"\n\n", b"\n\n\n  ", b"\r\n", b" \r\n\r\n\t"]
COMMENTS = [b"// why\n", b"//\t\n", b"////  many \n", b"/* block */", b"/**/", b"/* two\n   lines */",
            b"/* a\r\n\r\n  b  \n*/", b"// caff\xc3\xa8 \xf0\x9f\x98\x80\r\n", b"/// doc  \n", b"///\n",
            b"///< after\n", b"///<after \r\n", b"\n    // own\n", b" // one\n // two\n", b"/*/ */"]


def scatter(noise, text, rate):
    """The same tokens with other white space, and with comments put in."""
    mark = text[:3] if text.startswith(b"\xef\xbb\xbf") else b""
    found = []
    is_open = False  # in a line comment
    for match in PIECE.finditer(text[len(mark):]):
        part = match.group()
        if match.lastgroup == "gap" and noise.random() < rate:
            part = noise.choice(GAPS)
        if is_open and b"\n" not in part:
            part = b"\n" + part
        found.append(part)
        is_open = part.strip().startswith(b"//")
        if not is_open and noise.random() < rate / 4:
            found.append(b" " + noise.choice(COMMENTS))
    return mark + b"".join(found)


def name_of(noise):
    return noise.choice("abcdefgh") + "x" * noise.randrange(40)


def strings_of(noise, count):
    return ", ".join(f'"{name_of(noise)}"' for _ in range(1 + noise.randrange(count)))


def attrs_of(noise):
    return noise.choice(["", "", f" [[was({strings_of(noise, 9)})]]", " [[secret, min(-3)]]",
                         f" [[x_{name_of(noise)}({strings_of(noise, 20)}), nonempty]]"])


def fields_of(noise):
    fields = []
    for _ in range(noise.randrange(7)):
        kind = noise.choice(["optional ", ""]) + noise.choice(["int32", "string", "a.b.c", "e", ".e", ". a.b"])
        shape = noise.choice(["", "", "[]", "[ <= 5]", "[3]"])
        value = noise.choice(["", "", " = -1", ' = "caff\u00e8"', "=x\"00 ff\""])
        fields.append(f"{kind} {name_of(noise)}{shape}{attrs_of(noise)}{value};")
    if noise.random() < 0.3:
        fields.append(f"reserved {strings_of(noise, 12)}" + noise.choice([";", ";", " ", ","]))
    return "{" + " ".join(fields) + "}"


def policy_of(noise):
    steps = ", ".join(f"{n}s" for n in range(1, 2 + noise.randrange(40)))
    return noise.choice(["{ max 3; backoff exponential 2s factor 2 cap 1h; jitter full; }", "{}",
                         f"{{ backoff steps {steps}; }}", "{\njitter 0.5; max 1; }"])


def setting_of(noise):
    names = ", ".join(name_of(noise) for _ in range(1 + noise.randrange(8)))
    return noise.choice(['queue "q";', "timeout 30s;", "keep success 1h,failure 7d;", "unique;",
                         f"concurrency 8 by ({names});", f"tags {strings_of(noise, 16)};",
                         f"unique by({names}) for 10m while ({names}) on_conflict keep;",
                         f"retry {policy_of(noise)}", "retry none;", "retry .p.q ;"])


def job_of(noise):
    blocks = noise.choice(["", f"params {fields_of(noise)};", f"params {fields_of(noise)}"])
    blocks += noise.choice(["", f" returns {fields_of(noise)}"])
    settings = [setting_of(noise) for _ in range(noise.randrange(5))]
    settings.insert(noise.randrange(len(settings) + 1), blocks)
    return f"job {name_of(noise)}{attrs_of(noise)}" + noise.choice([";", "{" + " ".join(settings) + "}"])


def enum_of(noise):
    values = []
    for _ in range(1 + noise.randrange(25)):
        values.append(noise.choice(["", "reserved 3, \"FR\" "]) + name_of(noise).upper() +
                      noise.choice(["", " = -1", "=0x7f"]) + noise.choice(["", "", attrs_of(noise)]) +
                      noise.choice([",", ",", " "]))
    return f"enum {name_of(noise)} " + noise.choice([": uint8", ""]) + "{" + " ".join(values) + "}"


def soup(noise):
    """A file that parses, whatever it means."""
    text = noise.choice(["", "package a . b;", '\ufeffpackage x; import "y.job" ;import "z.job";\n'])
    for _ in range(noise.randrange(5)):
        text += noise.choice([job_of(noise), job_of(noise), enum_of(noise),
                              f"struct {name_of(noise)} {fields_of(noise)}",
                              f"retry_policy {name_of(noise)} {policy_of(noise)}"])
        text += noise.choice(["\n", " ", "\n\n", "", "\r\n\r\n\r\n"])
    return text.encode()


def layout_complaint(before, after):
    if pieces(before) != pieces(after):
        return "tokens and comments differ"
    if after.startswith(b"\xef\xbb\xbf") or re.search(rb"[ \t\r]$", after, re.M):
        return "blanks at the end of a line, or a byte order mark"
    if after[:1] == b"\n" or after[-2:] == b"\n\n" or (after and after[-1:] != b"\n"):
        return "does not start and end as a text"
    if any(match.lastgroup == "gap" and match.group().count(b"\n") > 2
           for match in PIECE.finditer(after)):
        return "more than one empty line"
    for line in re.sub(rb"\s*(//|/\*).*", b"", after).decode(errors="replace").split("\n"):
        if len(line) > WIDTH and re.search(r"\S, \S.*, ", line):
            return f"a line that could be broken: {line}"
    return None


def model(folder, path):
    done = run("ir", "-I", ROOT / "schemas" / "feature", path.name, folder=folder)
    if done.returncode != 0:
        return None
    return re.sub(r'"line": \d+', '"line": 0', json.dumps(json.loads(done.stdout)))


def same():
    noise = random.Random(20260101)
    parsing = [path.read_bytes() for path in schemas()]
    texts = list(parsing)
    for at in range(500):
        texts.append(scatter(noise, noise.choice(parsing), noise.choice([0.02, 0.1, 0.5])))
        plain = soup(noise)
        texts.append(scatter(noise, plain, noise.choice([0.02, 0.3])) if at % 2 else plain)
    models = 0
    with tempfile.TemporaryDirectory() as name:
        before, after = pathlib.Path(name) / "before", pathlib.Path(name) / "after"
        before.mkdir()
        for at, text in enumerate(texts):
            (before / f"s{at}.job").write_bytes(text)
        shutil.copytree(before, after)
        files = [f"s{at}.job" for at in range(len(texts))]
        done = run("fmt", "-w", *files, folder=after)
        expect(done.returncode == 0, done.stderr.decode(errors="replace"))
        again = run("fmt", "--check", *files, folder=after)
        expect(again.returncode == 0, f"not idempotent: {again.stdout.decode()}")
        for at, text in enumerate(texts):
            complaint = layout_complaint(text, (after / files[at]).read_bytes())
            expect(complaint is None, f"{complaint}:\n{text.decode(errors='replace')}")
            if at < 300:
                meaning = model(before, before / files[at])
                models += meaning is not None
                expect(meaning == model(after, after / files[at]),
                       f"the model changed:\n{text.decode(errors='replace')}")
    print(f"{len(texts)} layouts, {models} models compared")
    expect(len(texts) > 1000 and models > 50, "too little was compared")


# Others are there for what is wrong with them, or to be changed byte by byte.
LAID_OUT = ["schemas", "examples", "tests/product/process", "tests/campaigns/storm", "tests/campaigns/bench"]


def tree():
    files = [path for folder in LAID_OUT for path in sorted((ROOT / folder).rglob("*.job"))]
    expect(len(files) > 12, f"only {len(files)} schemas")
    for page in (ROOT / "README.md", ROOT / "docs" / "guide.md", ROOT / "schemas" / "README.md"):
        for block in re.findall(r"^```job(?: \S+\.job)?\n(.*?)^```$", page.read_text(), re.M | re.S):
            done = run("fmt", "-d", "-", text=block.encode())
            expect((done.returncode, done.stdout) == (0, b""), f"{page}:\n{done.stdout.decode()}")
    done = run("fmt", "-d", *files)
    expect((done.returncode, done.stdout) == (0, b""), done.stdout.decode())


if __name__ == "__main__":
    {"golden": golden, "verbs": verbs, "same": same, "tree": tree}[sys.argv[1]]()
