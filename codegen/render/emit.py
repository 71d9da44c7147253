"""From a schema to the text of its two files."""

from __future__ import annotations

import functools
import os
from typing import Dict, List, Sequence

import jinja2

import layout
from chains import chain_view
from enums import enum_view
from jobs import job_view
from literals import SPECIAL_FLOATS, CText, RangeError, c_comment, c_message
from model import Field, IRError, Job, Schema
from names import Context
from records import order_structs, struct_view
from settings import DESCRIPTOR_VERSION
from users import headers, user_view
from view import ChainView, JobView, SchemaView

LEGEND = """A field: name, name in the payload;
kind, shape, flags;
offset of the value, of has_x, of x_len;
count, shortest, longest, least, greatest, enum, struct, user's type, default."""

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPLATES = os.path.join(HERE, "templates")


def render(schema: Schema) -> List[Dict[str, str]]:
    try:
        view = schema_view(schema)
    except RangeError as error:
        raise IRError(str(error)) from None
    pairs = [(schema.header, "job.h.j2"), (schema.source, "job.c.j2")]
    templates = make_environment()
    return [{"name": name, "content": templates.get_template(template).render(schema=view)}
            for name, template in pairs]


@functools.lru_cache(maxsize=None)
def make_environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        newline_sequence="\n",
        autoescape=False,
        finalize=only_c,
    )


def only_c(value: object) -> CText:
    """Stops a template that prints what is not known to be C, such as text from a schema."""
    if isinstance(value, jinja2.Undefined):
        return CText(value)  # raises with the name
    if not isinstance(value, CText):
        raise TypeError(f"a template prints something that is no CText: {type(value).__name__}")
    return value


def schema_view(schema: Schema) -> SchemaView:
    context = Context.of(schema)
    mismatch = f"{schema.header} does not fit this runtime: regenerate it with culexc gen"
    order, forwards = order_structs(schema.structs)
    jobs = [job_view(context, job) for job in schema.jobs]
    chains = [chain_view(context, chain) for chain in schema.chains]
    return SchemaView(
        file=c_comment(schema.file),
        header=CText(schema.header),
        guard=CText(schema.guard),
        legend=layout.comment(LEGEND) if any(all_fields(schema)) else [],
        descriptor_version=CText(DESCRIPTOR_VERSION),
        mismatch=c_message(mismatch),
        includes=[CText(name) for name in system_headers(schema)],
        own_macros=[] if schema.export_macro is None else [CText(schema.export_macro)],
        export=context.export,
        imports=headers(schema.users) + [CText(item.header) for item in schema.imports],
        cipher=[CText("CULEX_SEALS;")] if is_encrypted(schema) else [],
        enums=[enum_view(context, enum) for enum in schema.enums],
        users=[user_view(context, user) for user in schema.users],
        forwards=[CText(struct.c) for struct in order if struct.c in forwards],
        structs=[struct_view(context, struct, struct.c in forwards) for struct in order],
        jobs=jobs,
        chains=chains,
        typed_calls=[typed_call(name) for name in function_names(schema, jobs, chains)],
        guarded_calls=[guarded_call(job) for job in schema.jobs],
    )


def typed_call(name: str) -> CText:
    """With the call written out, for gcc to warn of it; see culex/typed.h."""
    return CText(f"#define {name}(...) \\\n    (CULEX_TYPED_BEGIN({name}, __VA_ARGS__), \\\n"
                 f"     ({name})(__VA_ARGS__) CULEX_TYPED_END)")


def guarded_call(job: Job) -> CText:
    name = job.functions.register
    return macro(name, f"CULEX_REGISTER({job.c})({name}, &{job.functions.type}, __VA_ARGS__)")


def macro(name: str, body: str) -> CText:
    head = f"#define {name}(...)"
    fits = len(head) + 1 + len(body) <= layout.LINE_MAX
    return CText(head + (" " if fits else " \\\n    ") + body)


def function_names(schema: Schema, views: Sequence[JobView], chains: Sequence[ChainView]) -> List[str]:
    """All that take an argument of a type that the schema decides."""
    names = [struct.make for struct in schema.structs if requires(struct.fields)]
    for job, view in zip(schema.jobs, views):
        names += [job.functions.make] if requires(job.params) else []
        names += [function.name for function in view.enqueues + view.others]
        if job.result is not None:
            names += [job.result.make] if requires(job.result.fields) else []
        names += [function.name for function in view.results + view.keeps]
    names += [function.name for chain in chains for function in chain.functions]
    return names + [field.set_c for fields in all_fields(schema) for field in fields
                    if field.set_c is not None]


def requires(fields: Sequence[Field]) -> bool:
    return any(field.required for field in fields)


def system_headers(schema: Schema) -> List[str]:
    """What the constructors need besides culex.h; nothing at all without any struct."""
    if not schema.structs and not schema.jobs:
        return []
    needs_math = any(is_special(field) for fields in all_fields(schema) for field in fields)
    return ["math.h", "string.h"] if needs_math else ["string.h"]


def all_fields(schema: Schema) -> List[Sequence[Field]]:
    return ([struct.fields for struct in schema.structs] + [job.params for job in schema.jobs]
            + [job.result.fields for job in schema.jobs if job.result is not None]
            + [job.metadata.fields for job in schema.jobs if job.metadata is not None])


def is_encrypted(schema: Schema) -> bool:
    return any(field.encrypted for fields in all_fields(schema) for field in fields)


def is_special(field: Field) -> bool:
    """NaN and the infinities are macros of <math.h>."""
    return field.default is not None and field.default.kind == "float" \
        and field.default.text in SPECIAL_FLOATS
