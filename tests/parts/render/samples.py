"""IR objects for the tests, one function per case, in the shape that culexc gives them.

They hold what a schema file cannot or should not: hostile text, extreme numbers,
names that clash. Ordinary schemas are rendered from schemas/feature.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import rendering  # noqa: F401 - finds the renderer

from settings import SETTINGS

Json = Dict[str, Any]

BANNED_TEXT = (
    'end */ #error "out" /* in ??/ \\',
    "a\\\nb",
    "quote \" ' backslash \\ trigraph ??/ ??= percent %s %n",
    "tab\there, return\rhere, bell\a, delete\x7f",
    "caf\u00e9 \u4f60\u597d \U0001f600",
    "right\u202eto left\u2066 isolate\u2069 zero\u200bwidth bom\ufeff line\u2028sep",
    "*/*/**//*/* ????/ *\\\n/",
    "a line that ends in ??/\nand goes on",
    "\\u0022 \\x41 \\101 {{ 7 * 7 }} {% raw %} {# x #} @file \\brief",
)


def field(c: str, kind: str = "string", **more: Any) -> Json:
    """A required single value unless `more` says otherwise."""
    shape = more.get("shape", "single")
    optional = more.get("optional", False)
    base: Json = {
        "name": c, "c": c, "wire": c, "doc": "", "line": 5, "kind": kind, "ref": None,
        "shape": shape, "count": None, "optional": optional,
        "required": not optional and shape != "list" and more.get("default") is None,
        "has_c": f"has_{c}" if optional else None,
        "len_c": f"{c}_len" if shape == "list" else None,
        "set_c": f"set_{c}" if optional or shape == "list" else None,
        "default": None, "min_len": None, "max_len": None, "min": None, "max": None,
        "secret": False, "encrypted": False, "must_understand": False, "deprecated": None, "attrs": {},
    }
    return {**base, **more}


def enum_ref(name: str, base: str = "uint8") -> Json:
    return {"name": name, "c": name, "type_symbol": f"{name}_type", "base": base}


def struct_ref(name: str) -> Json:
    return {"name": name, "c": name, "type_symbol": f"{name}_type", "base": None}


def user_ref(name: str) -> Json:
    return {"name": name, "c": name, "type_symbol": f"{name}_type", "base": None}


def user(c: str, **more: Any) -> Json:
    return {"name": c, "c": c, "type_symbol": f"{c}_type", "doc": "", "line": 2, "base": "string",
            "header": "money.h", "parse": "money_parse", "format": "money_format", **more}


def value(c: str, number: int, **more: Any) -> Json:
    return {"name": c, "c": c, "value": str(number), "doc": "", "deprecated": None, **more}


def enum(c: str, base: str, values: List[Json], **more: Any) -> Json:
    return {"name": c, "c": c, "type_symbol": f"{c}_type", "name_function": f"{c}_name",
            "doc": "", "line": 2, "base": base, "values": values,
            **more}


def struct(c: str, fields: List[Json], **more: Any) -> Json:
    return {"name": c, "c": c, "type_symbol": f"{c}_type", "make": f"{c}_make",
            "doc": "", "line": 3, "fields": members(c, fields), **more}


def members(c: str, fields: Optional[List[Json]]) -> List[Json]:
    """The fields with functions that set them named after the struct."""
    return [{**one, "set_c": one["set_c"] and f"{c}_{one['set_c']}"} for one in fields or []]


def retry(**more: Any) -> Json:
    return {"max": 4, "backoff": "polynomial", "base_ns": "2000000000", "factor": "2",
            "cap_ns": None, "steps_ns": [], "jitter": "none", "jitter_ratio": None, "for_ns": None, **more}


FUNCTIONS = ("make", "enqueue", "enqueue_in", "enqueue_at", "enqueue_many", "enqueue_item", "enqueue_from", "register", "handler",
             "encode", "decode", "type")


def job(name: str, params: Optional[List[Json]] = None, result: Optional[List[Json]] = None,
        **more: Any) -> Json:
    functions: Json = {function: f"{name}_job_{function}" for function in FUNCTIONS}
    functions["set_result"] = None if result is None else f"{name}_job_set_result"
    functions["wait"] = None if result is None else f"{name}_job_wait"
    for function in ("metadata_get", "metadata_set", "metadata_read", "metadata_write"):
        functions[function] = None
    base: Json = {
        "name": name, "qualified": name, "wire": name, "was": [], "c": f"{name}_job",
        "functions": functions, "doc": "", "line": 4, "deprecated": None, "retired": False,
        "params": members(f"{name}_job", params), "params_symbol": f"{name}_params",
        "result": None if result is None else {
            "c": f"{name}_result", "make": f"{name}_result_make",
            "decode": f"{name}_job_decode_result",
            "fields": members(f"{name}_result", result)},
        "metadata": None,
        "queue": name, **{setting.key: None if setting.has_none else 0 for setting in SETTINGS},
        "priority": 5, "keep_success_ns": "1000000000", "keep_failure_ns": "86400000000000",
        "retry": retry(), "every": None, "cron": None, "unique": None,
        "limits": [], "needs": [], "tags": [], "fingerprint": "0123456789abcdef",
    }
    return {**base, **more}


def schema(stem: str, **more: Any) -> Json:
    base: Json = {
        "named": True, "file": f"{stem}.job", "stem": stem,
        "header": f"{stem}_job.h", "source": f"{stem}_job.c", "guard": f"{stem.upper()}_JOB_H",
        "package": "", "export_macro": None, "imports": [], "enums": [], "types": [], "structs": [], "jobs": [],
        "chains": [],
    }
    return {**base, **more}


# The cases. Each has golden files of its name.


def own() -> Json:
    """Two names of one type, in every shape, beside a member that is called as its type."""
    return schema(
        "own", types=[user("shop_own_money", doc="An amount.\nAnd its currency."),
                      {**user("shop_own_money_too"), "c": "shop_own_money"}],
        structs=[struct("purse", [field("shop_own_money", "user", ref=user_ref("shop_own_money"))])],
        jobs=[job("pay", [field("price", "user", ref=user_ref("shop_own_money")),
                          field("tip", "user", ref=user_ref("shop_own_money"), optional=True),
                          field("all", "user", ref=user_ref("shop_own_money"), shape="list"),
                          field("two", "user", ref=user_ref("shop_own_money"), shape="array", count=2)],
                  result=[field("paid", "user", ref=user_ref("shop_own_money"), secret=True)])])


def hello() -> Json:
    return schema("hello", jobs=[job(
        "greet", [field("who", doc="Whom to greet."),
                  field("greeting", default={"string": "Hello"})],
        doc="Says hello.")])


def empty() -> Json:
    return schema("empty")


def bare() -> Json:
    """A job, a struct, a result without any field, and an enum without values."""
    return schema("bare", enums=[enum("nothing", "uint8", [])], structs=[struct("blank", [])],
                  jobs=[job("tick", result=[], every={"interval_ns": "60000000000",
                                                      "jitter_ns": "500000", "overlap": "skip"},
                            retry=retry(max=0, backoff="constant", base_ns="0"))])


INTEGERS = ("int8", "int16", "int32", "int64", "int128", "uint8", "uint16", "uint32", "uint64",
            "uint128")
UUID = "00112233-4455-6677-8899-AABBCCDDEEFF"


def limits_of(kind: str) -> List[int]:
    bits = int(kind.lstrip("uint"))
    if kind.startswith("u"):
        return [0, (1 << bits) - 1]
    return [-(1 << bits - 1), (1 << bits - 1) - 1]


EVERY_KIND = ("bool", "char", *INTEGERS, "float32", "float64", "string", "bytes", "uuid", "timestamp",
              "duration")


def of_every_kind(**more: Any) -> List[Json]:
    return [*(field(f"a_{kind}", kind, **more) for kind in EVERY_KIND),
            field("a_colour", "enum", ref=enum_ref("colour", "int16"), **more),
            field("a_point", "struct", ref=struct_ref("point"), **more)]


def kinds() -> Json:
    """Every kind; each file of KINDS has them in one shape."""
    colour = enum("colour", "int16", [value("COLOUR_RED", -3), value("COLOUR_BLUE", 300)])
    point = struct("point", [field("x", "int32"), field("y", "int32", default={"int": "-1"})])
    return schema("kinds", enums=[colour], structs=[point], jobs=[job("all_single", of_every_kind())])


BESIDE_KINDS = [{"file": "kinds.job", "header": "kinds_job.h"}]


def kinds_optional() -> Json:
    return schema("kinds_optional", imports=BESIDE_KINDS,
                  jobs=[job("all_optional", of_every_kind(optional=True))])


def kinds_list() -> Json:
    return schema("kinds_list", imports=BESIDE_KINDS, jobs=[
        job("all_list", of_every_kind(shape="list")),
        job("lists", [field("bounded", "string", shape="list", count=50, min_len=1, max_len=9),
                      field("needed", "uint16", shape="list", required=True)])])


def kinds_array() -> Json:
    return schema("kinds_array", imports=BESIDE_KINDS,
                  jobs=[job("all_array", of_every_kind(shape="array", count=3))])


KINDS = (kinds, kinds_optional, kinds_list, kinds_array)


def defaults() -> Json:
    fields = [
        field("yes", "bool", default={"bool": True}),
        field("letter", "char", default={"char": 120}),
        field("quote", "char", default={"char": 39}),
        field("last_char", "char", default={"char": 255}),
        field("zero_char", "char", default={"char": 0}),
    ]
    for kind in INTEGERS:
        low, high = limits_of(kind)
        fields.append(field(f"{kind}_low", kind, default={"int": str(low)}))
        fields.append(field(f"{kind}_high", kind, default={"int": str(high)}))
    floats = ["0", "-0.0", "0.17", "1", "1e10", "16777217", "3.4028234e38", "1e-45", "NaN", "Infinity",
              "-Infinity", "0.1000000000000000055511151231257827"]
    for index, text in enumerate(floats):
        fields.append(field(f"f32_{index}", "float32", default={"float": text}))
        fields.append(field(f"f64_{index}", "float64", default={"float": text}))
    fields += [
        field("f64_max", "float64", default={"float": "1.7976931348623157e308"}),
        field("f64_tiny", "float64", default={"float": "5e-324"}),
        field("no_text", "string", default={"string": ""}),
        field("text", "string", default={"string": "7\x01" + "7 caf\u00e9 \"??/\\\n%d"}),
        field("no_bytes", "bytes", default={"bytes": ""}),
        field("some_bytes", "bytes", default={"bytes": "00ff7f80" * 9}),
        field("some_uuid", "uuid", default={"uuid": UUID}),
        field("first_time", "timestamp", default={"time_ns": str(-(1 << 63))}),
        field("some_time", "timestamp", default={"time_ns": "1700000000000000001"}),
        field("back", "duration", default={"duration_ns": "-1500000000"}),
        field("colour", "enum", ref=enum_ref("wide", "uint64"),
              default={"enum": "WIDE_TOP", "c": "WIDE_TOP", "value": str((1 << 64) - 1)}),
    ]
    wide = enum("wide", "uint64", [value("WIDE_LOW", 0), value("WIDE_TOP", (1 << 64) - 1)])
    return schema("defaults", enums=[wide], structs=[struct("preset", fields)],
                  jobs=[job("fill", fields)])


# 4,900 bytes: beyond what every compiler takes as one literal.
ESSAY = "long \u00e9" * 700


def essay() -> Json:
    """A default that is too long for a literal, in a struct and in a job."""
    fields = [field("text", "string", default={"string": ESSAY})]
    return schema("essay", structs=[struct("page", fields)], jobs=[job("publish", fields)])


def limits() -> Json:
    fields = []
    for kind in INTEGERS:
        if not kind.endswith("128"):
            low, high = limits_of(kind)
            fields.append(field(kind + "_", kind, min={"int": str(low)}, max={"int": str(high)}))
    fields += [
        field("wait", "duration", min={"duration_ns": "0"}, max={"duration_ns": "3600000000000"}),
        field("name", min_len=1, max_len=320, secret=True),
        field("raw", "bytes", max_len=1048576, must_understand=True, wire="old_raw"),
        field("code", min_len=3, max_len=3, optional=True, deprecated="use \"name\" ??/ \\ caf\u00e9"),
    ]
    return schema("limits", jobs=[job("limited", fields)])


def enums() -> Json:
    return schema("enums", enums=[
        enum("lang", "uint8", [value("LANG_EN", 1, doc="English."), value("LANG_IT", 2),
                               value("LANG_OLD", 200, deprecated="gone")],
             doc="Language of a mail."),
        enum("delta", "int8", [value("DELTA_LOW", -128), value("DELTA_HIGH", 127)]),
        enum("edge", "int32", [value("EDGE_LOW", -(1 << 31)), value("EDGE_HIGH", (1 << 31) - 1)]),
        enum("word", "uint32", [value("WORD_TOP", (1 << 32) - 1, doc="All bits.")]),
        enum("big", "int64", [value("BIG_LOW", -(1 << 63)), value("BIG_MINUS", -1),
                              value("BIG_HIGH", (1 << 63) - 1)]),
        enum("alias", "uint16", [value("ALIAS_ONE", 1), value("ALIAS_UNO", 1)]),
    ], jobs=[job("use_enums", [
        field("lang", "enum", ref=enum_ref("lang"),
              default={"enum": "LANG_OLD", "c": "LANG_OLD", "value": "200"}),
        field("other", "enum", ref=enum_ref("lang")),
        field("big", "enum", ref=enum_ref("big", "int64"), shape="list"),
    ])])


def structs() -> Json:
    """Held by value before it is declared, pointed to by itself, each name also a member's."""
    return schema("structs", structs=[
        struct("order", [field("total", "struct", ref=struct_ref("money")),
                         field("lines", "struct", ref=struct_ref("line"), shape="array", count=2)]),
        struct("money", [field("minor", "int64"), field("currency", min_len=3, max_len=3)],
               doc="An amount."),
        struct("node", [field("name"), field("children", "struct", ref=struct_ref("node"), shape="list"),
                        field("note", "struct", ref=struct_ref("remark"), shape="list")]),
        struct("remark", [field("text")]),
        struct("line", [field("money", "struct", ref=struct_ref("money")),
                        field("also", "struct", ref=struct_ref("money"), optional=True)]),
    ], jobs=[job("ship", [field("order", "struct", ref=struct_ref("order")),
                          field("tree", "struct", ref=struct_ref("node"), optional=True)],
                 result=[field("money", "struct", ref=struct_ref("money")),
                         field("at", "timestamp")])])


