"""Values as C text.

Everything from a schema passes through here before it reaches a file, and comes
out as CText. The templates print CText only, so a value that took another way
stops the renderer instead of ending up in C.
"""

from __future__ import annotations

import re
import struct
from fractions import Fraction
from typing import List

# Shorter ones stay under the 4095 characters that every C compiler must take.
STRING_LITERAL_MAX = 4000

# Of a doc comment in a descriptor; each may be an escape of four characters.
DOC_BYTES_MAX = 1000

PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _.,:/-")

# Most texts are plain altogether, and one look at the whole is much cheaper than one a byte.
_IS_PLAIN = re.compile("[" + re.escape("".join(sorted(PLAIN))) + r"]*\Z")

# Also printable inside a literal that the compiler shows to people and must not hold escapes.
MESSAGE = PLAIN | frozenset("'()[]{}<>=+*!#$&;|~^@`")

INT_MAX = (1 << 31) - 1
INT64_MIN = -(1 << 63)


class RangeError(ValueError):
    """The number does not fit the C type."""


class CText(str):
    """Text that may stand in a C file as it is."""


NULL = CText("NULL")
ZERO = CText("0")


def c_string(text: str) -> CText:
    """A string literal. Three-digit octal escapes end by themselves, unlike hex ones."""
    if _IS_PLAIN.match(text):
        return CText(f'"{text}"')
    return CText('"' + "".join(_escape(byte) for byte in text.encode("utf-8")) + '"')


def c_doc(text: str) -> CText:
    """What a descriptor keeps of a doc comment: a literal that any compiler takes, escapes and all."""
    kept = text.encode("utf-8")[:DOC_BYTES_MAX].decode("utf-8", "ignore")
    return c_string(kept) if kept else NULL


def c_message(text: str) -> CText:
    """A string literal without any escape, as attributes want them; loses odd characters, and the end
    of what is longer than a compiler must take."""
    kept = " ".join("".join(char if char in MESSAGE else " " for char in text).split())
    if len(kept) > STRING_LITERAL_MAX:
        kept = kept[:STRING_LITERAL_MAX] + " ..."
    return CText(f'"{kept}"')


def is_long_string(text: str) -> bool:
    return len(c_string(text)) > STRING_LITERAL_MAX


def c_char(byte: int) -> CText:
    return CText(f"'{_escape(byte)}'")


def c_char_array(text: str) -> CText:
    """The initialiser of a NUL-ended char array, for text too long for a literal."""
    items = [c_char(byte) for byte in text.encode("utf-8")] + [CText("'\\000'")]
    return _rows(items, 12)


def c_byte_array(data: bytes, per_row: int = 12) -> CText:
    return _rows([CText(f"0x{byte:02x}") for byte in data], per_row)


def c_bool(value: bool) -> CText:
    return CText("true" if value else "false")


def c_int(value: int, bits: int, signed: bool) -> CText:
    """A constant of a type at least as wide as `bits` that needs no conversion warning."""
    if signed:
        return _c_signed(value, "INT64_C" if bits == 64 else "INT32_C")
    if bits <= 16:
        return CText(str(value))
    return CText(f"UINT{bits}_C({value})")


def c_int64(value: int) -> CText:
    """As short as it can be for an int64_t."""
    return _c_signed(value, "INT64_C")


def c_bits64(value: int) -> CText:
    """The 64-bit pattern of a number, as uint64_t; hex where the sign was lost."""
    if value < 0:
        return CText(f"UINT64_C(0x{value & ((1 << 64) - 1):016x})")
    return c_uint64(value)


def c_uint32(value: int) -> CText:
    return CText(str(value) if value <= INT_MAX else f"UINT32_C({value})")


def c_uint64(value: int) -> CText:
    return CText(str(value) if value <= INT_MAX else f"UINT64_C({value})")


def c_int64_bits(value: int) -> CText:
    """The int64_t with the same bits as a number of up to 64 bits, signed or not."""
    return c_int64(value - (1 << 64) if value > -INT64_MIN - 1 else value)


def c_int128(value: int, signed: bool) -> CText:
    """The initialiser of a culex_int128 or culex_uint128."""
    low = value & ((1 << 64) - 1)
    high = value >> 64
    return CText("{" + f"{c_uint64(low)}, {c_int64(high) if signed else c_uint64(high)}" + "}")


