"""Random schemas that mean harm, from a seed.

Three kinds. `texts` makes one schema with holes, which is filled with harmless texts once and
with hostile ones many times: the code around the texts must not differ. `names` makes schemas
whose names, numbers and nesting are the trouble. `damaged` takes an honest schema and breaks its
bytes. Each text that is put into a schema carries the marker zqx.
"""

from __future__ import annotations

import random
import re
from typing import Callable, Dict, List, Union

MARKER = "zqx"

TRICKS = [
    '"', "'", "\\", "*/", "/*", "//", "/**/", "*/ */", "??/", "??=", "????/", "??'", "?", "\r", "\t", "\x0b",
    "%s", "%n", "%%", "{{ 7 * 7 }}", "{% raw %}", "{#", "#}", "#define ", "#error out", "#include <x>", "@file ",
    "\\brief ", "\\ ", "\\\\", "\\u0022", "\\x41", "\\101", "\\N{DIGIT ZERO}", 'R"(', ')"', 'u8"', 'L"x"', '_Pragma("x")',
    "__FILE__", "__attribute__((x))", "<%", "%>", "<:", "%:", '"; int out; char *', "'; int out; '", "*/ int out; /*",
    "*/\\", "/\\", "*\\", "]]", "}", "{", ";", "(", ")", ",", "\x01", "\x1b[31m", "\x7f", "\x80", "\x9b", "\x0c",
    "caf\u00e9", "\u4f60\u597d", "\U0001f600", "\u202e", "\u2066", "\u2069", "\u200b", "\u2028", "\u2029", "\ufeff",
    "\ufffe", "\u0301", "\U000e0041", "\U0010ffff", "<U+000A>", "0", "7", "08", "a", "f", " ", "  ", "-", "x" * 90,
    "*/" * 40, "??/" * 30, "\\" * 33, "clang-format on", "NOLINT", "$(id)", "`id`", "&amp;", "../", "/etc/passwd",
]
DECEPTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
LINE_BREAKS = ["\n", "\r\n", "\\\n", "??/\n", "*/\n", "\n#error out\n", "\n\n"]

KEYWORDS = ("int", "if", "class", "new", "this", "template", "default", "register", "bool", "char8_t", "typeof",
            "nullptr", "static_assert", "asm", "constexpr", "and", "xor", "operator", "private", "inline", "restrict")
MACROS = ("NULL", "EOF", "errno", "stdin", "stderr", "assert", "unix", "linux", "I", "major", "minor", "EINVAL",
          "SIGINT", "INT_MAX", "PRIu64", "NAN", "INFINITY", "M_PI", "true", "bool", "offsetof", "signbit", "isnan",
          "makedev", "log1", "memset", "memcpy", "strlen", "size_t", "uint8_t", "main", "printf", "UINT64_C")
SHAPES = ("_x", "__x", "x__y", "x_", "_", "X", "x", "x" * 64, "x" * 65, "x" * 300, "L" * 64, "has_x", "x_len", "has_has_x",
          "made", "job", "value", "status", "error", "options", "user", "run", "text", "len", "client", "worker", "arena",
          "culex_x", "CULEX_X", "culex", "aB", "AB", "ab", "a1", "a_1", "1a", "caf\u00e9", "\u0430", "a-b", "a.b",
          "a b", "", "x\u202e", "NULL_", "job_type", "params", "returns", "struct", "enum", "reserved", "optional",
          "queue", "string", "uint8", "every", "import", "package")
HOSTILE_NAMES = KEYWORDS + MACROS + SHAPES

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty", "knoll", "larch",
         "maple", "north", "otter", "plain", "quill", "raven", "shore", "thorn", "umber", "vale", "willow", "yarrow")

