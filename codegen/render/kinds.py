"""The one table of kinds: C type, descriptor constant, literal form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, Optional, Union

import literals
from literals import CText
from model import Value


@dataclass(frozen=True)
class Kind:
    c_type: Optional[CText]  # None: the field's ref names it
    constant: CText          # of enum culex_kind
    literal: Optional[Callable[[Value], CText]] = None
    is_braced: bool = False  # the literal is an initialiser and cannot be assigned


def _integer(bits: int, signed: bool) -> Callable[[Value], CText]:
    return lambda value: literals.c_int(value.integer, bits, signed)


def _wide(signed: bool) -> Callable[[Value], CText]:
    return lambda value: literals.c_int128(value.integer, signed)


def _nanoseconds(value: Value) -> CText:
    return literals.c_int64(value.integer)


def _uuid(value: Value) -> CText:
    rows = literals.c_byte_array(bytes.fromhex(value.text.replace("-", "")), 8)
    return CText("{" + rows + "}")


def _row(c_type: Optional[str], constant: str, literal: Optional[Callable[[Value], CText]] = None,
         is_braced: bool = False) -> Kind:
    return Kind(None if c_type is None else CText(c_type), CText("CULEX_KIND_" + constant), literal,
                is_braced)


# Strings and bytes may need an array beside them, so view.py writes their initialisers.
KINDS: Dict[str, Kind] = {
    "bool": _row("bool", "BOOL", lambda value: literals.c_bool(value.flag)),
    "char": _row("char", "CHAR", lambda value: literals.c_char(value.integer)),
    "int8": _row("int8_t", "INT8", _integer(8, True)),
    "int16": _row("int16_t", "INT16", _integer(16, True)),
    "int32": _row("int32_t", "INT32", _integer(32, True)),
    "int64": _row("int64_t", "INT64", _integer(64, True)),
    "int128": _row("culex_int128", "INT128", _wide(True), is_braced=True),
    "uint8": _row("uint8_t", "UINT8", _integer(8, False)),
    "uint16": _row("uint16_t", "UINT16", _integer(16, False)),
    "uint32": _row("uint32_t", "UINT32", _integer(32, False)),
    "uint64": _row("uint64_t", "UINT64", _integer(64, False)),
    "uint128": _row("culex_uint128", "UINT128", _wide(False), is_braced=True),
    "float32": _row("float", "FLOAT32", lambda value: literals.c_float32(value.text)),
    "float64": _row("double", "FLOAT64", lambda value: literals.c_float64(value.text)),
    "string": _row("const char *", "STRING", lambda value: literals.c_string(value.text)),
    "bytes": _row("culex_bytes", "BYTES", is_braced=True),
    "uuid": _row("culex_uuid", "UUID", _uuid, is_braced=True),
    "timestamp": _row("culex_time", "TIMESTAMP", _nanoseconds),
    "duration": _row("culex_duration", "DURATION", _nanoseconds),
    "enum": _row(None, "ENUM", lambda value: CText(value.c)),
    "struct": _row(None, "STRUCT"),
    "user": _row(None, "USER"),
}

SHAPES: Dict[str, CText] = {
    "single": CText("CULEX_SHAPE_SINGLE"),
    "list": CText("CULEX_SHAPE_LIST"),
    "array": CText("CULEX_SHAPE_ARRAY"),
}

BACKOFFS: Dict[str, CText] = {
    "constant": CText("CULEX_BACKOFF_CONSTANT"),
    "linear": CText("CULEX_BACKOFF_LINEAR"),
    "polynomial": CText("CULEX_BACKOFF_POLYNOMIAL"),
    "exponential": CText("CULEX_BACKOFF_EXPONENTIAL"),
    "steps": CText("CULEX_BACKOFF_STEPS"),
}

MISSED: Dict[str, CText] = {
    "once": CText("CULEX_MISSED_ONCE"),
    "skip": CText("CULEX_MISSED_SKIP"),
    "all": CText("CULEX_MISSED_ALL"),
}

STATES: Dict[str, CText] = {
    "scheduled": CText("1u << CULEX_RUN_SCHEDULED"),
    "waiting": CText("1u << CULEX_RUN_WAITING"),
    "active": CText("1u << CULEX_RUN_ACTIVE"),
}

ON_CONFLICT: Dict[str, CText] = {
    "keep": CText("CULEX_ON_CONFLICT_KEEP"),
    "replace": CText("CULEX_ON_CONFLICT_REPLACE"),
    "error": CText("CULEX_ON_CONFLICT_ERROR"),
}

LIMITS: Dict[str, CText] = {
    "concurrency": CText("CULEX_LIMIT_CONCURRENCY"),
    "rate": CText("CULEX_LIMIT_RATE"),
    "fair": CText("CULEX_LIMIT_FAIR"),
}

JITTERS: Dict[str, CText] = {
    "none": CText("CULEX_JITTER_NONE"),
    "full": CText("CULEX_JITTER_FULL"),
    "equal": CText("CULEX_JITTER_EQUAL"),
    "ratio": CText("CULEX_JITTER_RATIO"),
}


def declare(c_type: Union[CText, str], name: str) -> CText:
    """`const char *` and `x` make `const char *x`, `int` and `x` make `int x`."""
    return CText(c_type + name if c_type.endswith("*") else f"{c_type} {name}")
