"""Schemas as the histories know them: made, written as text, and filled with values.

Everything that lasts through an edit has a uid: with it the campaign knows what a name means
without asking the compiler. A value is the JSON tree of its canonical text (schemas/payload.md).
"""
import base64
import copy
import datetime

INTS = {f"{sign}int{bits}": (0, 2**bits - 1) if sign else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
        for sign in ("", "u") for bits in (8, 16, 32, 64, 128)}
WIDE = ("int128", "uint128")
FLOATS = {"float32": 2**24, "float64": 2**53}
TIMES = ("timestamp", "duration")
NS = (-2**63, 2**63 - 1)
TEXTS = ("string", "bytes")
SECOND = 10**9
UUIDS = ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "00000000-0000-0000-0000-000000000000")
PLAIN = ("bool", "char", *INTS, *FLOATS, *TEXTS, "uuid", *TIMES)
VALUES_MAX = 20  # of one version
TEXT_MAX = 90    # longest string that is tried


class Node:
    """What is copied with its children, so that a version can be edited and the last one kept."""
    def __init__(self, **state):
        self.__dict__.update(state)

    def copy(self):
        new = copy.copy(self)
        for name, value in self.__dict__.items():
            if isinstance(value, Node):
                new.__dict__[name] = value.copy()
            elif isinstance(value, list):
                new.__dict__[name] = [x.copy() if isinstance(x, Node) else x for x in value]
            elif isinstance(value, dict):
                new.__dict__[name] = {k: x.copy() if isinstance(x, Node) else x for k, x in value.items()}
        return new


class Field(Node):
    """kind: of PLAIN, "enum" or "struct"; shape: single, list or array; need: required, optional,
    default or list."""
    def __init__(self, uid, name, kind, ref=None):
        super().__init__(uid=uid, name=name, wire=name, kind=kind, ref=ref, shape="single", count=None,
                         need="required", default=None, low=None, high=None, secret=False, must=False,
                         old=False)

    def key(self):
        return ("!" if self.must else "") + self.wire

    def has_limits(self):
        return self.kind in TEXTS or self.kind in TIMES or (self.kind in INTS and self.kind not in WIDE)

    def range(self):
        """Least and most: of integers and times, or of lengths."""
        least, most = NS if self.kind in TIMES else INTS.get(self.kind, (0, 2**20))
        return (least if self.low is None else self.low, most if self.high is None else self.high)


class Block(Node):
    """gone: what was removed in earlier edits; fresh: in this one, so it cannot be missed yet."""
    def __init__(self):
        super().__init__(fields=[], reserved=[], gone=[], fresh=[])


class Struct(Node):
    def __init__(self, uid, name):
        super().__init__(uid=uid, name=name, block=Block())


class Enum(Node):
    """values: (uid, name, number, is deprecated)."""
    def __init__(self, uid, name, base):
        super().__init__(uid=uid, name=name, base=base, values=[], reserved=[], numbers=[], gone=[],
                         fresh=[], closed=False)


class Job(Node):
    def __init__(self, uid, name):
        super().__init__(uid=uid, name=name, wire=name, params=Block(), result=None, retired=False,
                         settings={})


class Version(Node):
    """One state of a history: its types by uid, in order, and its job (None: removed)."""
    def __init__(self):
        super().__init__(types={}, job=None)

    def blocks(self, roots=("params", "result")):
        """The blocks in use, each once, with what they are."""
        found, seen = [], set()
        if self.job is None:
            return found
        todo = [(root, getattr(self.job, root)) for root in roots if getattr(self.job, root) is not None]
        while todo:
            what, block = todo.pop()
            found.append((what, block))
            for field in block.fields:
                if field.kind == "struct" and field.ref not in seen:
                    seen.add(field.ref)
                    todo.append(("struct", self.types[field.ref].block))
        return found

    def enums(self):
        refs = dict.fromkeys(f.ref for _, block in self.blocks() for f in block.fields if f.kind == "enum")
        return [self.types[ref] for ref in refs]


# ---- texts of values ----

