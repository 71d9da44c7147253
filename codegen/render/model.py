"""The IR of one .job file as frozen dataclasses.

Only reading and refusing happens here: what is not the IR of a version we know, has a key that
nobody reads, or contradicts itself, ends in IRError with the path of the place. Names that become C
identifiers or file names are checked again although the front end made them,
because everything printed later relies on it.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

from node import FILE_NAME, NUMBER, IRError, Node
from settings import SETTINGS

IR_VERSION = 1

UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
HEADER = re.compile(r"(?!/)(?!(?:.*/)?\.\.(?:/|\Z))[A-Za-z0-9_.+/-]+\Z")
FINGERPRINT = re.compile(r"[0-9a-f]{16}\Z")

KINDS = (
    "bool", "char",
    "int8", "int16", "int32", "int64", "int128",
    "uint8", "uint16", "uint32", "uint64", "uint128",
    "float32", "float64", "string", "bytes", "uuid", "timestamp", "duration",
    "enum", "struct", "user",
)
SHAPES = ("single", "list", "array")
BASES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
BACKOFFS = ("constant", "linear", "polynomial", "exponential", "steps")
JITTERS = ("none", "full", "equal", "ratio")
MISSED = ("skip", "once", "all")
OVERLAPS = ("skip", "allow")
STATES = ("scheduled", "waiting", "active")
ON_CONFLICT = ("keep", "replace", "error")
LIMITS = ("concurrency", "rate", "fair")

# What a default may be for each kind; the two wide integers are plain "int" too.
VALUE_KEYS = {
    "bool": "bool", "char": "char", "float32": "float", "float64": "float",
    "string": "string", "bytes": "bytes", "uuid": "uuid",
    "timestamp": "time_ns", "duration": "duration_ns", "enum": "enum",
    **{kind: "int" for kind in KINDS if kind.startswith(("int", "uint"))},
}

INT64 = (-(1 << 63), (1 << 63) - 1)
NANOSECONDS = (0, (1 << 63) - 1)
SIZE = (0, (1 << 31) - 1)
LINE = (0, (1 << 31) - 1)


@dataclass(frozen=True)
class Import:
    file: str
    header: str

    @classmethod
    def read(cls, node: Node) -> "Import":
        return cls(file=node.text("file"), header=node.file("header"))


@dataclass(frozen=True)
class EnumValue:
    name: str
    c: str
    value: int
    doc: str
    deprecated: Optional[str]

    @classmethod
    def read(cls, node: Node) -> "EnumValue":
        node.leave("attrs")
        return cls(
            name=node.text("name"),
            c=node.name("c"),
            value=node.integer("value", -(1 << 63), (1 << 64) - 1),
            doc=node.text("doc"),
            deprecated=node.maybe("deprecated", Node.text),
        )


@dataclass(frozen=True)
class Enum:
    name: str
    c: str
    type_symbol: str
    name_function: str
    doc: str
    line: int
    base: str
    values: Tuple[EnumValue, ...]

    @classmethod
    def read(cls, node: Node) -> "Enum":
        node.leave("closed", "attrs")
        return cls(
            name=node.text("name"),
            c=node.name("c"),
            type_symbol=node.name("type_symbol"),
            name_function=node.name("name_function"),
            doc=node.text("doc"),
            line=node.integer("line", *LINE),
            base=node.word("base", BASES),
            values=node.children("values", EnumValue.read),
        )


@dataclass(frozen=True)
class User:
    """A type whose C code is the user's."""

    name: str
    c: str
    type_symbol: str
    doc: str
    line: int
    header: str
    parse: str
    format: str

    @classmethod
    def read(cls, node: Node) -> "User":
        node.leave("attrs")
        node.word("base", ("string",))
        return cls(
            name=node.text("name"),
            c=node.name("c"),
            type_symbol=node.name("type_symbol"),
            doc=node.text("doc"),
            line=node.integer("line", *LINE),
            header=node.match("header", HEADER, "a path for an #include"),
            parse=node.name("parse"),
            format=node.name("format"),
        )


