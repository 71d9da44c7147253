"""Enums: a type of the base's size, its constants and its descriptor."""

from __future__ import annotations

from typing import List, Set

import layout
import literals
from kinds import KINDS
from literals import CText
from model import Enum, integer_range
from names import Context, deprecation
from view import EnumView, MemberView, NamedValue, TableView


def enum_view(context: Context, enum: Enum) -> EnumView:
    values = context.names.fresh(enum.c + "_values")
    is_enum = bool(enum.values) and fits_int(enum)
    base = base_type(enum.base)
    return EnumView(
        c=CText(enum.c),
        comments=layout.comment(enum.doc),
        marker=context.marker(enum.line),
        base=base,
        opening=CText(f"CULEX_ENUM_BEGIN({enum.c}, {base}) {{" if is_enum
                      else f"typedef {base} {enum.c};"),
        blocks=[_constants(enum)] if is_enum else [],
        macros=_macros(enum) if enum.values and not is_enum else [],
        type_symbol=CText(enum.type_symbol),
        name_function=CText(enum.name_function),
        tables=[_table(values, enum)] if enum.values else [],
        cases=_cases(enum),
        type_name=literals.c_string(enum.name),
        kind=KINDS[enum.base].constant,
        values=values if enum.values else literals.NULL,
        value_count=CText(len(enum.values)),
    )


def base_type(base: str) -> CText:
    c_type = KINDS[base].c_type
    assert c_type is not None
    return c_type


def fits_int(enum: Enum) -> bool:
    """Whether C's own enum can hold all values: before C23 its constants are ints."""
    return all(-literals.INT_MAX - 1 <= value.value <= literals.INT_MAX for value in enum.values)


def _constants(enum: Enum) -> List[MemberView]:
    last = len(enum.values) - 1
    return [
        MemberView(
            layout.comment(value.doc, 4),
            CText(f"{value.c}{deprecation(value.deprecated)} = {literals.c_int64(value.value)}"
                  + ("" if index == last else ",")))
        for index, value in enumerate(enum.values)
    ]


def _macros(enum: Enum) -> List[MemberView]:
    low, high = integer_range(enum.base)
    bits, is_signed = high.bit_length() + (low < 0), low < 0
    width = max(len(value.c) for value in enum.values)
    views = []
    for value in enum.values:
        literal = literals.c_int(value.value, bits, is_signed)
        shown = f"({literal})" if literal.startswith("-") else literal
        views.append(MemberView(layout.comment(value.doc),
                                CText(f"#define {value.c.ljust(width)} {shown}")))
    return views


def _table(name: CText, enum: Enum) -> TableView:
    rows = layout.columns([[literals.c_string(value.name), literals.c_bits64(value.value), literals.c_doc(value.doc)]
                           for value in enum.values])
    return TableView(CText(f"static const culex_enum_value {name}[]"),
                     [CText("{" + row + "}") for row in rows])


def _cases(enum: Enum) -> List[NamedValue]:
    """One case a number: a second name of it is an alias for reading only."""
    seen: Set[int] = set()
    cases = []
    for value in enum.values:
        if value.value not in seen:
            cases.append(NamedValue(CText(value.c), literals.c_string(value.name)))
            seen.add(value.value)
    return cases