def imports() -> Json:
    """Uses types of another file; the compile test renders enums and structs beside it."""
    return schema("imports", imports=[{"file": "enums.job", "header": "enums_job.h"},
                                      {"file": "structs.job", "header": "structs_job.h"}],
                  export_macro="SAMPLE_API",
                  jobs=[job("import_both", [
                      field("lang", "enum", ref=enum_ref("lang"),
                            default={"enum": "LANG_OLD", "c": "LANG_OLD", "value": "200"}),
                      field("price", "struct", ref=struct_ref("money"))])])


def policies() -> Json:
    return schema("policies", jobs=[
        job("steps", retry=retry(max=3, backoff="steps", base_ns=None, factor=None,
                                 steps_ns=["60000000000", "1", "3600000000000000"]),
            tags=["slow", "night \"shift\""], priority=9, queue="batch"),
        job("ratio", retry=retry(max=4294967295, backoff="exponential", factor="1.5",
                                 cap_ns="3600000000000", jitter="ratio", jitter_ratio="0.25"),
            timeout_ns="30000000000", expires_ns="9223372036854775807", memory_bytes="536870912"),
        job("linear", retry=retry(backoff="linear", jitter="full", for_ns="172800000000000"), wire="old_linear",
            deprecated="use steps"),
        job("constant", retry=retry(max=0, backoff="constant", jitter="equal"), retired=True),
    ])