@dataclass(frozen=True)
class Ref:
    """The enum, struct or user's type that a field is of."""

    name: str
    c: str
    type_symbol: str
    base: Optional[str]

    @classmethod
    def read(cls, node: Node) -> "Ref":
        return cls(
            name=node.text("name"),
            c=node.name("c"),
            type_symbol=node.name("type_symbol"),
            base=node.maybe("base", Node.word, BASES),
        )


@dataclass(frozen=True)
class Value:
    """A default. Exactly one of the members besides `kind` means something."""

    kind: str
    text: str = ""
    integer: int = 0
    flag: bool = False
    c: str = ""

    @classmethod
    def read(cls, node: Node, kind: str) -> "Value":
        key = VALUE_KEYS.get(kind)
        if key is None:
            raise IRError(f"{node.path}: a {kind} has no default")
        if key == "bool":
            return cls(key, flag=node.flag(key))
        if key == "char":
            return cls(key, integer=node.integer(key, 0, 255))
        if key == "int":
            return cls(key, integer=node.integer(key, *integer_range(kind)))
        if key in ("time_ns", "duration_ns"):
            return cls(key, integer=node.integer(key, *INT64))
        if key == "enum":
            node.leave("value")
            return cls(key, text=node.text(key), c=node.name("c"))
        return cls(key, text=cls._checked_text(node, key))

    @staticmethod
    def _checked_text(node: Node, key: str) -> str:
        text = node.text(key)
        if key == "string" and "\0" in text:
            raise node.fail(key, "a string holds no NUL")
        if key == "bytes" and not re.match(r"([0-9a-fA-F]{2})*\Z", text):
            raise node.fail(key, "not hex digits")
        if key == "uuid" and not UUID.match(text):
            raise node.fail(key, "not a UUID")
        if key == "float" and not (NUMBER.match(text) or text in ("NaN", "Infinity", "-Infinity")):
            raise node.fail(key, "not a number")
        return text


@dataclass(frozen=True)
class Field:
    name: str
    c: str
    wire: str
    doc: str
    line: int
    kind: str
    ref: Optional[Ref]
    shape: str
    count: Optional[int]
    optional: bool
    required: bool
    has_c: Optional[str]
    len_c: Optional[str]
    set_c: Optional[str]
    default: Optional[Value]
    min_len: Optional[int]
    max_len: Optional[int]
    min: Optional[int]
    max: Optional[int]
    secret: bool
    encrypted: bool
    must_understand: bool
    deprecated: Optional[str]

    @classmethod
    def read(cls, node: Node) -> "Field":
        node.leave("attrs")
        kind = node.word("kind", KINDS)
        field = cls(
            name=node.text("name"),
            c=node.name("c"),
            wire=node.text("wire"),
            doc=node.text("doc"),
            line=node.integer("line", *LINE),
            kind=kind,
            ref=node.maybe("ref", Node.child, Ref.read),
            shape=node.word("shape", SHAPES),
            count=node.maybe("count", Node.integer, *SIZE),
            optional=node.flag("optional"),
            required=node.flag("required"),
            has_c=node.maybe("has_c", Node.name),
            len_c=node.maybe("len_c", Node.name),
            set_c=node.maybe("set_c", Node.name),
            default=node.maybe("default", Node.child, Value.read, kind),
            min_len=node.maybe("min_len", Node.integer, *SIZE),
            max_len=node.maybe("max_len", Node.integer, 1, SIZE[1]),
            min=read_limit(node, "min", kind),
            max=read_limit(node, "max", kind),
            secret=node.flag("secret"),
            encrypted=node.flag("encrypted"),
            must_understand=node.flag("must_understand"),
            deprecated=node.maybe("deprecated", Node.text),
        )
        field._check(node)
        return field

    def _check(self, node: Node) -> None:
        """Members that only make sense together; the view relies on each of these."""
        if (self.ref is not None) != (self.kind in ("enum", "struct", "user")):
            raise node.fail("ref", "belongs to an enum, a struct or a type of the user, and to nothing else")
        if self.ref is not None and (self.ref.base is not None) != (self.kind == "enum"):
            raise node.fail("ref.base", "belongs to an enum, and to nothing else")
        if self.optional != (self.has_c is not None):
            raise node.fail("has_c", "belongs to an optional field, and to nothing else")
        if (self.shape == "list") != (self.len_c is not None):
            raise node.fail("len_c", "belongs to a list, and to nothing else")
        if (self.set_c is not None) != (self.optional or self.shape == "list"):
            raise node.fail("set_c", "belongs to an optional field and a list, and to nothing else")
        if self.shape == "array" and not self.count:
            raise node.fail("count", "an array has at least one element")
        if self.shape == "single" and self.count is not None:
            raise node.fail("count", "a single value has none")
        if self.default is not None and (self.shape != "single" or self.optional or self.required):
            raise node.fail("default", "not for a list, an array, optional or required field")
        if self.optional and self.required:
            raise node.fail("required", "an optional field is not required")


