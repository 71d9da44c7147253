"""What the templates print: the model with every name made and every value written as C.

Only shapes stand here. enums.py, users.py, records.py, jobs.py and chains.py fill them and take
all decisions, so that the templates hold loops and names only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List

from literals import CText


@dataclass(frozen=True)
class MemberView:
    comments: List[CText]
    text: CText


@dataclass(frozen=True)
class MakeView:
    comments: List[CText]
    deprecations: List[CText]
    head: CText
    declaration: CText  # of the local variable
    made: CText         # its name
    constants: List[CText]
    statements: List[CText]


@dataclass(frozen=True)
class SetView:
    """A function that sets a member with its `has_` and its length."""

    comments: List[CText]
    deprecations: List[CText]
    head: CText
    statements: List[CText]


@dataclass(frozen=True)
class RecordView:
    """A C struct and its descriptor: a schema struct, or the params or result of a job."""

    c: CText
    comments: List[CText]
    marker: CText
    opening: CText
    closing: CText
    members: List[MemberView]
    makes: List[MakeView]
    sets: List[SetView]
    # the descriptor
    type_symbol: CText
    type_head: CText
    type_cells: CText
    constants: List[CText]  # defaults and what they point to
    tables: List["TableView"]


@dataclass(frozen=True)
class TableView:
    """A static const array."""

    head: CText
    rows: List[CText]


@dataclass(frozen=True)
class NamedValue:
    label: CText
    literal: CText


@dataclass(frozen=True)
class EnumView:
    c: CText
    comments: List[CText]
    marker: CText
    base: CText
    opening: CText
    blocks: List[List[MemberView]]  # one enum, or none and macros in its place
    macros: List[MemberView]
    type_symbol: CText
    name_function: CText
    tables: List[TableView]
    cases: List[NamedValue]
    type_name: CText
    kind: CText
    values: CText
    value_count: CText


@dataclass(frozen=True)
class UserView:
    """A type of the user's own: its functions behind ones that know no type, and its descriptor."""

    comments: List[CText]
    marker: CText
    type_symbol: CText
    check: CText
    parse: CText
    format: CText
    parse_call: CText
    format_call: CText
    cells: CText


@dataclass(frozen=True)
class FunctionView:
    name: CText
    comments: List[CText]
    deprecations: List[CText]
    prototype: CText
    head: CText  # the declaration without semicolon
    body: List[CText]


@dataclass(frozen=True)
class JobView:
    records: List[RecordView]  # the params and, where there are any, the result and metadata
    type_symbol: CText
    thunk_head: CText
    thunk_handler: CText
    thunk_call: CText
    handler: CText
    enqueues: List[FunctionView]
    results: List[FunctionView]  # of jobs that return something
    keeps: List[FunctionView]  # of jobs that keep metadata
    others: List[FunctionView]
    tables: List[TableView]
    policy: List[CText]


@dataclass(frozen=True)
class ChainView:
    comments: List[CText]
    marker: CText
    type_symbol: CText
    tables: List[TableView]
    cells: CText
    functions: List[FunctionView]


@dataclass(frozen=True)
class SchemaView:
    file: CText
    header: CText
    guard: CText
    legend: List[CText]  # how to read the tables, where there are any
    descriptor_version: CText
    mismatch: CText
    includes: List[CText]
    own_macros: List[CText]
    export: CText
    imports: List[CText]
    cipher: List[CText]  # what makes a program need one, where anything is encrypted
    enums: List[EnumView]
    users: List[UserView]
    forwards: List[CText]
    structs: List[RecordView]
    jobs: List[JobView]
    chains: List[ChainView]
    typed_calls: List[CText]  # the macros of the functions whose arguments are checked
    guarded_calls: List[CText]  # the macros that put a guard before handlers in C++
