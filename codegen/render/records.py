"""C structs with their constructor and descriptor: schema structs, params, results."""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Set, Tuple

import layout
import literals
from kinds import KINDS, SHAPES, declare
from literals import NULL, ZERO, CText
from model import Field, IRError, Job, Metadata, Result, Struct, Value
from names import Context, deprecation, fresh_name
from view import MakeView, MemberView, RecordView, SetView, TableView

# Functions that a constructor calls; a param of the same name would hide them.
CALLED = frozenset(("memset", "memcpy"))


# Before the second and further lines of a field.
MARGIN = 5


def struct_view(context: Context, struct: Struct, is_declared: bool) -> RecordView:
    symbol = CText(struct.type_symbol)
    return _record(context, struct.c, struct.fields, struct.doc, struct.line, struct.name, symbol,
                   CText(f"const culex_struct_type {symbol}"), is_declared,
                   [make_view(struct.make, struct.c, struct.fields, [])])


def params_view(context: Context, job: Job, deprecations: List[CText]) -> RecordView:
    symbol = CText(job.params_symbol)
    return _record(context, job.c, job.params, job.doc, job.line, job.qualified, symbol,
                   CText(f"static const culex_struct_type {symbol}"), False,
                   [make_view(job.functions.make, job.c, job.params, deprecations)])


def result_view(context: Context, job: Job, result: Result) -> RecordView:
    symbol = context.names.fresh(result.c + "_type")
    return _record(context, result.c, result.fields, f"What {job.name} returns.", job.line,
                   job.qualified, symbol, CText(f"static const culex_struct_type {symbol}"), False,
                   [make_view(result.make, result.c, result.fields, [])])


def metadata_view(context: Context, job: Job, metadata: Metadata) -> RecordView:
    symbol = context.names.fresh(metadata.c + "_type")
    return _record(context, metadata.c, metadata.fields, f"What {job.name} keeps from run to run.", job.line,
                   job.qualified, symbol, CText(f"static const culex_struct_type {symbol}"), False,
                   [make_view(metadata.make, metadata.c, metadata.fields, [])])


def order_structs(structs: Sequence[Struct]) -> Tuple[List[Struct], Set[str]]:
    """The structs such that each stands behind those it holds by value, else as declared,
    and the names of those that are pointed to before they stand there."""
    by_name = {struct.c: struct for struct in structs}
    order: List[Struct] = []
    open_names: Set[str] = set()

    def place(struct: Struct) -> None:
        if struct in order:
            return
        if struct.c in open_names:
            raise IRError(f"struct {struct.name}: holds itself by value")
        open_names.add(struct.c)
        for field in struct.fields:
            if field.kind == "struct" and field.shape != "list" and field.ref is not None:
                if field.ref.c in by_name:
                    place(by_name[field.ref.c])
        order.append(struct)

    for struct in structs:
        place(struct)
    forwards: Set[str] = set()
    for index, struct in enumerate(order):
        later = {other.c for other in order[index:]}
        forwards |= {field.ref.c for field in struct.fields
                     if field.kind == "struct" and field.ref is not None and field.ref.c in later}
    return order, forwards


def _record(context: Context, c: str, fields: Sequence[Field], doc: str, line: int, name: str,
            type_symbol: CText, type_head: CText, is_declared: bool,
            makes: List[MakeView]) -> RecordView:
    constants: List[CText] = []
    defaults: Dict[str, CText] = {}
    for field in fields:
        if field.default is not None:
            lines, defaults[field.c] = _default_object(context, c, field, field.default)
            constants += lines
    table = context.names.fresh(c + "_fields")
    head = CText(f"static const culex_field {table}[]")
    return RecordView(
        c=CText(c),
        comments=layout.comment(doc),
        marker=context.marker(line),
        opening=CText(f"struct {c}" if is_declared else f"typedef struct {c}"),
        closing=CText("" if is_declared else f" {c}"),
        members=_members(context, fields),
        makes=makes,
        sets=[_set_view(c, field) for field in fields if field.set_c is not None],
        type_symbol=type_symbol,
        type_head=type_head,
        constants=constants,
        tables=[TableView(head, _field_rows(c, fields, defaults))] if fields else [],
        type_cells=layout.fill([literals.c_string(name), f"sizeof({c})", table if fields else NULL,
                                str(len(fields))], 4),
    )


