"""culexc gen --plugin json-schema: what the payload of each job may be, as JSON Schema 2020-12.

JOB.schema.json for the params and JOB.result.schema.json for the result. What they describe is what
readers take (schemas/payload.md); what JSON Schema has no words for is told there too.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Callable, Dict, List, Sequence

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import patterns
from document import INTEGER_BITS, Document, Json, integer_range, serve

LIST_MAX = 65535
FLOAT64_MAX = 1.7976931348623157e308
FLOAT32_END = 3.4028235677973366e38  # from here on a number rounds to infinity


def text(pattern: str, **more: Any) -> Json:
    return {"type": "string", "pattern": patterns.whole(pattern), **more}


# --- kinds ------------------------------------------------------------------------------------


def integer(field: Json) -> Json:
    low, high = integer_range(field)
    if low > high:
        return {"not": {}}
    return {"anyOf": [{"type": "integer", "minimum": low, "maximum": high}, text(patterns.integers(low, high))]}


def floating(field: Json) -> Json:
    bounds: Json = {"minimum": -FLOAT64_MAX, "maximum": FLOAT64_MAX}
    if field["kind"] == "float32":
        bounds = {"exclusiveMinimum": -FLOAT32_END, "exclusiveMaximum": FLOAT32_END}
    return {"anyOf": [{"type": "number", **bounds}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}


def string(field: Json) -> Json:
    """Limits are bytes of UTF-8; a character, which JSON Schema counts, has one to four of them."""
    made = {"type": "string", "pattern": patterns.whole("[^\\u0000]*")}
    if field["min_len"]:
        made["minLength"] = (field["min_len"] + 3) // 4
    if field["max_len"]:
        made["maxLength"] = field["max_len"]
    return made


def octets(field: Json) -> Json:
    made = text(patterns.BASE64, contentEncoding="base64")
    if field["min_len"]:
        made["minLength"] = (field["min_len"] + 2) // 3 * 4
    if field["max_len"]:
        made["maxLength"] = (field["max_len"] + 2) // 3 * 4
    return made


KINDS: Dict[str, Callable[[Json], Json]] = {
    "bool": lambda field: {"type": "boolean"},
    "char": lambda field: text("[\\u0000-\\u00ff]"),
    **{kind: integer for kind in INTEGER_BITS},
    "float32": floating,
    "float64": floating,
    "string": string,
    "bytes": octets,
    "uuid": lambda field: text(patterns.UUID, format="uuid"),
    "timestamp": lambda field: text(patterns.TIMESTAMP),
    "duration": lambda field: text(patterns.DURATION, **{"not": {"pattern": "^-0(?:\\.0*)?s"}}),
    "enum": lambda field: {"$ref": "#/$defs/" + field["ref"]["name"]},
    "struct": lambda field: {"$ref": "#/$defs/" + field["ref"]["name"]},
}


# --- fields -----------------------------------------------------------------------------------


BOX: Json = {"type": "object", "properties": {"!culex.sealed": text(patterns.BASE64)}, "required": ["!culex.sealed"],
             "additionalProperties": False, "description": "Sealed: what is in it only the keys can tell."}


def field_schema(field: Json) -> Json:
    if field["encrypted"]:
        made = BOX if field["required"] else {"anyOf": [BOX, {"type": "null"}]}
        return {**made, **notes(field)}
    made = KINDS[field["kind"]](field)
    if field["shape"] == "list":
        made = {"type": "array", "items": made, "maxItems": field["count"] or LIST_MAX}
    elif field["shape"] == "array":
        made = {"type": "array", "items": made, "minItems": field["count"], "maxItems": field["count"]}
    if not field["required"]:
        made = {"anyOf": [made, {"type": "null"}]}
    return {**notes(field), **made}


def notes(declared: Json) -> Json:
    made: Json = {}
    if declared["doc"].strip():
        made["description"] = declared["doc"].strip("\n")
    if declared.get("deprecated") is not None:
        made["deprecated"] = True
    return made


def object_schema(fields: Sequence[Json], place: str = "#") -> Json:
    """Unknown names are skipped, unless they begin with "!": such a one has to be understood."""
    properties: Json = {}
    rules: List[Json] = []
    for field in fields:
        name, loud = field["wire"], "!" + field["wire"]
        properties[name] = field_schema(field)
        properties[loud] = {"$ref": f"{place}/properties/{name}"}
        rules.append({"not": {"required": [name, loud]}})
        if field["required"]:
            rules.append({"anyOf": [{"required": [name]}, {"required": [loud]}]})
    known = "|".join(patterns.literal(field["wire"]) for field in fields)
    stranger = f"^!(?!(?:{known}){patterns.END})" if known else "^!"
    made: Json = {"type": "object", "properties": properties, "patternProperties": {stranger: False}}
    if rules:
        made["allOf"] = rules
    return made


# --- types ------------------------------------------------------------------------------------


def definitions(document: Document, fields: Sequence[Json]) -> Json:
    """Every type that the fields hold, directly or inside each other, by name."""
    made: Json = {}

    def add(field: Json) -> None:
        name = field["ref"]["name"] if field["ref"] is not None else None
        if name is None or name in made:
            return
        if field["kind"] == "enum":
            enum = document.enums[name]
            made[name] = {**notes({**enum, "deprecated": None}), "enum": [value["name"] for value in enum["values"]]}
            return
        struct = document.structs[name]
        made[name] = {}
        made[name] = {**notes({**struct, "deprecated": None}), **object_schema(struct["fields"], "#/$defs/" + name)}
        for inner in struct["fields"]:
            add(inner)

    for field in fields:
        add(field)
    return dict(sorted(made.items()))


def root(document: Document, job: Json, title: str, fields: Sequence[Json]) -> str:
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **notes(job),
            **object_schema(fields)}
    types = definitions(document, fields)
    if types:
        made["$defs"] = types
    return json.dumps(made, indent=1, ensure_ascii=True) + "\n"


def make(document: Document) -> Dict[str, str]:
    files: Dict[str, str] = {}
    document.texts_of_users()
    for file in document.named:
        for job in file["jobs"]:
            name = job["qualified"]
            files[name + ".schema.json"] = root(document, job, name, job["params"])
            if job["result"] is not None:
                files[name + ".result.schema.json"] = root(document, job, f"what {name} returns",
                                                           job["result"]["fields"])
    return files


if __name__ == "__main__":
    serve(make)