@dataclass(frozen=True)
class Struct:
    name: str
    c: str
    type_symbol: str
    make: str
    doc: str
    line: int
    fields: Tuple[Field, ...]

    @classmethod
    def read(cls, node: Node) -> "Struct":
        node.leave("attrs")
        return cls(
            name=node.text("name"),
            c=node.name("c"),
            type_symbol=node.name("type_symbol"),
            make=node.name("make"),
            doc=node.text("doc"),
            line=node.integer("line", *LINE),
            fields=node.children("fields", Field.read),
        )


@dataclass(frozen=True)
class Functions:
    make: str
    enqueue: str
    enqueue_in: str
    enqueue_at: str
    enqueue_many: str
    enqueue_item: str
    enqueue_from: str
    register: str
    handler: str
    encode: str
    decode: str
    type: str
    set_result: Optional[str]
    wait: Optional[str]
    metadata_get: Optional[str]
    metadata_set: Optional[str]
    metadata_read: Optional[str]
    metadata_write: Optional[str]

    @classmethod
    def read(cls, node: Node) -> "Functions":
        of_some = OF_RESULT + OF_METADATA
        names = {field.name: node.name(field.name)
                 for field in dataclasses.fields(cls) if field.name not in of_some}
        return cls(**{name: node.maybe(name, Node.name) for name in of_some}, **names)


OF_RESULT = ("set_result", "wait")
OF_METADATA = ("metadata_get", "metadata_set", "metadata_read", "metadata_write")


@dataclass(frozen=True)
class Metadata:
    c: str
    make: str
    fields: Tuple[Field, ...]

    @classmethod
    def read(cls, node: Node) -> "Metadata":
        return cls(c=node.name("c"), make=node.name("make"), fields=node.children("fields", Field.read))


@dataclass(frozen=True)
class Result:
    c: str
    make: str
    decode: str
    fields: Tuple[Field, ...]

    @classmethod
    def read(cls, node: Node) -> "Result":
        return cls(
            c=node.name("c"),
            make=node.name("make"),
            decode=node.name("decode"),
            fields=node.children("fields", Field.read),
        )


@dataclass(frozen=True)
class Retry:
    max: int
    for_ns: Optional[int]
    backoff: str
    base_ns: Optional[int]
    factor: Optional[str]
    cap_ns: Optional[int]
    steps_ns: Tuple[int, ...]
    jitter: str
    jitter_ratio: Optional[str]

    @classmethod
    def read(cls, node: Node) -> "Retry":
        retry = cls(
            max=node.integer("max", 0, (1 << 32) - 1),
            for_ns=node.maybe("for_ns", Node.integer, *NANOSECONDS),
            backoff=node.word("backoff", BACKOFFS),
            base_ns=node.maybe("base_ns", Node.integer, *NANOSECONDS),
            factor=node.maybe("factor", Node.match, NUMBER, "a number"),
            cap_ns=node.maybe("cap_ns", Node.integer, *NANOSECONDS),
            steps_ns=node.integers("steps_ns", *NANOSECONDS),
            jitter=node.word("jitter", JITTERS),
            jitter_ratio=node.maybe("jitter_ratio", Node.match, NUMBER, "a number"),
        )
        if (retry.backoff == "steps") != bool(retry.steps_ns):
            raise node.fail("steps_ns", "belong to backoff steps, and to nothing else")
        if (retry.jitter == "ratio") != (retry.jitter_ratio is not None):
            raise node.fail("jitter_ratio", "belongs to jitter ratio, and to nothing else")
        return retry


