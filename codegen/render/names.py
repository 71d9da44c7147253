"""C names that the front end did not make: those that only one source file sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Optional, Set

import literals
from literals import CText
from model import Field, Schema


class Names:
    """C names that are taken; makes further ones for what only the source file sees."""

    def __init__(self, schema: Schema) -> None:
        self._taken: Set[str] = set()
        for enum in schema.enums:
            self._taken |= {enum.c, enum.type_symbol, enum.name_function}
            self._taken |= {value.c for value in enum.values}
        for user in schema.users:
            self._taken |= {user.c, user.type_symbol, user.parse, user.format}
        for struct in schema.structs:
            self._taken |= {struct.c, struct.type_symbol, struct.make}
            self._take_refs(struct.fields)
        for job in schema.jobs:
            self._taken |= {job.c, job.params_symbol} | set(vars(job.functions).values())
            self._take_refs(job.params)
            if job.result is not None:
                self._taken.add(job.result.c)
                self._take_refs(job.result.fields)
            if job.metadata is not None:
                self._taken |= {job.metadata.c, job.metadata.make}
                self._take_refs(job.metadata.fields)
        for chain in schema.chains:
            self._taken |= {chain.type_symbol, chain.enqueue, chain.register}
            self._taken |= {step.type_symbol for step in chain.steps}

    def _take_refs(self, fields: Iterable[Field]) -> None:
        for field in fields:
            self._taken |= {field.set_c} if field.set_c is not None else set()
            if field.ref is not None:
                self._taken |= {field.ref.c, field.ref.type_symbol}

    def fresh(self, wish: str) -> CText:
        name = fresh_name(wish, self._taken)
        self._taken.add(name)
        return name


def fresh_name(wish: str, taken: Set[str]) -> CText:
    while wish in taken:
        wish += "_"
    return CText(wish)


@dataclass(frozen=True)
class Context:
    """What everything in one file has in common."""

    file: CText
    export: CText
    names: Names

    @classmethod
    def of(cls, schema: Schema) -> "Context":
        return cls(literals.c_comment(schema.file), CText(schema.export_macro or "CULEX_HIDDEN"),
                   Names(schema))

    def marker(self, line: int, more: str = "") -> CText:
        """Where something stands in the schema, and what else is to be known of it."""
        return CText(f"/* {self.file}:{line}{'; ' if more else ''}{literals.c_comment(more)} */")


def deprecation(reason: Optional[str]) -> str:
    """The attribute behind a declarator, with the blank before it, or nothing."""
    return "" if reason is None else f" CULEX_DEPRECATED({literals.c_message(reason)})"