def c_float64(text: str) -> CText:
    if text in SPECIAL_FLOATS:
        return CText(f"CULEX_CAST(double, {SPECIAL_FLOATS[text]})")
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise RangeError("too large for a float64")
    return _with_point(repr(value))


def c_float32(text: str) -> CText:
    if text in SPECIAL_FLOATS:
        return SPECIAL_FLOATS[text]
    value = _nearest_float32(text)
    if value in (float("inf"), float("-inf")):
        raise RangeError("too large for a float32")
    shown = (f"{value:.{digits}g}" for digits in range(1, 10))
    shortest = next(text for text in shown if _nearest_float32(text) == value)
    return CText(_with_point(shortest) + "f")


# <math.h> has them as float constants, which widen to double exactly; said aloud, because
# -Wdouble-promotion asks for it.
SPECIAL_FLOATS = {
    "NaN": CText("NAN"),
    "Infinity": CText("INFINITY"),
    "-Infinity": CText("-INFINITY"),
}


def c_comment_lines(text: str) -> List[CText]:
    """Schema documentation as the lines of one comment, without its delimiters."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    return [c_comment(line) for line in lines]


def c_comment(line: str) -> CText:
    """One line that neither ends a comment nor says something else than it shows."""
    shown = _visible(line).rstrip(" ")
    for pair in ("*/", "/*", "??"):
        while pair in shown:
            shown = shown.replace(pair, pair[0] + " " + pair[1])
    return CText(_no_splice(shown))


def _no_splice(line: str) -> str:
    """A backslash before the end of a line, or before blanks, would join lines."""
    if "\\" not in line:
        return line
    out = []
    for index, char in enumerate(line):
        ends = index + 1 == len(line) or line[index + 1] == " "
        out.append("<U+005C>" if char == "\\" and ends else char)
    return "".join(out)


# Inclusive ranges of what a reader cannot see or what reorders the text around it. A list of our
# own, because the one in Python's unicodedata differs from version to version.
INVISIBLE = (
    (0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x061C, 0x061C), (0x180E, 0x180E), (0x200B, 0x200F),
    (0x2028, 0x202E), (0x2060, 0x206F), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFF0, 0xFFFB),
    (0xFFFE, 0xFFFF), (0xE0000, 0xE0FFF),
)
# One search a line: a look at each character by itself was a third of generating.
_INVISIBLE_CHAR = re.compile("[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in INVISIBLE) + "]")


def _visible(line: str) -> str:
    return _INVISIBLE_CHAR.sub(lambda found: f"<U+{ord(found[0]):04X}>", line.replace("\t", " "))


def _escape(byte: int) -> str:
    return chr(byte) if chr(byte) in PLAIN else f"\\{byte:03o}"


def _c_signed(value: int, macro: str) -> CText:
    if -INT_MAX <= value <= INT_MAX:
        return CText(str(value))
    if value == -INT_MAX - 1:
        return CText(f"(-{INT_MAX} - 1)")
    if value == INT64_MIN:
        return CText(f"(-{macro}({-INT64_MIN - 1}) - 1)")
    return CText(f"-{macro}({-value})" if value < 0 else f"{macro}({value})")


def _with_point(shown: str) -> CText:
    return CText(shown if any(char in shown for char in ".e") else shown + ".0")


def _as_float32(value: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _nearest_float32(text: str) -> float:
    """The float32 nearest to the decimal text, ties to even, rounded once.

    A double on the way rounds twice, unless it is the odd one of the two around the text: no
    such double lies in the middle between two float32s.
    """
    near = float(text)
    if near == 0.0 or near in (float("inf"), float("-inf")):
        return near
    exact = Fraction(text)
    bits = struct.unpack("<Q", struct.pack("<d", near))[0]
    if bits % 2 == 0 and Fraction(near) != exact:
        bits += 1 if abs(Fraction(near)) < abs(exact) else -1
    return _as_float32(struct.unpack("<d", struct.pack("<Q", bits))[0])


def _rows(items: List[CText], per_row: int) -> CText:
    """A braced list, on one line when it is short."""
    if len(items) <= per_row:
        return CText("{" + ", ".join(items) + "}")
    rows = [", ".join(items[at:at + per_row]) for at in range(0, len(items), per_row)]
    return CText("{\n    " + ",\n    ".join(rows) + "}")