def time_text(ns):
    seconds, rest = divmod(ns, SECOND)
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S").zfill(19) + (f".{rest:09}".rstrip("0") if rest else "") + "Z"


def duration_text(ns):
    seconds, rest = divmod(abs(ns), SECOND)
    return ("-" if ns < 0 else "") + str(seconds) + (f".{rest:09}".rstrip("0") if rest else "") + "s"


def json_of(kind, value):
    if kind == "char":
        return chr(value)
    if kind in WIDE:
        return str(value)
    if kind == "bytes":
        return base64.b64encode(value).decode()
    if kind == "timestamp":
        return time_text(value)
    return duration_text(value) if kind == "duration" else value


def literal(kind, value):
    if kind == "bool":
        return "true" if value else "false"
    if kind == "char":
        return f"'\\x{value:02X}'"
    if kind in ("string", "uuid"):
        return f'"{value}"'
    if kind == "bytes":
        return f'x"{value.hex()}"'
    if kind == "timestamp":
        return f'"{time_text(value)}"'
    if kind == "duration":
        return ("-" if value < 0 else "") + f"{abs(value) // SECOND}s"
    return f"{value:g}" if kind in FLOATS else str(value)


# ---- text of a schema ----

def attributes(field):
    low, high = field.low, field.high
    marks = []
    if field.kind in TEXTS:
        if low is not None and low == high:
            marks.append(f"len({low})")
        else:
            if low is not None:
                marks.append("nonempty" if low == 1 else f"min_len({low})")
            if high is not None:
                marks.append(f"max_len({high})")
    else:
        marks += [f"{word}({literal(field.kind, limit)})"
                  for word, limit in (("min", low), ("max", high)) if limit is not None]
    marks += [word for word, is_set in (("secret", field.secret), ("must_understand", field.must)) if is_set]
    if field.wire != field.name:
        marks.append(f'was("{field.wire}")')
    if field.old:
        marks.append('deprecated("use another")')
    return f" [[{', '.join(marks)}]]" if marks else ""


def field_text(version, field):
    kind = field.kind if field.ref is None else version.types[field.ref].name
    text = ("optional " if field.need == "optional" else "") + f"{kind} {field.name}"
    if field.shape == "array":
        text += f"[{field.count}]"
    elif field.shape == "list":
        text += "[]" if field.count is None else f"[<={field.count}]"
    text += attributes(field)
    if field.need == "default":
        text += " = " + (field.default if field.kind == "enum" else literal(field.kind, field.default))
    return text + ";"


def block_text(version, block):
    lines = [field_text(version, field) for field in block.fields]
    if block.reserved:
        lines.append("reserved " + ", ".join(f'"{name}"' for name in block.reserved) + ";")
    return "{ " + " ".join(lines) + " }"


def enum_text(enum):
    parts = [f"{name} = {number}" + (' [[deprecated("no more")]]' if old else "")
             for _, name, number, old in enum.values]
    reserved = [str(number) for number in enum.numbers] + [f'"{name}"' for name in enum.reserved]
    if reserved:
        parts.append("reserved " + ", ".join(reserved))
    closed = " [[closed]]" if enum.closed else ""
    return f"enum {enum.name}{closed} : {enum.base} {{ {', '.join(parts)} }}"


def job_text(version):
    job = version.job
    marks = (["retired"] if job.retired else []) + ([f'was("{job.wire}")'] if job.wire != job.name else [])
    text = f"job {job.name}" + (f" [[{', '.join(marks)}]]" if marks else "") + " {"
    if job.params.fields or job.params.reserved:
        text += f" params {block_text(version, job.params)}"
    if job.result is not None:
        text += f" returns {block_text(version, job.result)}"
    return text + "".join(f" {name} {value}" for name, value in job.settings.items()) + " }"


def version_text(version):
    """The lines of a history in the schema file of one version."""
    lines = [enum_text(node) if isinstance(node, Enum) else f"struct {node.name} {block_text(version, node.block)}"
             for node in version.types.values()]
    return lines + ([] if version.job is None else [job_text(version)])


# ---- values ----

def default_json(field):
    return json_of(field.kind, field.default)


