"""The document of schemas/plugin.md: its files, the types of all of them, and the answer."""

from __future__ import annotations

import json
import struct
import sys
from fractions import Fraction
from typing import Any, Callable, Dict, List

Json = Dict[str, Any]

USER_TEXT_MAX = 1023  # CULEX_USER_TEXT_MAX
INTEGER_BITS = {f"{sign}int{bits}": (bits, sign == "") for sign in ("", "u") for bits in (8, 16, 32, 64, 128)}


class Refusal(Exception):
    """What a schema holds and the plug-in cannot express; becomes a diagnostic at the place."""

    def __init__(self, file: Json, line: int, message: str) -> None:
        super().__init__(message)
        self.error = {"file": file["file"], "line": line, "message": message}


class Document:
    def __init__(self, value: Json) -> None:
        if value["ir"] != 1:
            sys.exit("this plug-in reads version 1 of the model only")
        self.options: Dict[str, str] = value["options"]
        self.files: List[Json] = value["files"]
        self.named: List[Json] = [file for file in value["files"] if file["named"]]
        self.enums: Dict[str, Json] = {}
        self.structs: Dict[str, Json] = {}
        self.file_of: Dict[str, Json] = {}  # type by qualified name -> its file
        for file in value["files"]:
            for kind, types in (("enums", self.enums), ("structs", self.structs)):
                for declared in file[kind]:
                    types[declared["name"]] = declared
                    self.file_of[declared["name"]] = file


    def texts_of_users(self) -> None:
        """Makes the strings of fields of the user's own types that they are in a payload."""
        for file in self.files:
            fields = [field for struct in file["structs"] for field in struct["fields"]]
            for job in file["jobs"]:
                fields += job["params"]
                for block in ("result", "metadata"):
                    fields += job[block]["fields"] if job[block] is not None else []
            for field in fields:
                if field["kind"] == "user":
                    field.update(kind="string", ref=None, max_len=USER_TEXT_MAX)


def serve(make: Callable[[Document], Dict[str, str]]) -> None:
    """Reads the document, and answers with what `make` says: content by name."""
    document = Document(json.loads(sys.stdin.buffer.read().decode("utf-8")))
    answer: Json = {}
    try:
        answer["files"] = [{"name": name, "content": content} for name, content in make(document).items()]
    except Refusal as refusal:
        answer["errors"] = [refusal.error]
    sys.stdout.write(json.dumps(answer) + "\n")


def integer_range(field: Json) -> "tuple[int, int]":
    """Least and greatest number of an integer field, its attributes included."""
    bits, is_signed = INTEGER_BITS[field["kind"]]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    if field["min"] is not None:
        low = max(low, int(field["min"]["int"]))
    if field["max"] is not None:
        high = min(high, int(field["max"]["int"]))
    return low, high


def float32_of(text: str) -> float:
    """A double that becomes the float32 nearest to the decimal text, as C rounds that. Where the nearest
    double is even, and so may lie in the middle of two float32s, the other one around the text is taken."""
    near = float(text)
    bits = struct.unpack("<Q", struct.pack("<d", near))[0]
    if near == 0.0 or bits % 2 == 1:
        return near
    missing = abs(Fraction(text)) - abs(Fraction(near))
    return float(struct.unpack("<d", struct.pack("<Q", bits + (missing > 0) - (missing < 0)))[0])
