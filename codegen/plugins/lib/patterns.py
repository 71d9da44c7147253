"""Regular expressions that JSON Schema validators of all languages take: no look-behind, no flags."""

from __future__ import annotations

from typing import List

# The very end. `$` also matches before a line end at the end in some languages.
END = "(?![\\s\\S])"


def whole(pattern: str) -> str:
    return f"^(?:{pattern}){END}"


def literal(text: str) -> str:
    return "".join(char if char.isalnum() or char == "_" else f"\\u{ord(char):04x}" for char in text)


def integers(low: int, high: int) -> str:
    """The decimal text of every integer from `low` to `high`, and of no other; "-0" is none."""
    parts: List[str] = []
    if low < 0:
        parts.append("-(?:" + "|".join(naturals(max(1, -high), -low)) + ")")
    if high >= 0:
        parts += naturals(max(0, low), high)
    return "|".join(parts)


def naturals(low: int, high: int) -> List[str]:
    """Alternatives for low..high, one for each run of numbers that differ in their last digits."""
    found: List[str] = []
    while low <= high:
        size = 1  # low .. low + 10 * size - 1 share their first digits, as long as that is in range
        while low % (size * 10) == 0 and low + size * 10 - 1 <= high and low > 0:
            size *= 10
        digit = low // size % 10
        last = min(9, digit + (high - low + 1) // size - 1)
        if len(str(low)) != len(str(low + (last - digit) * size)):
            last = digit
        prefix, zeros = str(low // size)[:-1], len(str(size)) - 1
        found.append(prefix + (str(digit) if digit == last else f"[{digit}-{last}]")
                     + (f"[0-9]{{{zeros}}}" if zeros else ""))
        low += (last - digit + 1) * size
    return found


DAY = ("(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
       "|02-(?:0[1-9]|[12][0-9])")
CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
DECIMALS = "(?:\\.[0-9]{1,9})?"

TIMESTAMP = (f"(?:{'|'.join(naturals(1677, 2262))})-(?:{DAY})T{CLOCK}:[0-5][0-9]{DECIMALS}"
             f"(?:Z|[+-]{CLOCK})")
DURATION = f"-?(?:{'|'.join(naturals(0, 9223372036))}){DECIMALS}s"
UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"