def chain(c: str, first: str, *others: str, **more: Any) -> Json:
    base: Json = {
        "name": c, "qualified": c, "type_symbol": f"{c}_chain_type", "enqueue": f"{c}_chain_enqueue",
        "register": f"{c}_chain_register", "doc": "", "line": 9,
        "steps": [{"job": step, "c": f"{step}_job", "type_symbol": f"{step}_job_type"} for step in (first, *others)],
    }
    return {**base, **more}


def chains() -> Json:
    return schema("chains", jobs=[job("draft", [field("text")], result=[field("text")]),
                                  job("print", [field("text")], result=[field("text")])],
                  chains=[chain("press", "draft", "print", doc="From a draft to paper."),
                          chain("again", "print", "print")])


def names() -> Json:
    """Params called like what a constructor, a prototype or C++ would stumble over."""
    words = ["made", "job", "memset", "memcpy", "worker", "client", "index", "time", "options", "value", "clash_job",
             "clash_fields", "offsetof", "a_very_long_parameter_name_of_some_forty_chars"]
    fields = [field(word) for word in words]
    fields.insert(0, field("lang", "enum", ref=enum_ref("lang")))
    fields.append(field("also", "enum", ref=enum_ref("lang"), shape="array", count=2))
    fields.append(field("id", "uuid"))
    fields.append(field("NAMES_EN"))
    fields.append(field("usual", "enum", ref=enum_ref("lang"),
                        default={"enum": "NAMES_EN", "c": "NAMES_EN", "value": "1"}))
    types = ["user", "made", "value", "status", "options", "job", "run", "result", "handler", "text"]
    return schema("names", enums=[enum("lang", "uint8", [value("NAMES_EN", 1)])],
                  structs=[struct(word, [field("x")]) for word in types],
                  jobs=[job("clash", fields),
                        job("a_job_with_a_name_so_long_that_no_prototype_of_it_fits_on_one_line_at_all",
                            [field("x")], result=[])])


