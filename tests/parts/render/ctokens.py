"""Cuts C text into tokens the way a compiler with -trigraphs does: enough to tell code
from comments and literals, whatever somebody wrote into them."""

from __future__ import annotations

import re
from typing import List, Tuple

TRIGRAPHS = {"=": "#", "/": "\\", "'": "^", "(": "[", ")": "]", "!": "|", "<": "{", ">": "}", "-": "~"}

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<char>'(?:\\.|[^'\\\n])*')
  | (?P<word>[A-Za-z0-9_.]+)
  | (?P<space>\s+)
  | (?P<mark>[!-/:-@\[-`{-~])
""", re.VERBOSE | re.DOTALL)


def tokens(text: str) -> List[Tuple[str, str]]:
    """(kind, text) of each token; raises ValueError at what is none."""
    text = re.sub(r"\?\?([=/'()!<>-])", lambda match: TRIGRAPHS[match.group(1)], text)
    text = re.sub(r"\\[ \t\v\f]*(\r\n|[\n\r])", "", text)
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise ValueError(f"no token at {text[at:at + 40]!r}")
        found.append((match.lastgroup, match.group()))
        at = match.end()
    return found


def skeleton(text: str) -> List[str]:
    """The code without comments and blanks, each literal replaced by its kind."""
    return [f"<{kind}>" if kind in ("string", "char") else token
            for kind, token in tokens(text) if kind not in ("comment", "space")]
