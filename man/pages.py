"""Makes the manual pages of section 3 from the public headers, which are their only source.

usage: pages.py HEADERS OUT     writes the pages into the folder OUT
       pages.py HEADERS --names prints their file names, --headers those of the headers

A header gives one page with its types, and one for each contract: a comment at the margin and the
functions below it, up to an empty line. What has no function is told on the header's page. Every
function and every type has a page by its own name, which may be a link to the page that tells of
it. A function without a contract is an error.
"""
import pathlib
import re
import sys
from dataclasses import dataclass, replace

COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
MACRO = re.compile(r"\b(?:CULEX_PRINTF|CULEX_DEPRECATED)\([^)]*\)|"
                   r"\b(?:CULEX_API|CULEX_INT_ENUM|CULEX_MUST_USE)\b")


@dataclass(frozen=True)
class Declaration:
    name: str
    text: str
    is_function: bool
    note: str = ""  # the comment that stands beside it


@dataclass(frozen=True)
class Contract:
    """A comment at the margin and the declarations that it speaks of."""
    words: str
    declarations: tuple

    @property
    def functions(self) -> tuple:
        return tuple(each for each in self.declarations if each.is_function)

    @property
    def types(self) -> tuple:
        return tuple(each for each in self.declarations if not each.is_function)


@dataclass(frozen=True)
class Header:
    file: str  # as it is included
    contracts: tuple

    @property
    def title(self) -> str:
        return "culex" if self.file == "culex/culex.h" else self.file[:-2].replace("/", "_")


# --- reading ---------------------------------------------------------------------------------

def comment_words(text: str) -> str:
    """The comment's text: without stars, paragraphs apart, indented lines as they are."""
    return "\n".join(re.sub(r"^\s*\*? ?", "", line, count=1).rstrip()
                     for line in text.strip().split("\n")).strip()


def without_preprocessor(text: str) -> str:
    """Without directives, and without the comments on macros: those are not called by people."""
    text = re.sub(r"^/\* clang-format (on|off) \*/\n", "", text, flags=re.M)
    first = COMMENT.match(text).end()
    text = text[:first] + re.sub(r"\n/\*(?:[^*]|\*(?!/))*\*/\n(?=[ \t]*#)", "\n", text[first:])
    text = re.sub(r"^extern \"C\+\+\" \{.*?^\}\n(?=#endif)", "", text, flags=re.M | re.S)  # no page of section 3
    text = re.sub(r"^#if[^\n]*__cplusplus\n(extern \"C\" \{|\})\n#endif\n", "", text, flags=re.M)
    return re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*\n", "", text, flags=re.M)


def declaration_end(text: str, start: int) -> int:
    """Behind the `;` or the inline function's `}` that ends what begins at `start`."""
    depth, at = 0, start
    while at < len(text):
        comment = COMMENT.match(text, at)
        if comment:
            at = comment.end()
            continue
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0 and (text[at] == ";" or text[at] == "}" and text.startswith("\n", at + 1)):
            return at + 1
        at += 1
    sys.exit(f"pages.py: no end: {text[start:start + 60]!r}")


def declaration_read(text: str) -> Declaration:
    bare = MACRO.sub("", COMMENT.sub("", text)).strip()
    if bare.startswith("typedef"):
        pointer = re.search(r"\(\*(\w+)\)\(", bare)
        name = pointer.group(1) if pointer else re.search(r"(\w+)(?:\[\w*\])?;$", bare).group(1)
        return Declaration(name, shown(text), False)
    if re.match(r"(?:enum|struct)\b[^(]*[{;]", bare):
        tag = re.match(r"(?:enum|struct)\s+(\w+)\s*\{", bare)  # without a body it is somebody else's
        return Declaration(tag.group(1) if tag else "", shown(text), False)
    head = bare.split("{")[0].rstrip(" ;\n")
    name = re.search(r"(\w+)\(", head)
    if name is None:
        return Declaration(re.search(r"(\w+)(?:\[\w*\])?$", head).group(1), shown(head + ";"), False)
    return Declaration(name.group(1), re.sub(r"\s+", " ", head.replace("static inline ", "")).strip() + ";", True)


def shown(text: str) -> str:
    return "\n".join(line.rstrip() for line in MACRO.sub("", text).replace("enum  ", "enum ")
                     .replace("__extension__ ", "").strip().split("\n"))


def with_codes(text: str) -> str:
    """The list of codes in the place of the macro that makes the enum of it."""
    rows = re.findall(r'^ +X\((\w+), (-?\d+), "([^"]*)"\)', text, re.M)
    codes = "\n".join(f"    CULEX_{name} = {number}, /* {meaning} */" for name, number, meaning in rows)
    return re.sub(r"^ +CULEX_STATUS_MAP\(CULEX_STATUS_ENUM\)$", lambda _: codes, text, flags=re.M)


def header_read(folder: pathlib.Path, name: str) -> Header:
    text = without_preprocessor(with_codes((folder / name).read_text()))
    contracts, words, declarations, at = [], "", [], 0
    while True:
        at += len(text[at:]) - len(text[at:].lstrip())
        comment = COMMENT.match(text, at)
        if comment and text[at - 1:at] == " ":  # beside the declaration before it
            declarations[-1] = replace(declarations[-1], note=re.sub(r"\s+", " ", comment.group(1)).strip())
            at = comment.end()
            continue
        if comment or at >= len(text) or (words or declarations) and text[at - 2:at] == "\n\n":
            if words or declarations:
                contracts.append(Contract(words, tuple(declarations)))
            words, declarations = "", []
        if at >= len(text):
            return Header(name, tuple(contracts))
        if comment:
            words, at = comment_words(comment.group(1)), comment.end()
        else:
            end = declaration_end(text, at)
            declarations.append(declaration_read(text[at:end]))
            at = end


