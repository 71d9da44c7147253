"""culexc doc: pages as they should be, whatever a schema says.

doc_test.py golden CULEXC          golden/*.job against .md and .3; --accept writes these
doc_test.py verb CULEXC            where pages go
doc_test.py synopsis CULEXC SCHEMAS HEADERS    the functions of a page are those of the header
doc_test.py hostile_md CULEXC CMARK    documentation that looks like markup is shown as it is
doc_test.py hostile_man CULEXC GROFF
"""
import html.parser
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import goldens  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CASES = sorted((HERE / "golden").glob("*.job"))


def run(command, text=b"", folder=None):
    return subprocess.run(command, cwd=folder, input=text, capture_output=True, timeout=60,
                          check=False)


def page(case, markup):
    culexc = str(pathlib.Path(sys.argv[2]).resolve())
    done = run([culexc, "doc", "-Wno-secret-default", "--format", markup, case.name], folder=case.parent)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    return done.stdout


def golden():
    is_good = True
    for case in CASES:
        for markup, suffix in (("md", ".md"), ("man", ".3")):
            is_good &= goldens.holds(case.with_suffix(suffix), page(case, markup), sys.argv[-1] == "--accept")
    assert is_good and CASES


def verb():
    culexc = str(pathlib.Path(sys.argv[2]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "a.job").write_text("package x; job a;\n")
        (folder / "b.job").write_text("package y; job b { unique; }\n")
        (folder / "c.job").write_text("job c\n")
        done = run([culexc, "doc", "--out", "out", "a.job", "b.job", "c.job"], folder=folder)
        assert done.returncode == 1 and b"[syntax]" in done.stderr and done.stdout == b""
        assert sorted(at.name for at in (folder / "out").iterdir()) == ["a_job.md", "b_job.md"]
        assert (folder / "out" / "a_job.md").read_bytes() == page(folder / "a.job", "md")
        done = run([culexc, "doc", "--out=out", "--format=man", "a.job"], folder=folder)
        assert (folder / "out" / "a_job.3").read_bytes() == page(folder / "a.job", "man")
        before = (folder / "out" / "a_job.md").stat()
        assert run([culexc, "doc", "--out", "out", "a.job"], folder=folder).returncode == 0
        after = (folder / "out" / "a_job.md").stat()
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
        for words, status in ((["--format", "html", "a.job"], 2), ([], 2), (["none.job"], 3),
                              (["--out", "a.job", "a.job"], 3)):
            assert run([culexc, "doc", *words], folder=folder).returncode == status, words


PROTOTYPE = re.compile(r"\b(?:culex_status|typedef culex_outcome) \(?[^;{}#]*?\);")


def prototypes(text):
    """Functions that are declared in C, without the layout of their parameters."""
    return {" ".join(found.split()).replace("( ", "(") for found in PROTOTYPE.findall(text)}


def synopsis():
    """Schema by schema, against the generated headers that the renderer is held to."""
    schemas, headers = map(pathlib.Path, sys.argv[3:])
    count = 0
    for header in sorted(headers.glob("*_job.h")):
        shown = prototypes(page(schemas / header.name.replace("_job.h", ".job"), "md").decode())
        assert shown == prototypes(header.read_text()), (header.name, shown)
        count += len(shown)
    assert count > 60, count


TRICKS = ["<script>alert(1)</script>", "<b>", "<!-- x", "<?x", "<http://a.b>", "]]>", "&lt;", "&#60;",
          "[a](javascript:x)", "![i](x)", "[a]: b", "[a][b]", "`", "``", "`x`", "```", "**b**", "__b__",
          "*", "_x_", "# h", "## h", "1. x", "12) x", "- x", "+ x", "* x", "> q", "---", "===", "***",
          "___", ":--", "|a|b|", "|-|-|", "~~~", "~~s~~", "\\", "\\\\", "\\<b>", "http://a.b", "$x$",
          ".TH x 1", ".br", ".\\\" x", "'br", "''", "\\fBx", "\\&", "\\n(.x", "\\*[x]", "\\X'x'", "\\(rs",
          "\\[u0041]", "\\!", "\\}", "\\c", "...", "\"q\"", "caff\u00e8", "\U0001f600", "x^2~y",
          "w" * 200, "-" * 130, "100%", "@x", "a.b", "!", "(x)", "{y}", "a=b", "    four", "\ttab", ""]
LETTERS = "\\`*_{}[]()<>#+-.!|&~^=:$'\"/ 1a"


def docs(noise):
    lines = list(TRICKS)
    noise.shuffle(lines)
    lines += ["".join(noise.choice(LETTERS) for _ in range(noise.randrange(1, 12)))
              for _ in range(60)]
    return lines


def schema(lines):
    """Lines of documentation wherever it can stand; each of its own and run together."""
    text = ["package x;"]
    for at in range(0, len(lines) - 6, 6):
        one, two, three, four, five, six = lines[at:at + 6]
        text += [f"/// {one}", f"/// {two}", "///", f"/// {three}", f"job j{at} {{",
                 f"    params {{ string s; ///< {four}", "    }", f"    returns {{ int8 r; ///< {five}",
                 "    }", "}", f"enum e{at} {{", f"    A, ///< {six}", "}"]
    return "\n".join(text) + "\n"


def squeezed(text):
    return "".join(text.split())


def parts(lines):
    return [squeezed(line) for line in lines[:len(lines) - len(lines) % 6 - 6]]


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        allowed = [("class", "language-c")] if tag == "code" else []
        assert all(attr in allowed for attr in attrs), (tag, attrs)

    def handle_comment(self, data):
        self.tags.append("comment")

    def handle_decl(self, decl):
        self.tags.append("declaration")

    def handle_pi(self, data):
        self.tags.append("instruction")

    def handle_data(self, data):
        self.text.append(data)


def written(lines, markup):
    with tempfile.TemporaryDirectory() as name:
        case = pathlib.Path(name) / "case.job"
        case.write_text(schema(lines))
        return page(case, markup)


def read_html(lines):
    done = run([sys.argv[3], "--unsafe"], written(lines, "md"))
    assert done.returncode == 0
    reader = Reader()
    reader.feed(done.stdout.decode())
    reader.close()
    return reader.tags, squeezed("".join(reader.text))


def hostile_md():
    """Whatever stands in documentation, the page has the elements that plain words give it."""
    for seed in range(20):
        lines = docs(random.Random(seed))
        tags, text = read_html(lines)
        plain = ["word" if line.strip() else line for line in lines]
        expected, _ = read_html(plain)
        assert tags == expected, (seed, [pair for pair in zip(tags, expected) if pair[0] != pair[1]][:1])
        assert set(tags) == {"h1", "h2", "h3", "p", "pre", "code", "ul", "li"}, set(tags)
        for part in parts(lines):
            assert part in text, (seed, part)


def hostile_man():
    for seed in range(20):
        lines = docs(random.Random(seed))
        source = written(lines, "man")
        # Words longer than a line are a part of this text, and newer versions warn of each.
        done = run([sys.argv[3], "-man", "-ww", "-Wbreak", "-z", "-Tutf8"], source)
        assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
        assert not re.search(rb"[^\x0a\x20-\x7e]|[ ]$", source, re.M), "plain ASCII, no blanks at ends"
        done = run([sys.argv[3], "-man", "-Tutf8", "-P-cbou", "-rHY=0", "-rLL=100n"], source)
        text = squeezed(done.stdout.decode())
        for part in parts(lines):
            assert part in text, (seed, part)
    for case in CASES:
        done = run([sys.argv[3], "-man", "-ww", "-z", "-Tutf8"], page(case, "man"))
        assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()


if __name__ == "__main__":
    {"golden": golden, "verb": verb, "synopsis": synopsis, "hostile_md": hostile_md,
     "hostile_man": hostile_man}[sys.argv[1]]()