def hostile() -> Json:
    """Every place that takes text from a schema, filled with text that wants out."""
    bad = "\n".join(BANNED_TEXT)
    flat = bad.replace("\0", "")
    colour = enum("paint", "uint8", [value("PAINT_RED", 1, name=flat, doc=bad, deprecated=bad)],
                  name=flat, doc=bad)
    pair = struct("pair", [field("left", name=flat, wire=flat, doc=bad, deprecated=bad)],
                  name=flat, doc=bad)
    return schema("hostile", file=flat, enums=[colour], structs=[pair], imports=[], jobs=[job(
        "attack", [field("text", doc=bad, default={"string": flat}),
                   field("nul_doc", doc="a\0b", name="a\0b"),
                   field("kind", "enum", ref={**enum_ref("paint"), "name": flat})],
        result=[field("answer", doc=bad)], doc=bad, qualified=flat, wire=flat, queue=flat,
        tags=list(BANNED_TEXT), deprecated=bad)])


CASES = {case.__name__: case for case in (
    hello, empty, bare, *KINDS, defaults, essay, limits, enums, own, structs, imports, policies, chains, names, hostile)}

# Not among the goldens: four times 409 rows of single characters, which nobody would review. What
# they say is read back by render_test.py, wrappers_test.c and roundtrip_test.c.
WITHOUT_GOLDEN = {"essay"}