@dataclass(frozen=True)
class Unique:
    by: Tuple[str, ...]
    all: bool
    states: Tuple[str, ...]
    for_ns: Optional[int]
    on_conflict: str
    delay_ns: int

    @classmethod
    def read(cls, node: Node) -> "Unique":
        unique = cls(
            by=node.texts("by"),
            all=node.flag("all"),
            states=node.texts("while"),
            for_ns=node.maybe("for_ns", Node.integer, *NANOSECONDS),
            on_conflict=node.word("on_conflict", ON_CONFLICT),
            delay_ns=node.integer("delay_ns", *NANOSECONDS),
        )
        if any(state not in STATES for state in unique.states):
            raise node.fail("while", f"are of {', '.join(STATES)}")
        if not unique.states and unique.for_ns is None:
            raise node.fail("while", "belong to a key without a time")
        return unique


@dataclass(frozen=True)
class Limit:
    kind: str
    name: str
    count: Optional[int]
    per_ns: Optional[int]
    burst: Optional[int]
    by: Tuple[str, ...]

    @classmethod
    def read(cls, node: Node) -> "Limit":
        limit = cls(
            kind=node.word("kind", LIMITS),
            name=node.text("name"),
            count=node.maybe("count", Node.integer, 1, (1 << 32) - 1),
            per_ns=node.maybe("per_ns", Node.integer, 1, INT64[1]),
            burst=node.maybe("burst", Node.integer, 1, (1 << 32) - 1),
            by=node.texts("by"),
        )
        if (limit.count is None) != (limit.kind == "fair"):
            raise node.fail("count", "belongs to concurrency and rate, and to nothing else")
        if (limit.per_ns is None, limit.burst is None) != (limit.kind != "rate", limit.kind != "rate"):
            raise node.fail("per_ns", "and a burst belong to a rate, and to nothing else")
        return limit


@dataclass(frozen=True)
class Need:
    name: str
    units: int

    @classmethod
    def read(cls, node: Node) -> "Need":
        return cls(name=node.text("name"), units=node.integer("units", 1, (1 << 32) - 1))


@dataclass(frozen=True)
class Every:
    interval_ns: int
    jitter_ns: int
    overlap: str

    @classmethod
    def read(cls, node: Node) -> "Every":
        return cls(
            interval_ns=node.integer("interval_ns", 1, INT64[1]),
            jitter_ns=node.integer("jitter_ns", *NANOSECONDS),
            overlap=node.word("overlap", OVERLAPS),
        )


@dataclass(frozen=True)
class Cron:
    text: str
    zone: str
    missed: str
    jitter_ns: int
    overlap: str

    @classmethod
    def read(cls, node: Node) -> "Cron":
        return cls(
            text=node.text("text"),
            zone=node.text("tz"),
            missed=node.word("missed", MISSED),
            jitter_ns=node.integer("jitter_ns", *NANOSECONDS),
            overlap=node.word("overlap", OVERLAPS),
        )


@dataclass(frozen=True)
class Job:
    name: str
    qualified: str
    wire: str
    c: str
    functions: Functions
    doc: str
    line: int
    deprecated: Optional[str]
    retired: bool
    params: Tuple[Field, ...]
    params_symbol: str
    result: Optional[Result]
    metadata: Optional[Metadata]
    queue: str
    numbers: Tuple[Optional[int], ...]  # of SETTINGS
    retry: Retry
    unique: Optional[Unique]
    limits: Tuple[Limit, ...]
    needs: Tuple[Need, ...]
    every: Optional[Every]
    cron: Optional[Cron]
    tags: Tuple[str, ...]
    fingerprint: int

    @classmethod
    def read(cls, node: Node) -> "Job":
        node.leave("was", "attrs")
        job = cls(
            name=node.name("name"),
            qualified=node.text("qualified"),
            wire=node.text("wire"),
            c=node.name("c"),
            functions=node.child("functions", Functions.read),
            doc=node.text("doc"),
            line=node.integer("line", *LINE),
            deprecated=node.maybe("deprecated", Node.text),
            retired=node.flag("retired"),
            params=node.children("params", Field.read),
            params_symbol=node.name("params_symbol"),
            result=node.maybe("result", Node.child, Result.read),
            metadata=node.maybe("metadata", Node.child, Metadata.read),
            queue=node.text("queue"),
            numbers=tuple(setting.read(node) for setting in SETTINGS),
            retry=node.child("retry", Retry.read),
            unique=node.maybe("unique", Node.child, Unique.read),
            limits=node.children("limits", Limit.read),
            needs=node.children("needs", Need.read),
            every=node.maybe("every", Node.child, Every.read),
            cron=node.maybe("cron", Node.child, Cron.read),
            tags=node.texts("tags"),
            fingerprint=int(node.match("fingerprint", FINGERPRINT, "16 hex digits"), 16),
        )
        for what, names, block in (("a result", OF_RESULT, job.result), ("metadata", OF_METADATA, job.metadata)):
            for name in names:
                if (block is not None) != (getattr(job.functions, name) is not None):
                    raise node.fail(f"functions.{name}", f"belongs to a job with {what}")
        params = {field.name for field in job.params}
        for key, by in (("unique", job.unique.by if job.unique else ()), *(("limits", limit.by) for limit in job.limits)):
            if not params.issuperset(by):
                raise node.fail(key, "counts by params, and by nothing else")
        return job