# The struct.


def _members(context: Context, fields: Sequence[Field]) -> List[MemberView]:
    if not fields:
        text = "char culex_unused_; /* no empty struct: C and C++ would disagree on its size */"
        return [MemberView([], CText(text))]
    names = {name for field in fields for name in (field.c, field.has_c, field.len_c) if name}
    comments: List[List[CText]] = []
    statements: List[str] = []
    notes: List[str] = []
    for field in fields:
        lines = [(_member(field, names), context.marker(field.line, _limits(field)))]
        if field.has_c is not None:
            lines.insert(0, (f"bool {field.has_c};", CText("")))
        if field.len_c is not None:
            lines.append((f"size_t {field.len_c};", CText("")))
        comments += [layout.comment(field.doc, 4)] + [[]] * (len(lines) - 1)
        statements += [statement for statement, _ in lines]
        notes += [note for _, note in lines]
    texts = layout.margin_notes(statements, notes)
    return [MemberView(above, text) for above, text in zip(comments, texts)]


def _limits(field: Field) -> str:
    """What a value must keep to, for the people who set it."""
    size = "" if field.kind not in ("string", "bytes") else _between(
        field.min_len or None, field.max_len, " bytes")
    count = f"at most {field.count} values" if field.shape == "list" and field.count else ""
    unit = {"duration": " ns", "timestamp": " ns since 1970"}.get(field.kind, "")
    limits = [count, size, _between(field.min, field.max, unit), "encrypted" if field.encrypted else "secret" if field.secret else ""]
    return ", ".join(limit for limit in limits if limit)


def _between(low: Optional[int], high: Optional[int], unit: str) -> str:
    if low is not None and low == high:
        return f"exactly {low}{unit}"
    if low is not None and high is not None:
        return f"{low} to {high}{unit}"
    if low is not None:
        return "not empty" if low == 1 and unit else f"at least {low}{unit}"
    return "" if high is None else f"at most {high}{unit}"


def _member(field: Field, names: Set[str]) -> str:
    c_type = _element_type(field, names)
    if field.shape == "list":
        declared = declare(_pointer_to(c_type), field.c)
    elif field.shape == "array":
        declared = CText(f"{declare(c_type, field.c)}[{field.count}]")
    else:
        declared = declare(c_type, field.c)
    return f"{declared}{deprecation(field.deprecated)};"


def _element_type(field: Field, hidden: Set[str]) -> CText:
    """The type of one value, spelled so that no name in `hidden` hides it: in C++ a member
    may not be called like a type that the same struct uses by its bare name."""
    if field.ref is None:
        c_type = KINDS[field.kind].c_type
        assert c_type is not None
        return c_type
    if field.ref.c not in hidden:
        return CText(field.ref.c)
    if field.kind != "struct":
        return CText(f"CULEX_OUTER({field.ref.c})")
    return CText(f"struct {field.ref.c}")


def _pointer_to(c_type: CText) -> CText:
    """Pointer to const values of the type."""
    return CText(f"{_const(c_type)} *" if not c_type.endswith("*") else f"{_const(c_type)}*")


def _const(c_type: CText) -> CText:
    return CText(f"{c_type}const " if c_type.endswith("*") else f"const {c_type}")


# The constructor.