def clip(points, least, most):
    return sorted({p for p in points if least <= p <= most})


def limits_of(kin):
    points = set()
    for other in kin:
        if other.kind in INTS or other.kind in TIMES:
            least, most = other.range()
            points |= {least - 1, least, most, most + 1}
        elif other.kind in FLOATS:
            points.add(FLOATS[other.kind] + 1)
    return points


def text_candidates(version, field, kin):
    least, most = field.range()
    lengths = {least, least + 1, most}
    words = []
    for other in kin:
        if other.kind in TEXTS:
            low, high = other.range()
            lengths |= {low - 1, low, high, high + 1}
        elif field.kind == "string":
            words += ["12", "x", "true", "-1.5s", UUIDS[0], "2026-01-01T00:00:00Z", "1e300", "Zm8="]
            words += [name for name in other.names]
    lengths = clip(lengths, least, min(most, TEXT_MAX)) or [least]
    if field.kind == "bytes":
        return [base64.b64encode(bytes(range(n))).decode() for n in lengths]
    return ["ab\"\\\n/"[: n % 7].ljust(n, "z") for n in lengths] + [w for w in words if least <= len(w) <= most]


def candidates(version, field, kin):
    """Values of one element: the borders of its own range, and those of its kin's inside it."""
    kind = field.kind
    if kind == "struct":
        return block_values(version, version.types[field.ref].block, kin.everyone)
    if kind == "enum":
        return [value[1] for value in version.types[field.ref].values]
    if kind in INTS or kind in TIMES:
        least, most = field.range()
        return [json_of(kind, p) for p in clip({least, 0, 1, most} | limits_of(kin), least, most)]
    if kind in TEXTS:
        return text_candidates(version, field, kin)
    if kind in FLOATS:
        return [0, 1.5, -3, 1e300 if kind == "float64" else 1e30, 0.1, "NaN", "-Infinity"] + (
            [0.1234567890123] if kind == "float64" else [])
    return {"bool": [False, True], "char": ["\x00", "x", "\xe9", "7"], "uuid": list(UUIDS)}[kind]


class Kin(list):
    """The fields that this one was and will be, or whose name it bears, in all versions."""
    everyone = None


def kin_of(field, everyone):
    kin = Kin()
    kin.everyone = everyone
    for other in everyone:
        if other.uid == field.uid or other.wire == field.wire:
            kin.append(other)
    return kin


def lengths_of(field, kin):
    most = 65535 if field.count is None else field.count
    points = {0, 1, 3 if field.count is None else most}
    for other in kin:
        if other.count is not None:
            points |= {other.count - 1, other.count, other.count + 1}
    return clip(points, 0, most)


def field_values(version, field, everyone):
    kin = kin_of(field, everyone)
    single = candidates(version, field, kin)
    if field.shape == "single":
        values = single
    elif field.shape == "array":
        values = [[single[(at + n) % len(single)] for n in range(field.count)] for at in range(len(single))]
    else:
        lengths = lengths_of(field, kin)
        values = [[single[(at + n) % len(single)] for n in range(length)] for at, length in enumerate(lengths)]
        values += [[value] for value in single]
    return [None, *values] if field.need == "optional" else values


def block_values(version, block, everyone):
    """Trees that hold every candidate of every field at least once, up to VALUES_MAX."""
    columns = [(field, field_values(version, field, everyone)) for field in block.fields]
    count = max([len(values) for _, values in columns], default=1)
    trees = []
    for at in range(min(count, VALUES_MAX)):
        tree = {}
        for field, values in columns:
            value = values[at % len(values)]
            if value is not None and value != []:
                tree[field.key()] = value
        trees.append(tree)
    return trees


def everyone_of(versions):
    """All fields of a history, each with the names its enum has had."""
    found = []
    for version in versions:
        nodes = [version.job.params, version.job.result] if version.job is not None else []
        nodes += [node.block for node in version.types.values() if isinstance(node, Struct)]
        for block in nodes:
            for field in block.fields if block is not None else []:
                field.names = [v[1] for v in version.types[field.ref].values] if field.kind == "enum" else []
                found.append(field)
    return found
