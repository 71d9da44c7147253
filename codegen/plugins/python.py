"""culexc gen --plugin python: a module of dataclasses for each schema, to enqueue its jobs from Python.

NAME_job.py for each NAME.job, and culex_producer.py, which all of them import.
"""

from __future__ import annotations

import builtins
import keyword
import os
import re
import sys
from typing import Callable, Dict, List, Optional, Sequence, Set, Tuple

sys.dont_write_bytecode = True
LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
sys.path.insert(0, LIB)

from document import INTEGER_BITS, Document, Json, Refusal, float32_of, serve

SUPPORT = "culex_producer"
TYPES = {
    "bool": "bool", "char": "str", **{kind: "int" for kind in INTEGER_BITS}, "float32": "float", "float64": "float",
    "string": "str", "bytes": "bytes", "uuid": "_uuid.UUID", "timestamp": "_culex.Timestamp",
    "duration": "_culex.Duration",
}
STATES = ("scheduled", "waiting", "active")  # in the order of culex_run_state
SPECIAL_FLOATS = ("NaN", "Infinity", "-Infinity")
# What a default is in Python, by its key in the document.
VALUES: Dict[str, Callable[[str], str]] = {
    "float": lambda text: f'_builtins.float("{text}")' if text in SPECIAL_FLOATS else repr(float(text)),
    "string": ascii,
    "bytes": lambda text: f'_builtins.bytes.fromhex("{text}")',
    "uuid": lambda text: f'_uuid.UUID("{text}")',
    "int": str, "time_ns": str, "duration_ns": str,
}


# --- names ------------------------------------------------------------------------------------


def module_name(file: Json) -> str:
    return re.sub(r"\W", "_", file["stem"]) + "_job"


def modules_check(files: Sequence[Json]) -> None:
    """A module is written once, also where a folder takes no notice of case."""
    first: Dict[str, Json] = {}
    for file in files:
        other = first.setdefault(module_name(file).lower(), file)
        if other is not file:
            both = " and ".join(f"'{one['file']}'" + (f" of package '{one['package']}'" if one["package"] else "")
                                for one in (other, file))
            raise Refusal(file, 0, f"{both} would both be the module {module_name(file)}")


def bare(qualified: str) -> str:
    return qualified.rpartition(".")[2]


def attribute(name: str) -> str:
    """No name of a schema ends with "_", so none is taken twice by this."""
    return name + "_" if keyword.iskeyword(name) else name


def enum_member(name: str) -> str:
    return name + "_" if keyword.iskeyword(name) or name in ("name", "value", "mro") else name


class Names:
    """The classes of one file: send_email becomes SendEmail, once more SendEmail_."""

    def __init__(self, file: Json) -> None:
        self.of: Dict[str, str] = {}
        taken: Set[str] = set(dir(builtins)) | set(keyword.kwlist)
        for declared in file["enums"] + file["structs"]:
            self._add(declared["name"], declared["name"], taken)
        for job in file["jobs"]:
            self._add("job " + job["qualified"], job["name"], taken)

    def _add(self, key: str, name: str, taken: Set[str]) -> None:
        wish = "".join(part[:1].upper() + part[1:] for part in bare(name).split("_"))
        while wish in taken:
            wish += "_"
        taken.add(wish)
        self.of[key] = wish


# --- text -------------------------------------------------------------------------------------


def docstring(doc: str, otherwise: str) -> List[str]:
    """Nothing in it ends it or means anything to Python."""
    lines = (doc.strip("\n") or otherwise).split("\n")
    shown = ["".join(char if char.isprintable() and char not in '\\"' else f"\\u{ord(char):04x}" if ord(char) < 65536
                     else f"\\U{ord(char):08x}" for char in line.rstrip()) for line in lines]
    return ['    """' + ("\n    ".join(shown)).replace("    \n", "\n") + '"""', ""]


def milliseconds(nanoseconds: Optional[str]) -> int:
    """Rounded up, because 0 means that there is no such limit."""
    return (int(nanoseconds or 0) + 999999) // 1000000


def key_of(rule: Json) -> Tuple[str, ...]:
    return tuple(attribute(name) for name in rule["by"])