def make_view(name: str, c: str, fields: Sequence[Field], deprecations: List[CText]) -> MakeView:
    required = [field for field in fields if field.required]
    taken = {c} | CALLED | _type_words(fields)
    taken |= {field.default.c for field in fields if field.default is not None}
    arguments: Dict[str, CText] = {}
    for field in required:
        for wish in (field.c, field.len_c):
            if wish is not None:
                arguments[wish] = fresh_name(wish, taken)
                taken.add(arguments[wish])
    made = fresh_name("made", taken)
    taken.add(made)
    constants: List[CText] = []
    statements: List[CText] = []
    for field in fields:
        if field.required:
            statements += _assign_argument(field, CText(f"{made}."), arguments)
        elif field.default is not None:
            statements += _assign_default(field, field.default, made, taken, constants)
    parameters = [text for field in required for text in _parameters(field, arguments)]
    return MakeView(
        comments=layout.comment(_make_comment(required)),
        deprecations=deprecations,
        head=layout.call(f"static inline {c} {name}", parameters or ["void"], ""),
        declaration=declare(c, made),
        made=made,
        constants=constants,
        statements=statements,
    )


def _make_comment(required: Sequence[Field]) -> str:
    if not required:
        return "Everything at its default, or absent and empty."
    borrows = any(field.kind in ("string", "bytes", "struct") for field in required)
    return ("Sets what has no default from the arguments, the rest to its default or to absent and empty."
            + ("\nBorrows what the arguments point to for as long as the struct is used." if borrows else ""))


def _type_words(fields: Sequence[Field]) -> Set[str]:
    """All words in the types of the parameters: none of them may be a parameter's name."""
    return {word for field in fields for word in _element_type(field, set()).split()} | {"size_t"}


def _parameters(field: Field, arguments: Dict[str, CText]) -> List[CText]:
    c_type, name = _element_type(field, set()), arguments[field.c]
    if field.shape == "array":
        return [CText(f"{declare(_const(c_type), name)}[CULEX_AT_LEAST({field.count})]")]
    if field.len_c is not None:
        return [declare(_pointer_to(c_type), name), CText(f"size_t {arguments[field.len_c]}")]
    return [declare(c_type, name)]


def _assign_argument(field: Field, made: CText, arguments: Dict[str, CText]) -> List[CText]:
    """`made` ends with what stands between a struct and its member."""
    place, name = f"{made}{field.c}", arguments[field.c]
    if field.shape == "array":
        return [CText(f"memcpy({place}, {name}, sizeof {place});")]
    lines = [CText(f"{place} = {name};")]
    if field.len_c is not None:
        lines.append(CText(f"{made}{field.len_c} = {arguments[field.len_c]};"))
    return lines


def _assign_default(field: Field, value: Value, made: CText, taken: Set[str],
                    constants: List[CText]) -> List[CText]:
    """Assigns the literal, or a constant of the function where C has no such literal."""
    data = fresh_name(f"{field.c}_data", taken)
    lines, initialiser = _initialiser(field, value, data)
    place = f"{made}.{field.c}"
    if not KINDS[field.kind].is_braced:
        if lines:
            taken.add(data)
        constants += lines
        return [CText(f"{place} = {initialiser};")]
    taken.add(data)
    name = fresh_name(f"{field.c}_default", taken)
    taken.add(name)
    constant = layout.assign(f"static const {declare(_element_type(field, set()), name)}",
                             f"{initialiser};", 4)
    constants += [layout.indent(line, 4) for line in lines] + [constant]
    return [CText(f"{place} = {name};")]


# The functions that set one member.


def _set_view(c: str, field: Field) -> SetView:
    taken = {c} | CALLED | _type_words([field])
    arguments: Dict[str, CText] = {}
    for wish in (field.c, field.len_c):
        if wish is not None:
            arguments[wish] = fresh_name(wish, taken)
            taken.add(arguments[wish])
    to = fresh_name("to", taken)
    statements = _assign_argument(field, CText(f"{to}->"), arguments)
    if field.has_c is not None:
        statements.append(CText(f"{to}->{field.has_c} = true;"))
    parameters = [declare(CText(f"{c} *"), to)] + _parameters(field, arguments)
    return SetView(
        comments=layout.comment(_set_comment(field)),
        deprecations=[] if field.deprecated is None
        else [CText(f"CULEX_DEPRECATED({literals.c_message(field.deprecated)})")],
        head=layout.call(f"static inline void {field.set_c}", parameters, ""),
        statements=statements,
    )