INTEGERS = {kind: ((-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "i" else (0, (1 << bits) - 1))
            for bits in (8, 16, 32, 64, 128) for kind in (f"int{bits}", f"uint{bits}")}
OTHERS = ("bool", "char", "float32", "float64", "string", "bytes", "uuid", "timestamp", "duration")
NUMBERS = ("0", "-0", "1", "-1", "00", "0x", "0xFF", "0b2", "0b101", "1_000", "1__0", "9" * 40, "-9223372036854775808",
           "18446744073709551616", "340282366920938463463374607431768211456", "1e999", "-1e-999", "0.17", "3.4028236e38",
           "1.00000017881393432617187499", ".5", "5.", "1e5", "1m30s", "300y", "292w", "1ns", "99999999999999999999w",
           "1h1h", "1s1h", "512M", "99999999999G", "65535", "65536", "1001", "NaN", "- 1", "--1", "+1")
SETTINGS = ("queue {t};", "priority {n};", "timeout {n};", "expires {n};", "memory {n};", "keep success {n}, failure 1d;",
            "retry {{ max {n}; backoff constant 1s; }}", "retry {{ backoff exponential 1s factor {n} cap 1h; }}",
            "retry {{ backoff steps {n}, 1m; jitter {n}; }}", "every {n};", "every 1m jitter {n};", "tags {t}, {t};",
            "retry none;", "retry {w};", "unique by ({w}) for {n};", "cron {t} tz {t};", "concurrency {n} by ({w});",
            "rate {n} per {n} burst {n};")


class Hole:
    """A place for a text: `write` puts one into the syntax of the place."""

    def __init__(self, write: Callable[[random.Random, str], str], breaks: bool, length: int = 0) -> None:
        self.write = write
        self.breaks = breaks
        self.length = length


Parts = List[Union[str, Hole]]


# Texts.


def hostile(dice: random.Random, hole: Hole) -> str:
    pool = TRICKS + LINE_BREAKS * 2 if hole.breaks else TRICKS
    pieces = [dice.choice(pool) for _ in range(dice.randrange(1, 8))]
    pieces.insert(dice.randrange(len(pieces) + 1), MARKER + str(dice.randrange(1000)))
    text = "".join(pieces)
    while len(text) < hole.length:
        text += dice.choice(pool)
    return text


def harmless(_: random.Random, hole: Hole) -> str:
    return "plain text".ljust(hole.length, "a")


def write_text(dice: random.Random, text: str) -> str:
    return '"' + "".join(write_char(dice, char) for char in text) + '"'


def write_char(dice: random.Random, char: str) -> str:
    code = ord(char)
    is_plain = char.isprintable() and char not in '"\\'
    if is_plain and (dice.random() < 0.9 or code > 0x7E):
        return char
    if code < 0x80 and dice.random() < 0.5:
        return f"\\x{code:02x}"
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return named[char] if char in named and dice.random() < 0.5 else f"\\u{{{code:x}}}"


def write_one_char(dice: random.Random, text: str) -> str:
    known = {"'": "\\'", "\\": "\\\\", "\n": "\\n"}
    char = dice.choice([char for char in text if ord(char) < 0x80] or ["x"])
    return f"'{known.get(char, char)}'" if char.isprintable() or char in known else f"'\\x{ord(char):02x}'"


def written(text: str) -> str:
    """What the language lets stand in a comment, where nothing can be escaped."""
    return DECEPTIVE.sub(" ", text.replace("\r\n", "\n"))


def write_line(_: random.Random, text: str) -> str:
    return written(text).replace("\n", " ")


def write_docs(_: random.Random, text: str) -> str:
    return "\n/// ".join(written(text).split("\n"))


def write_comment(_: random.Random, text: str) -> str:
    return written(text).replace("*/", "* ")


TEXT = Hole(write_text, True)
LONG_TEXT = Hole(write_text, True, 4500)
CHAR = Hole(write_one_char, True)
DOC = Hole(write_docs, True)
DOC_LINE = Hole(write_line, False)
COMMENT = Hole(write_comment, True)


def fill(dice: random.Random, parts: Parts, text: Callable[[random.Random, Hole], str]) -> str:
    return "".join(part if isinstance(part, str) else part.write(dice, text(dice, part)) for part in parts)


# Schemas.


class Author:
    """Writes one schema. `wild` is how often a name or number is one that should not be."""

    def __init__(self, dice: random.Random, wild: float) -> None:
        self.dice = dice
        self.wild = wild
        self.parts: Parts = []
        self.serial = 0
        self.enums: Dict[str, List[str]] = {}
        self.structs: List[str] = []
        self.current = "struct"

    def put(self, *parts: Union[str, Hole]) -> None:
        self.parts += parts

    def name(self) -> str:
        self.serial += 1
        if self.dice.random() < self.wild:
            return self.dice.choice(HOSTILE_NAMES)
        return f"{self.dice.choice(WORDS)}_{self.serial}" if self.dice.random() < 0.9 else f"w{self.serial}"

    def number(self, honest: str) -> str:
        return self.dice.choice(NUMBERS) if self.dice.random() < self.wild else honest

    def doc(self) -> None:
        if self.dice.random() < 0.5:
            self.put("/// ", DOC, "\n")

    def schema(self, package: str) -> Parts:
        if package:
            self.put(f"package {package};\n")
        if self.dice.random() < 0.3:
            self.put("/* ", COMMENT, " */\n")
        for make, most in ((self.enum, 2), (self.struct, 3), (self.job, 1)):
            for _ in range(self.dice.randrange(most + 1)):
                make()
        self.job()
        return self.parts

    def enum(self) -> None:
        name = self.name()
        base = self.dice.choice(["", "", " : uint8", " : int64", " : uint64"])
        self.doc()
        self.put(f"enum {name}{base} {{\n")
        values = [self.name().upper() for _ in range(self.dice.randrange(1, 5))]
        for at, value in enumerate(values):
            self.put(value)
            if self.dice.random() < 0.2:
                self.put(" = ", self.number(str(at + 5 * at)))
            if self.dice.random() < 0.2:
                self.put(" [[deprecated(", TEXT, ")]]")
            self.put(", ///< ", DOC_LINE, "\n")
        self.put("}\n")
        self.enums[name] = values

    def struct(self) -> None:
        name = self.name()
        self.doc()
        self.current = name
        self.put(f"struct {name} {{\n")
        self.fields(3)
        self.put("}\n")
        self.structs.append(name)

    def fields(self, most: int) -> None:
        for _ in range(self.dice.randrange(1, most + 1)):
            self.field()
        if self.dice.random() < 0.1:
            self.put('reserved "', self.name(), '";\n')

    def field(self) -> None:
        kind = self.dice.choice([*INTEGERS, *OTHERS, "string", "string", *self.enums, *self.structs])
        if self.dice.random() < self.wild / 3:
            kind = self.dice.choice([self.current, "later", "no_such", "shop.money", "string.x", *HOSTILE_NAMES])
        shape = self.dice.choice(["", "", "", "", "[]", "[<=7]", "[3]"])
        optional = not shape and self.dice.random() < 0.2
        if self.dice.random() < 0.3:
            self.put("/// ", DOC, "\n")
        if shape and self.dice.random() < self.wild:
            shape = f"[{self.number('1')}]"
        self.put("optional " if optional else "", f"{kind} {self.name()}{shape}")
        self.attributes(kind)
        if not shape and not optional and self.dice.random() < 0.6:
            self.default(kind)
        self.put(";")
        if self.dice.random() < 0.3:
            self.put(" ///< ", DOC_LINE)
        self.put("\n")

    def attributes(self, kind: str) -> None:
        if self.dice.random() < 0.1:
            self.put(" [[deprecated(", TEXT, ")]]")
        elif self.dice.random() < 0.1:
            self.put(" [[x_note(", TEXT, ", 3)]]")
        elif kind == "string" and self.dice.random() < 0.1:
            self.put(f" [[max_len({self.number('100000')})]]")

    def default(self, kind: str) -> None:
        if kind in INTEGERS:
            self.put(" = ", self.number(str(self.dice.choice([*INTEGERS[kind], 0, 1, 77]))))
        elif kind == "string":
            self.put(" = ", LONG_TEXT if self.dice.random() < 0.05 else TEXT)
        elif kind == "char":
            self.put(" = ", CHAR)
        elif kind in self.enums:
            self.put(" = ", self.dice.choice(self.enums[kind]))
        elif kind in OTHERS:
            self.put(" = ", self.number({
                "bool": "true", "float32": "0.17", "float64": "-1e-9", "bytes": 'x"00ff7f5c22"', "duration": "1m30s",
                "uuid": '"6ba7b810-9dad-11d1-80b4-00c04fd430c8"', "timestamp": '"2026-01-01T00:00:00Z"'}[kind]))

    def job(self) -> None:
        name = self.name()
        self.doc()
        self.put(f"job {name}")
        if self.dice.random() < 0.15:
            self.put(" [[deprecated(", TEXT, ")]]")
        self.put(" {\nparams {\n")
        self.fields(6)
        self.put("}\n")
        if self.dice.random() < 0.3:
            self.put("returns {\n")
            self.fields(3)
            self.put("}\n")
        if self.dice.random() < self.wild:
            setting = self.dice.choice(SETTINGS)
            for part in setting.replace("{{", "{").replace("}}", "}").split("{t}"):
                self.put(part.replace("{n}", self.dice.choice(NUMBERS)).replace("{w}", self.name()), TEXT)
            self.parts.pop()
        elif self.dice.random() < 0.3:
            self.put("timeout 30s; tags \"a.b\", \"c\"; retry { max 3; backoff steps 1s, 1m; }\n")
        self.put("}\n")


def texts(dice: random.Random, packages: List[str]) -> List[str]:
    """One schema, once for each package: the first harmless, the others hostile."""
    parts = Author(dice, 0).schema("harmless")
    return ["package " + package + ";\n" + fill(dice, parts[1:], hostile if at else harmless)
            for at, package in enumerate(packages)]


def names(dice: random.Random, packages: List[str]) -> List[str]:
    wild = [dice.choice([0.03, 0.06, 0.3]) for _ in packages]
    return [fill(dice, Author(dice, share).schema(package if dice.random() < 0.9 else ""), hostile)
            for package, share in zip(packages, wild)]


def damaged(dice: random.Random, packages: List[str], honest: List[bytes]) -> List[bytes]:
    made = [fill(dice, Author(dice, 0).schema(package), dice.choice([harmless, hostile])).encode() for package in packages]
    return [damage(dice, text if dice.random() < 0.7 else dice.choice(honest), honest) for text in made]


def damage(dice: random.Random, text: bytes, honest: List[bytes]) -> bytes:
    scraps = [b"\0", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80\xae", b"\xef\xbb\xbf", b'"', b"*/",
              b"/*", b"[[", b"]]", b"{", b"}" * 3, b"{" * 500, b"[" * 500, b"(", b"/// */ int out;\n", b"\r",
              b"\\", b";", b"import \"x.job\";", b"a" * 5000, b"9" * 5000, b"\n" * 300, b"'", b".", b"=", b"-"]
    for _ in range(dice.choice([1, 1, 1, 2, 5, 20])):
        at, end = sorted(dice.randrange(len(text) + 1) for _ in range(2))
        end = min(end, at + dice.choice([0, 1, 1, 8, 60]))
        other = dice.choice(honest)
        start = dice.randrange(len(other) + 1)
        new = dice.choice([b"", bytes([dice.randrange(256)]), dice.choice(scraps), text[at:end] * 2,
                           other[start:start + dice.randrange(80)]])
        text = text[:at] + new + text[end:]
    return text