def check_encrypted(file: Json) -> None:
    """A producer in Python has no keys, so it could not seal what the store must not see."""
    for job in file["jobs"]:
        for field in job["params"]:
            if field["encrypted"]:
                raise Refusal(file, field["line"], f"'{field['name']}' is encrypted, which programs in Python cannot do: "
                                                   "enqueue this job from C, and leave its schema out here")


class Module:
    """The text of one file."""

    def __init__(self, document: Document, file: Json) -> None:
        self.document, self.file = document, file
        self.names = {id(other): Names(other) for other in document.files}
        self.imports: Set[str] = set()

    def type_of(self, field: Json) -> str:
        """The name of an enum or struct as this module says it."""
        name = field["ref"]["name"]
        home = self.document.file_of[name]
        shown = self.names[id(home)].of[name]
        if home is self.file:
            return shown
        self.imports.add(module_name(home))
        return f"_{module_name(home)}.{shown}"

    def type_said(self, field: Json, params: Set[str]) -> str:
        """The same inside a class with these params, each of which hides what is called as it."""
        shown = TYPES.get(field["kind"]) or self.type_of(field)
        if shown not in params:
            return shown
        return f"_builtins.{shown}" if shown in dir(builtins) else f"_{shown}"

    def annotation(self, field: Json, params: Set[str]) -> str:
        one = self.type_said(field, params)
        shaped = one if field["shape"] == "single" else f"_typing.Sequence[{one}]"
        return f"_typing.Optional[{shaped}]" if field["optional"] else shaped

    def default(self, field: Json, params: Set[str]) -> Optional[str]:
        if field["optional"]:
            return "default=None"
        if field["shape"] == "list":
            return "default_factory=_builtins.list"
        if field["default"] is None:
            return None
        ((key, value),) = [(key, value) for key, value in field["default"].items() if key not in ("c", "value")]
        if key == "enum":
            return f"default={self.type_said(field, params)}.{enum_member(value)}"
        if field["kind"] == "float32" and value not in SPECIAL_FLOATS:
            return f"default={float32_of(value)!r}"
        if key == "bool":
            return f"default={value}"
        if key == "char":
            return f"default={ascii(chr(value))}"
        return "default=" + VALUES[key](value)

    def member(self, field: Json, params: Set[str]) -> List[str]:
        parts = [part for part in (self.default(field, params), "repr=False" if field["secret"] else None) if part]
        value = f" = _dataclasses.field({', '.join(parts)})" if parts else ""
        return [f"    {attribute(field['name'])}: {self.annotation(field, params)}{value}"]

    def row(self, field: Json) -> str:
        wire = "!" * field["must_understand"] + field["wire"]
        cells = [ascii(attribute(field["name"])), ascii(wire), ascii(field["kind"])]
        if field["shape"] != "single":
            cells.append(f"shape={field['shape']!r}")
        cells += [f"{name}={field[name]}" for name in ("count", "min_len", "max_len") if field[name]]
        cells += [f"{name}=True" for name in ("optional", "required") if field[name]]
        for name, key in (("low", "min"), ("high", "max")):
            if field[key] is not None:
                cells.append(f"{name}={next(iter(field[key].values()))}")
        if field["ref"] is not None:
            cells.append(f"type=lambda: {self.type_of(field)}")
        return f"    _culex.Field({', '.join(cells)}),"

    def record(self, name: str, base: str, doc: List[str], fields: Sequence[Json]) -> List[str]:
        params = {attribute(field["name"]) for field in fields}
        members = [line for field in fields for line in self.member(field, params)]
        rows = [self.row(field) for field in fields]
        return ["", "", "@_dataclasses.dataclass(kw_only=True, slots=True)", f"class {name}(_culex.{base}):", *doc, *members,
                *([] if members else ["    pass"]), "", "", f"{name}._FIELDS = (", *rows, ")"]

    def policy(self, name: str, job: Json) -> List[str]:
        values = {
            "job": job["wire"], "queue": job["queue"], "fingerprint": int(job["fingerprint"], 16),
            "priority": job["priority"], "retries": job["retry"]["max"],
            "retry_for_ms": milliseconds(job["retry"]["for_ns"]),
            "timeout_ms": milliseconds(job["timeout_ns"]), "expires_ms": milliseconds(job["expires_ns"]),
            "keep_success_ms": milliseconds(job["keep_success_ns"]),
            "keep_failure_ms": milliseconds(job["keep_failure_ns"]), "tags": tuple(job["tags"]),
        }
        return [f"{name}._POLICY = _culex.Policy(", *[f"    {key}={value!a}," for key, value in values.items()],
                *self.unique(job["unique"]), *self.limits(job["limits"], job["needs"]), ")"]

    def unique(self, unique: Optional[Json]) -> List[str]:
        if unique is None:
            return []
        values = {"by": key_of(unique), "while_states": sum(1 << STATES.index(state) for state in unique["while"]),
                  "for_ms": milliseconds(unique["for_ns"]), "on_conflict": unique["on_conflict"],
                  "delay_ms": milliseconds(unique["delay_ns"])}
        return [f"    unique=_culex.Unique({', '.join(f'{key}={value!a}' for key, value in values.items())}),"]

    def limits(self, limits: Sequence[Json], needs: Sequence[Json]) -> List[str]:
        if not limits and not needs:
            return []
        rows = [(limit["kind"], limit["name"], int(limit["count"] or 0), milliseconds(limit["per_ns"]),
                 int(limit["burst"] or 0), key_of(limit)) for limit in limits]
        # What runs need is the last of their limits, as in the C library (core/needs.h).
        if needs:
            rows.append(("needs", "needs " + ",".join(f"{need['name']}:{need['units']}" for need in needs), 0, 0, 0, ()))
        return ["    limits=(", *[f"        _culex.Limit({', '.join(map(ascii, row))})," for row in rows], "    ),"]

    def enum(self, declared: Json) -> List[str]:
        name = self.names[id(self.file)].of[declared["name"]]
        values = [f"    {enum_member(value['name'])} = {value['name']!r}" for value in declared["values"]]
        return ["", "", f"class {name}(_enum.Enum):", *docstring(declared["doc"], f"{declared['name']}."), *values]

    def alias(self, name: str) -> List[str]:
        """What a type is also called when a param is called as it; no param begins with "_"."""
        lists = [struct["fields"] for struct in self.file["structs"]] + [job["params"] for job in self.file["jobs"]]
        is_hidden = any(attribute(field["name"]) == name for fields in lists for field in fields)
        return ["", "", f"_{name} = {name}"] if is_hidden else []

    def body(self) -> List[str]:
        names = self.names[id(self.file)].of
        lines: List[str] = []
        for declared in self.file["enums"]:
            lines += self.enum(declared) + self.alias(names[declared["name"]])
        for struct in self.file["structs"]:
            name = names[struct["name"]]
            lines += self.record(name, "Record", docstring(struct["doc"], f"{struct['name']}."), struct["fields"])
            lines += self.alias(name)
        for job in self.file["jobs"]:
            name = names["job " + job["qualified"]]
            lines += self.record(name, "Job", docstring(job["doc"], f"{job['qualified']}."), job["params"])
            lines += self.policy(name, job)
        return lines

    def text(self) -> str:
        body = self.body()
        head = [f"# generated by culexc from {self.file['stem']}.job; do not edit", "from __future__ import annotations",
                "", "import builtins as _builtins", "import dataclasses as _dataclasses", "import enum as _enum", "import typing as _typing",
                "import uuid as _uuid", "", f"import {SUPPORT} as _culex"]
        head += [f"import {name} as _{name}" for name in sorted(self.imports)]
        return "\n".join(head + body) + "\n"


def make(document: Document) -> Dict[str, str]:
    with open(os.path.join(LIB, SUPPORT + ".py"), encoding="utf-8") as file:
        files = {SUPPORT + ".py": file.read()}
    modules_check(document.files)
    for file in document.named:
        check_encrypted(file)
    document.texts_of_users()
    for named in document.named:
        files[module_name(named) + ".py"] = Module(document, named).text()
    return files


if __name__ == "__main__":
    serve(make)
