"""culexc gen --plugin cpp: NAME_job.hpp beside the NAME_job.h of each schema, for C++17 and later.

A struct for each struct and job, and how its members become those of C; culex/culex.hpp does the
rest. --option namespace=NAME is where they are, beside their package; "jobs" if not given.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from typing import Dict, Iterator, List, NoReturn, Optional, Sequence, Tuple

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "lib"), os.path.join(HERE, os.pardir, "render")]

import layout
import literals
from document import Document, Refusal, serve
from enums import fits_int
from kinds import KINDS
from literals import CText
from model import Enum, Field, Job, Schema, Struct
from node import Node

# Words of C++ that a type may have for a name in a schema, for its package makes another C name.
TAKEN = frozenset("""
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class
co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default
delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long
mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while
xor xor_eq
errno i386 linux stderr stdin stdout unix
std culex
""".split())  # the last lines: macros of C libraries and compilers; what generated code has to find
NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(::[A-Za-z][A-Za-z0-9_]*)*\Z")


# --- names ------------------------------------------------------------------------------------


def free(name: str) -> str:
    """No name of a schema ends with "_", so none is taken twice by this."""
    return name + "_" if name in TAKEN or name.startswith("culex_") else name


def bare(qualified: str) -> str:
    return free(qualified.rpartition(".")[2])


def result_name(job: Job) -> str:
    """Of what it returns. No type of the schema is called so, as that is its name in C."""
    return job.qualified + "_result"


def metadata_name(job: Job) -> str:
    """Of what it keeps, likewise."""
    return job.qualified + "_metadata"


class Names:
    """What is called how. A package is one namespace, as it is one prefix in C."""

    def __init__(self, root: str, schemas: Sequence[Schema]) -> None:
        self.root = root
        self.enums: Dict[str, Enum] = {enum.name: enum for schema in schemas for enum in schema.enums}

    def space(self, qualified: str) -> str:
        package = qualified.rpartition(".")[0].replace(".", "_")
        return "::".join([self.root, free(package)]) if package else self.root

    def of(self, qualified: str) -> str:
        return f"::{self.space(qualified)}::{bare(qualified)}"


# --- names that clash -------------------------------------------------------------------------


@dataclass(frozen=True)
class Declared:
    """A type with its place, and what a message calls it."""

    what: str
    name: str
    c: str
    schema: Schema
    line: int

    def refuse(self, text: str) -> NoReturn:
        raise Refusal({"file": self.schema.file}, self.line, f"{self.what} is {text}")


def declared_by(schema: Schema) -> Iterator[Declared]:
    for declared in (*schema.enums, *schema.users, *schema.structs):
        yield Declared(f"'{declared.name}'", declared.name, declared.c, schema, declared.line)
    for job in schema.jobs:
        yield Declared(f"'{job.qualified}'", job.qualified, job.c, schema, job.line)
        if job.result is not None:
            yield Declared(f"what '{job.qualified}' returns", result_name(job), job.result.c, schema, job.line)
        if job.metadata is not None:
            yield Declared(f"what '{job.qualified}' keeps", metadata_name(job), job.metadata.c, schema, job.line)


def check_names(names: Names, schemas: Sequence[Schema]) -> None:
    """A type without a package is where the namespaces of packages are; and the namespace of all is
    where the types of C are."""
    declared = [one for schema in schemas for one in declared_by(schema)]
    packages = {names.space(one.name): one for one in declared if "." in one.name}
    outermost = names.root.split("::")[0]
    for one in declared:
        if one.c == outermost:
            one.refuse(f"{one.c} in C, which is the namespace of all: choose another one by --option namespace=NAME")
        shown = names.of(one.name)[2:]
        if shown in packages:
            other = packages[shown]
            package = other.name.rpartition(".")[0]
            one.refuse(f"{shown} in C++, and so is package '{package}' of '{other.schema.file}': "
                       f"rename one of them, or give '{one.name}' a package")


# --- members ----------------------------------------------------------------------------------


class Text:
    """The header of one schema."""

    def __init__(self, names: Names, schema: Schema) -> None:
        self.names, self.schema = names, schema
        self.spaces = [names.space(declared.name) for declared in (*schema.enums, *schema.users, *schema.structs)]
        self.spaces += [names.space(job.qualified) for job in schema.jobs]

    def one_type(self, field: Field) -> str:
        if field.ref is not None:
            return self.names.of(field.ref.name)
        c_type = {"string": "std::string_view", "bytes": "culex::bytes"}.get(field.kind) or KINDS[field.kind].c_type
        assert c_type is not None
        return c_type

    def member_type(self, field: Field) -> str:
        shown = self.one_type(field)
        if field.shape == "list":
            shown = f"culex::list<{shown}>"
        elif field.shape == "array":
            shown = f"std::array<{shown}, {field.count}>"
        return f"std::optional<{shown}>" if field.optional else shown

    def default(self, field: Field) -> str:
        value = field.default
        if value is None:
            return "{}"
        if field.kind == "enum":
            assert field.ref is not None  # a constant that is a macro has no scope
            return f" = {'::' if fits_int(self.names.enums[field.ref.name]) else ''}{value.c}"
        if field.kind == "bytes":
            octets = "".join(f"\\{byte:03o}" for byte in bytes.fromhex(value.text))
            return f' = culex::as_bytes({{"{octets}", {len(value.text) // 2}}})'
        literal = literals.c_string(value.text) if field.kind == "string" else None
        make = KINDS[field.kind].literal
        return " = " + layout.indent(literal if literal is not None or make is None else make(value), 4)

    def member(self, field: Field) -> List[str]:
        lines = layout.comment(field.doc, 4)
        if field.deprecated is not None:
            lines.append(CText(f"    CULEX_MEMBER_DEPRECATED({literals.c_message(field.deprecated)})"))
        return [*lines, f"    {self.member_type(field)} {field.c}{self.default(field)};"]

    def struct(self, name: str, doc: str, fields: Sequence[Field]) -> List[str]:
        return [*layout.comment(doc), f"struct {name} {{", *(line for field in fields for line in self.member(field)), "};"]

    # --- what becomes of them in C ------------------------------------------------------------

    def each(self, field: Field) -> str:
        name = literals.c_string(field.name)
        if field.len_c is not None:
            return f"pass.values({name}, cpp.{field.c}, c.{field.c}, c.{field.len_c});"
        if field.has_c is not None:
            return f"pass.optional({name}, cpp.{field.c}, c.{field.has_c}, c.{field.c});"
        return f"pass.value({name}, cpp.{field.c}, c.{field.c});"

    def record(self, cpp: str, c: str, fields: Sequence[Field], more: Sequence[str] = ()) -> List[str]:
        """`cpp` and `c` are the structs in both languages."""
        arguments = "Pass &pass, Cpp &cpp, C &c" if fields else "Pass &, Cpp &, C &"
        return ["", f"template <> struct record<{cpp}> {{", f"    using c_type = ::{c};", *more, "",
                f"    template <typename Pass, typename Cpp, typename C> static void each({arguments})", "    {",
                *(f"        {self.each(field)}" for field in fields), "    }", "};"]

    def job_record(self, job: Job) -> List[str]:
        result = "void" if job.result is None else self.names.of(result_name(job))
        metadata = "void" if job.metadata is None else self.names.of(metadata_name(job))
        is_deprecated = job.deprecated is not None or job.retired
        more = [f"    using result_type = {result};", f"    using metadata_type = {metadata};",
                f"    static constexpr bool is_deprecated = {literals.c_bool(is_deprecated)};", "",
                "    static const culex_job_type &type()", "    {", f"        return ::{job.functions.type};", "    }"]
        made = self.record(self.names.of(job.qualified), job.c, job.params, more)
        if job.result is not None:
            made += self.record(result, job.result.c, job.result.fields)
        if job.metadata is not None:
            made += self.record(metadata, job.metadata.c, job.metadata.fields)
        return made

    # --- the parts of the file ----------------------------------------------------------------

    def types(self) -> List[str]:
        lines: List[str] = []
        for enum in self.schema.enums:
            lines += ["", *layout.comment(enum.doc), f"using {bare(enum.name)} = ::{enum.c};"]
        for user in self.schema.users:
            lines += ["", *layout.comment(user.doc), f"using {bare(user.name)} = ::{user.c};"]
        for struct in ordered(self.schema.structs):
            lines += ["", *self.struct(bare(struct.name), struct.doc, struct.fields)]
        for job in self.schema.jobs:
            lines += ["", *self.struct(bare(job.qualified), job_doc(job), job.params)]
            if job.result is not None:
                doc = f"What {job.name} returns."
                lines += ["", *self.struct(bare(result_name(job)), doc, job.result.fields)]
            if job.metadata is not None:
                doc = f"What {job.name} keeps from run to run."
                lines += ["", *self.struct(bare(metadata_name(job)), doc, job.metadata.fields)]
        return lines

    def records(self) -> List[str]:
        made = [line for struct in self.schema.structs
                for line in self.record(self.names.of(struct.name), struct.c, struct.fields)]
        return made + [line for job in self.schema.jobs for line in self.job_record(job)]

    def file(self) -> str:
        schema, guard = self.schema, self.schema.guard + "PP"
        lines = [f"/* generated by culexc from {literals.c_comment(schema.file)}; do not edit */", "/* clang-format off */",
                 f"#ifndef {guard}", f"#define {guard}", "", "#include <culex/culex.hpp>", "",
                 f'#include "{schema.header}"', *(f'#include "{item.header}pp"' for item in schema.imports)]
        if self.spaces:
            space = self.spaces[0]
            lines += ["", "CULEX_GENERATED_BEGIN", "", f"namespace {space}", "{", *self.types(), "",
                      f"}} /* namespace {space} */", "", "namespace culex", "{", *self.records(), "",
                      "} /* namespace culex */", "", "CULEX_GENERATED_END"]
        return "\n".join([*lines, "", "#endif", ""])


def ordered(structs: Sequence[Struct]) -> List[Struct]:
    """Each behind those that it holds, in lists too; none holds itself."""
    by_name = {struct.name: struct for struct in structs}
    made: Dict[str, Struct] = {}

    def place(struct: Struct) -> None:
        for field in struct.fields:
            if field.ref is not None and field.ref.name in by_name and field.ref.name not in made:
                place(by_name[field.ref.name])
        made[struct.name] = struct

    for struct in structs:
        place(struct)
    return list(made.values())


def job_doc(job: Job) -> str:
    """With what the compiler says of who enqueues it."""
    told: Optional[str] = None
    if job.deprecated is not None:
        told = f"Deprecated: {job.deprecated}"
    elif job.retired:
        told = "Retired: only queued runs are left."
    return "\n".join([part for part in (job.doc.strip("\n"), told) if part])


# --- the plug-in ------------------------------------------------------------------------------


def read_schema(node: Node) -> Tuple[bool, Schema]:
    return node.flag("named"), Schema.read(node)


def namespace_of(document: Document) -> str:
    strangers = sorted(set(document.options) - {"namespace"})
    if strangers:
        sys.exit(f"there is no option '{strangers[0]}'; it is namespace=NAME")
    root = document.options.get("namespace", "jobs")
    if not NAMESPACE.match(root) or "__" in root or TAKEN & set(root.split("::")) or root.split("::")[0] in ("std", "culex"):
        sys.exit(f"'{root}' can be no namespace of yours in C++")
    return root


def make(document: Document) -> Dict[str, str]:
    root = namespace_of(document)
    schemas = [Node(file, f"files[{at}]").read(read_schema) for at, file in enumerate(document.files)]
    names = Names(root, [schema for _, schema in schemas])
    check_names(names, [schema for _, schema in schemas])
    return {schema.header + "pp": Text(names, schema).file() for is_named, schema in schemas if is_named}


if __name__ == "__main__":
    serve(make)