@dataclass(frozen=True)
class Step:
    c: str
    type_symbol: str

    @classmethod
    def read(cls, node: Node) -> "Step":
        node.leave("job")
        return cls(c=node.name("c"), type_symbol=node.name("type_symbol"))


@dataclass(frozen=True)
class Chain:
    name: str
    qualified: str
    type_symbol: str
    enqueue: str
    register: str
    doc: str
    line: int
    steps: Tuple[Step, ...]

    @classmethod
    def read(cls, node: Node) -> "Chain":
        chain = cls(
            name=node.name("name"),
            qualified=node.text("qualified"),
            type_symbol=node.name("type_symbol"),
            enqueue=node.name("enqueue"),
            register=node.name("register"),
            doc=node.text("doc"),
            line=node.integer("line", *LINE),
            steps=node.children("steps", Step.read),
        )
        if len(chain.steps) < 2:
            raise node.fail("steps", "are two at the least")
        return chain


@dataclass(frozen=True)
class Schema:
    file: str
    header: str
    source: str
    guard: str
    export_macro: Optional[str]
    imports: Tuple[Import, ...]
    enums: Tuple[Enum, ...]
    users: Tuple[User, ...]
    structs: Tuple[Struct, ...]
    jobs: Tuple[Job, ...]
    chains: Tuple[Chain, ...]

    @classmethod
    def read(cls, node: Node) -> "Schema":
        node.leave("stem", "package")
        return cls(
            file=node.text("file"),
            header=node.match("header", FILE_NAME, "a file name"),
            source=node.match("source", FILE_NAME, "a file name"),
            guard=node.name("guard"),
            export_macro=node.maybe("export_macro", Node.name),
            imports=node.children("imports", Import.read),
            enums=node.children("enums", Enum.read),
            users=node.children("types", User.read),
            structs=node.children("structs", Struct.read),
            jobs=node.children("jobs", Job.read),
            chains=node.children("chains", Chain.read),
        )


def read_named(value: Any) -> List[Schema]:
    """The schemas of a document that were asked for, without those that they import."""
    return Node(value, "").read(read_document)


def read_document(node: Node) -> List[Schema]:
    check_version(node)
    node.leave("compiler", "options")
    return [child.read(Schema.read) for child in node.nodes("files") if child.flag("named")]


def check_version(node: Node) -> None:
    version = node.raw("ir")
    if type(version) is not int or version != IR_VERSION:
        raise node.fail("ir", f"this renderer reads version {IR_VERSION} only")


def integer_range(kind: str) -> Tuple[int, int]:
    """The smallest and largest number of an integer kind."""
    bits = int(kind.lstrip("uint"))
    if kind.startswith("u"):
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def read_limit(node: Node, key: str, kind: str) -> Optional[int]:
    """`min` and `max` bound what the runtime compares as 64 bits, and nothing else."""
    if node.is_null(key):
        return None
    if VALUE_KEYS.get(kind) not in ("int", "time_ns", "duration_ns") or kind.endswith("128"):
        raise node.fail(key, f"a {kind} has no such limit")
    return node.child(key, Value.read, kind).integer