# --- writing ---------------------------------------------------------------------------------

def escaped(line: str) -> str:
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + line if line.startswith((".", "'")) else line


def literal(text: str) -> list:
    return [".Bd -literal", *map(escaped, text.split("\n")), ".Ed"]


def prose(words: str) -> list:
    """Paragraphs, and what is indented as it stands."""
    lines = []
    for part in re.split(r"\n\s*\n", words):
        if all(line.startswith("    ") for line in part.split("\n")):
            lines += literal(part)
        else:  # a sentence a line, as the formatter wants them
            lines += [".Pp", *map(escaped, re.sub(r"([.:;!?][)\"]?) (?=\S)", r"\1\n", re.sub(r"\s+", " ", part)).split("\n"))]
    return lines


def prototype(text: str) -> list:
    """`type name(a, b);` as the formatter's own, who breaks its line between arguments."""
    kind, name, arguments = re.fullmatch(r"(.*?[ *])(\w+)\((.*)\);", text).groups()
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", arguments)]
    return [f".Ft {escaped(kind.strip())}", f".Fo {name}", *(f'.Fa "{escaped(part)}"' for part in parts), ".Fc"]


def first_sentence(words: str) -> str:
    flat = re.sub(r"\s+", " ", words)
    return re.split(r"(?<=[a-z)\"`\]0-9])[.:;] |\.$", flat)[0]


def page_head(title: str, names: list, summary: str) -> list:
    named = [f".Nm {name}" + (" ," if name != names[-1] else "") for name in names]
    return [f".Dd {DATE}", f".Dt {title.upper()} 3", ".Os", ".Sh NAME", *named,
            f".Nd {escaped(summary)}", ".Sh LIBRARY", "Culex (libculex, \\-lculex)"]


def function_page(header: Header, contract: Contract) -> list:
    names = [each.name for each in contract.functions]
    lines = page_head(names[0], names, first_sentence(contract.words))
    lines += [".Sh SYNOPSIS", f".In {header.file}"]
    for each in contract.declarations:
        lines += prototype(each.text) if each.is_function else literal(each.text)
    lines += [".Sh DESCRIPTION", *prose(contract.words)[1:]]
    for each in contract.functions:
        if each.note:
            lines += [".Pp", f".Fn {each.name} :", escaped(each.note) + "."]
    related = sorted({"culex", header.title})
    return lines + [".Sh SEE ALSO", *(f".Xr {name} 3 ," for name in related), ".Xr culex 7"]


def function_list(contracts: list) -> list:
    lines = []
    for contract in contracts:
        for each in contract.functions:
            lines += [f".It Xr {each.name} 3", escaped(first_sentence(contract.words)) + "."]
    return [".Sh FUNCTIONS", ".Bl -tag -width Ds", *lines, ".El"] if lines else []


def header_page(header: Header, headers: list) -> list:
    intro, contracts = header.contracts[0].words, header.contracts
    summary, _, more = re.sub(r"^culex\S*\.h - ", "", intro).partition("\n\n")
    summary = re.sub(r"\s+", " ", summary).rstrip(".")
    lines = page_head(header.title, [header.title], summary)
    lines += [".Sh SYNOPSIS", f".In {header.file}", ".Sh DESCRIPTION"]
    lines += prose(more or summary[0].upper() + summary[1:] + ".")[1:]
    for contract in contracts[1:]:
        if not contract.functions:
            lines += prose(contract.words) if contract.words else []
            for each in contract.types:
                lines += literal(each.text)
    lines += function_list(list(contracts))
    others = [each.title for each in headers if each.title != header.title]
    return lines + [".Sh SEE ALSO", *(f".Xr {name} 3 ," for name in sorted(others)), ".Xr culex 7"]


def pages_make(headers: list) -> dict:
    pages = {}

    def add(name: str, lines: list) -> None:
        if pages.setdefault(f"{name}.3", lines) is not lines:
            sys.exit(f"pages.py: two pages by the name of {name}")

    for header in headers:
        add(header.title, header_page(header, headers))
    for header in headers:
        for contract in header.contracts:
            names = [each.name for each in contract.functions]
            if names and not contract.words:
                sys.exit(f"pages.py: {header.file}: {names[0]} has no comment above it")
            if names:
                add(names[0], function_page(header, contract))
            for each in contract.declarations:
                target = names[0] if names else header.title
                if each.name and f"{each.name}.3" not in pages:
                    add(each.name, [f".so man3/{target}.3"])
    return pages


def main() -> None:
    folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.h"))
    if out == "--headers":
        print("\n".join(names))
        return
    headers = [header_read(folder, name) for name in names]
    pages = pages_make(headers)
    if out == "--names":
        print("\n".join(sorted(pages)))
        return
    for name, lines in pages.items():
        (pathlib.Path(out) / name).write_text("\n".join(lines) + "\n")


DATE = re.search(r"^\.Dd (.*)$", (pathlib.Path(__file__).parent / "culex.7").read_text(), re.M).group(1)
main()