def _set_comment(field: Field) -> str:
    text = f"Sets {' and '.join(name for name in (field.c, field.len_c, field.has_c) if name)}."
    borrows = field.shape == "list" or field.kind in ("string", "bytes", "struct")
    return text + (" Borrows what the arguments point to." if borrows else "")


# The descriptor.


def _initialiser(field: Field, value: Value, data: CText) -> Tuple[List[CText], CText]:
    """What stands behind the `=` of a default, after the definition of what it points to."""
    if field.kind == "bytes":
        octets = bytes.fromhex(value.text)
        if not octets:
            return [], CText("{NULL, 0}")
        array = f"static const uint8_t {data}[] = {literals.c_byte_array(octets)};"
        return [CText(array)], CText("{" + f"{data}, sizeof {data}" + "}")
    if field.kind == "string" and literals.is_long_string(value.text):
        return [CText(f"static const char {data}[] = {literals.c_char_array(value.text)};")], data
    literal = KINDS[field.kind].literal
    assert literal is not None
    try:
        return [], literal(value)
    except literals.RangeError as error:
        raise IRError(f"default of {field.name}: {error}") from None


def _default_object(context: Context, c: str, field: Field,
                    value: Value) -> Tuple[List[CText], CText]:
    """The object that a descriptor's `def` points to, and its address."""
    symbol = context.names.fresh(f"{c}_{field.c}_default")
    lines, initialiser = _initialiser(field, value, context.names.fresh(f"{c}_{field.c}_data"))
    c_type = _const(_element_type(field, set()))
    declared = f"static {c_type.rstrip(' ')} {symbol}"
    return lines + [layout.assign(declared, f"{initialiser};")], CText(f"&{symbol}")


def _field_rows(c: str, fields: Sequence[Field], defaults: Dict[str, CText]) -> List[CText]:
    """Four lines a field, and one of its doc; kinds and limits in columns through the whole table."""
    kinds = layout.table([[
        KINDS[field.kind].constant, SHAPES[field.shape], _flags(field)] for field in fields], MARGIN)
    limits = layout.table([[
        CText(field.count or 0), CText(field.min_len or 0), CText(field.max_len or 0),
        _limit(field.min), _limit(field.max), _type_of(field, "enum"), _type_of(field, "struct"),
        _type_of(field, "user"), defaults.get(field.c, NULL)] for field in fields], MARGIN)
    below = ",\n" + " " * MARGIN
    return [CText("{" + below.join((_names(field), kind, _offsets(c, field), limit))
                  + (below if field.doc else ", ") + literals.c_doc(field.doc) + "}")
            for field, kind, limit in zip(fields, kinds, limits)]


def _names(field: Field) -> CText:
    return layout.fill([literals.c_string(field.name), literals.c_string(field.wire)], MARGIN)


def _offsets(c: str, field: Field) -> CText:
    return layout.fill([_offset(c, member) for member in (field.c, field.has_c, field.len_c)], MARGIN)


def _flags(field: Field) -> CText:
    flags = [
        (field.optional, "OPTIONAL"),
        (field.required, "REQUIRED"),
        (field.secret, "SECRET"),
        (field.must_understand, "MUST_UNDERSTAND"),
        (field.deprecated is not None, "DEPRECATED"),
        (field.min is not None, "MIN"),
        (field.max is not None, "MAX"),
        (field.encrypted, "ENCRYPTED"),
    ]
    return CText(" | ".join(f"CULEX_FIELD_{name}" for is_set, name in flags if is_set) or "0")


def _offset(c: str, member: Optional[str]) -> CText:
    return ZERO if member is None else CText(f"offsetof({c}, {member})")


def _limit(value: Optional[int]) -> CText:
    return ZERO if value is None else literals.c_int64_bits(value)


def _type_of(field: Field, kind: str) -> CText:
    if field.kind != kind or field.ref is None:
        return NULL
    return CText(f"&{field.ref.type_symbol}")
