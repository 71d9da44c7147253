"""Random schemas, and the edits that make the next version of one.

An edit changes a version in place and says whether it found something to change. Its name is that
of its function. Invalid results are sorted out later, by culexc.
"""
from schema import FLOATS, INTS, PLAIN, SECOND, TEXTS, TIMES, WIDE, Block, Enum, Field, Job, Struct, Version

BASES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
EPOCH = 1767225600 * SECOND
VALUE_NAMES = ("EN", "IT", "FR", "DE", "ES", "PT")


class Draw:
    """The randomness, the uids and the names of one history."""
    def __init__(self, random, number):
        self.random, self.number, self.last = random, number, 0

    def uid(self):
        self.last += 1
        return self.last

    def name(self, letter):
        return f"{letter}{self.number}_{self.uid()}"

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def pick(self, items):
        return self.random.choice(items) if items else None


# ---- what there is at first ----

def draw_limits(draw, field):
    field.low = field.high = None
    if field.kind in TEXTS:
        field.low = draw.pick((None, None, 1, 2, 3))
        field.high = draw.pick((None, (field.low or 0) + draw.random.randrange(1, 40)))
        if draw.chance(15):
            field.low = field.high = draw.random.randrange(1, 9)
    elif field.has_limits():
        unit = SECOND if field.kind in TIMES else 1
        base = EPOCH if field.kind == "timestamp" else 0
        least, most = field.range()
        field.low = draw.pick((None, max(least, base + unit * draw.random.randrange(-20, 20))))
        field.high = draw.pick((None, min(most, base + unit * draw.random.randrange(21, 100))))


def draw_default(draw, version, field):
    """A default that keeps the limits; enums and structs have their own."""
    kind, (least, most) = field.kind, field.range()
    if kind == "enum":
        return draw.pick(version.types[field.ref].values)[1]
    if kind in TEXTS:
        text = draw.pick(("", "a", "xyz", "no-reply"))[:most].ljust(least, "d")
        return text.encode() if kind == "bytes" else text
    if kind in INTS or kind in TIMES:
        base = EPOCH if kind == "timestamp" else 0
        unit = SECOND if kind in TIMES else 1
        return min(max(base + unit * draw.random.randrange(-3, 30), least), most)
    return {"bool": draw.chance(50), "char": draw.random.randrange(256), "uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            "float32": 0.5, "float64": -2.25}[kind]


def draw_need(draw, version, field):
    if field.shape == "list":
        field.need = "list"
    elif field.kind == "struct" or field.shape == "array":
        field.need = draw.pick(("required", "optional"))
    else:
        field.need = draw.pick(("required", "optional", "default"))
    field.default = draw_default(draw, version, field) if field.need == "default" else None


def draw_kind(draw, version, above):
    """A kind and its type; structs only from those declared above the block that it is for."""
    refs = [(("enum" if isinstance(node, Enum) else "struct"), uid) for uid, node in version.types.items()
            if isinstance(node, Enum) or uid in above]
    return draw.pick(refs) if refs and draw.chance(35) else (draw.pick(PLAIN), None)


def draw_field(draw, version, above):
    field = Field(draw.uid(), draw.name("f"), *draw_kind(draw, version, above))
    field.shape = draw.pick(("single",) * 6 + ("list", "list", "array"))
    if field.shape == "list":
        field.count = draw.pick((None, draw.random.randrange(1, 6)))
    elif field.shape == "array":  # Of one element it is as good as a list of at most one.
        field.count = draw.random.randrange(2, 5)
    if draw.chance(30):
        draw_limits(draw, field)
    draw_need(draw, version, field)
    field.secret, field.must = draw.chance(8), draw.chance(8)
    return field


def draw_block(draw, version, least, most):
    block, above = Block(), set(version.types)
    block.fields = [draw_field(draw, version, above) for _ in range(draw.random.randrange(least, most + 1))]
    return block


def draw_enum(draw):
    enum = Enum(draw.uid(), draw.name("e"), draw.pick(BASES))
    for number, name in enumerate(draw.random.sample(VALUE_NAMES[:4], draw.random.randrange(2, 4))):
        enum.values.append((draw.uid(), name, number * 3 + 1, False))
    enum.closed = draw.chance(25)
    if draw.chance(20):
        enum.reserved, enum.numbers = ["OLD"], [99]
    return enum


def draw_version(draw):
    """Enums, then structs of what is above them, then the job."""
    version = Version()
    for _ in range(draw.random.randrange(1, 3)):
        enum = draw_enum(draw)
        version.types[enum.uid] = enum
    for _ in range(draw.pick((0, 1, 1, 2))):
        struct = Struct(draw.uid(), draw.name("s"))
        struct.block = draw_block(draw, version, 1, 3)
        version.types[struct.uid] = struct
    version.job = Job(draw.uid(), f"j{draw.number}")
    version.job.params = draw_block(draw, version, 1, 4)
    if draw.chance(30):
        version.job.result = draw_block(draw, version, 1, 2)
    for name, value in draw.random.sample(sorted(SETTINGS.items()), draw.random.randrange(0, 3)):
        version.job.settings[name] = draw.pick(value)
    tidy(version)
    return version


def tidy(version):
    """Drops the types that nothing uses, of which nothing is stored, and marks where they do not
    belong."""
    for what, block in version.blocks():
        for field in block.fields:
            field.must = field.must and what == "params"
    used = {f.ref for _, block in version.blocks() for f in block.fields}
    version.types = {uid: node for uid, node in version.types.items() if uid in used}


SETTINGS = {
    "queue": ('"mail";', '"bulk";', '"slow";'),
    "timeout": ("30s;", "1m;", "5m;"),
    "expires": ("1h;", "24h;", "7d;"),
    "memory": ("64M;", "128M;"),
    "keep": ("success 1h, failure 7d;", "success 2h, failure 1d;"),
    "priority": ("3;", "5;"),
    "retry": ("{ max 4; backoff polynomial 2s; }", "{ max 2; backoff constant 10s; }", "none;"),
}


# ---- where an edit finds what it changes ----

def any_block(draw, version):
    blocks = version.blocks()
    return draw.pick([block for _, block in blocks]) if blocks else None


def any_field(draw, version, wanted=lambda field: True):
    """A field, its block."""
    found = [(field, block) for _, block in version.blocks() for field in block.fields if wanted(field)]
    return draw.pick(found) or (None, None)


def any_enum(draw, version):
    enums = version.enums()
    return draw.pick(enums) if enums else None


def above_of(version, block):
    """Structs that a field of the block may have without ever containing itself."""
    above = set()
    for uid, node in version.types.items():
        if isinstance(node, Struct):
            if node.block is block:
                break
            above.add(uid)
    return above


def is_single(field):
    return field.shape == "single"


def renew_default(draw, version, field):
    """After a change of type or limits."""
    if field.need == "default":
        field.default = draw_default(draw, version, field)


def keep_default(draw, version, field):
    """The same, but only when the default is not valid any more."""
    if field.need != "default" or not field.has_limits():
        return
    value = len(field.default) if field.kind in TEXTS else field.default
    if not field.range()[0] <= value <= field.range()[1]:
        renew_default(draw, version, field)


# ---- fields come and go ----

def add(draw, version, need, must=False):
    block = any_block(draw, version)
    if block is None:
        return False
    for _ in range(9):
        field = draw_field(draw, version, above_of(version, block))
        if field.need == need:
            field.must = must
            block.fields.insert(draw.random.randrange(len(block.fields) + 1), field)
            return True
    return False


def add_optional(draw, version):
    return add(draw, version, "optional")


def add_default(draw, version):
    return add(draw, version, "default")


def add_list(draw, version):
    return add(draw, version, "list")


def add_required(draw, version):
    return add(draw, version, "required")


def add_must_understand(draw, version):
    return add(draw, version, draw.pick(("default", "optional")), must=True)


def take(draw, version, wanted=lambda field: True):
    field, block = any_field(draw, version, wanted)
    if field is None or len(block.fields) < 2:
        return None, None
    block.fields.remove(field)
    block.fresh.append(field)
    return field, block


def remove_reserve(draw, version):
    field, block = take(draw, version)
    if field is not None:
        block.reserved.append(field.wire)
    return field is not None


def remove_bare(draw, version):
    return take(draw, version)[0] is not None


def remove_optional(draw, version):
    field, block = take(draw, version, lambda f: f.need != "required" and not f.must)
    if field is not None:
        block.reserved.append(field.wire)
    return field is not None


def reuse_name(draw, version):
    """A name that was removed comes back with another meaning, reserved or not."""
    blocks = [block for _, block in version.blocks() if block.gone]
    if not blocks:
        return False
    block = draw.pick(blocks)
    old = draw.pick(block.gone)
    field = old.copy() if draw.chance(50) and (old.ref is None or old.ref in version.types) else \
        draw_field(draw, version, above_of(version, block))
    field.uid, field.name, field.wire = draw.uid(), old.wire, old.wire
    if any(old.wire in (other.wire, other.name) for other in block.fields) or field.kind == "struct":
        return False
    if field.need == "required" and draw.chance(70):
        field.need = "optional"
    block.gone.remove(old)
    block.reserved = [name for name in block.reserved if name != old.wire]
    block.fields.append(field)
    return True


def drop_reserved(draw, version):
    blocks = [block for _, block in version.blocks() if block.reserved]
    if blocks:
        block = draw.pick(blocks)
        block.reserved.remove(draw.pick(block.reserved))
    return bool(blocks)


def reserve_name(draw, version):
    block = any_block(draw, version)
    if block is not None:
        block.reserved.append(draw.name("r"))
    return block is not None


# ---- names ----

def rename_was(draw, version):
    field, _ = any_field(draw, version)
    if field is not None:
        field.name = draw.name("n")
    return field is not None


def rename_bare(draw, version):
    field, _ = any_field(draw, version)
    if field is not None:
        field.name = field.wire = draw.name("n")
    return field is not None


def drop_was(draw, version):
    field, _ = any_field(draw, version, lambda f: f.wire != f.name)
    if field is not None:
        field.wire = field.name
    return field is not None


def move_was(draw, version):
    """The trap of a second rename: [[was]] with the last name instead of the first."""
    field, _ = any_field(draw, version, lambda f: f.wire != f.name)
    if field is not None:
        field.wire, field.name = field.name, draw.name("n")
    return field is not None


def swap_names(draw, version):
    field, block = any_field(draw, version, lambda f: f.wire == f.name)
    other = None if block is None else draw.pick([f for f in block.fields if f is not field and f.wire == f.name])
    if other is None:
        return False
    field.name, other.name = other.name, field.name
    field.wire, other.wire = field.name, other.name
    field.uid, other.uid = other.uid, field.uid  # A name means what it meant; the types have changed.
    return True


def reorder(draw, version):
    block = any_block(draw, version)
    if block is None or len(block.fields) < 2:
        return False
    before = list(block.fields)
    draw.random.shuffle(block.fields)
    return block.fields != before


def rename_type(draw, version):
    node = draw.pick(list(version.types.values()))
    if node is not None:
        node.name = draw.name("t")
    return node is not None


# ---- types ----

def set_kind(draw, version, field, kind, ref=None):
    is_other_unit = (field.kind in TIMES) != (kind in TIMES)  # limits of times are whole seconds
    field.kind, field.ref = kind, ref
    if not field.has_limits() or is_other_unit:
        field.low = field.high = None
    else:
        least, most = Field(0, "", kind).range()
        field.low = None if field.low is None or not least < field.low < most else field.low
        field.high = None if field.high is None or not least < field.high < most else field.high
        if field.low is not None and field.high is not None and field.low > field.high:
            field.high = None
    if field.need == "default" and (kind == "struct" or ref is not None):
        field.need = "required" if kind == "struct" else "default"
    renew_default(draw, version, field)
    return True


def resize(draw, version, by):
    """Another integer of the same sign."""
    field, _ = any_field(draw, version, lambda f: f.kind in INTS)
    if field is None:
        return False
    sign, bits = field.kind.rsplit("int", 1)
    wanted = [kind for kind in INTS if kind.startswith(sign + "int") and (int(kind.rsplit("int", 1)[1]) > int(bits)) == (by > 0)
              and kind != field.kind]
    return bool(wanted) and set_kind(draw, version, field, draw.pick(wanted))


def widen(draw, version):
    return resize(draw, version, 1)


def narrow(draw, version):
    return resize(draw, version, -1)


def change_sign(draw, version):
    field, _ = any_field(draw, version, lambda f: f.kind in INTS)
    if field is None:
        return False
    return set_kind(draw, version, field, draw.pick([k for k in INTS if k[0] != field.kind[0]]))


def change_float(draw, version):
    field, _ = any_field(draw, version, lambda f: f.kind in FLOATS or f.kind in INTS)
    if field is None:
        return False
    return set_kind(draw, version, field, draw.pick([k for k in (*FLOATS, "int32") if k != field.kind]))


def to_string(draw, version):
    field, _ = any_field(draw, version, lambda f: f.kind in ("uuid", "enum", *TIMES, *WIDE))
    return field is not None and set_kind(draw, version, field, "string")


def change_type(draw, version):
    field, block = any_field(draw, version)
    if field is None:
        return False
    kind, ref = draw_kind(draw, version, above_of(version, block))
    return (kind, ref) != (field.kind, field.ref) and set_kind(draw, version, field, kind, ref)


def change_enum(draw, version):
    """Another enum, which may have all of the names."""
    field, _ = any_field(draw, version, lambda f: f.kind == "enum")
    if field is None:
        return False
    enum = draw_enum(draw)
    if draw.chance(50):
        enum.values = [(draw.uid(), *value[1:]) for value in version.types[field.ref].values] + \
            [(draw.uid(), "NEW", 90, False)]
    version.types = {enum.uid: enum, **version.types}
    return set_kind(draw, version, field, "enum", enum.uid)


# ---- limits, counts, shapes ----

def set_limits(draw, version):
    field, _ = any_field(draw, version, Field.has_limits)
    if field is None:
        return False
    before = (field.low, field.high)
    draw_limits(draw, field)
    keep_default(draw, version, field)
    return (field.low, field.high) != before


def move_limit(draw, version, towards):
    """One limit a little, outwards (1) or inwards (-1)."""
    field, _ = any_field(draw, version, lambda f: f.has_limits() and (f.low, f.high) != (None, None))
    if field is None:
        return False
    step = SECOND if field.kind in TIMES else 1
    floor = 1 if field.kind in TEXTS else Field(0, "", field.kind).range()[0]
    if field.high is not None and (field.low is None or draw.chance(50)):
        field.high = field.high + step * towards
    else:
        field.low = max(field.low - step * towards, floor)
    keep_default(draw, version, field)
    return True


def raise_limit(draw, version):
    return move_limit(draw, version, 1)


def lower_limit(draw, version):
    return move_limit(draw, version, -1)


def drop_limits(draw, version):
    field, _ = any_field(draw, version, lambda f: (f.low, f.high) != (None, None))
    if field is not None:
        field.low = field.high = None
    return field is not None


def change_count(draw, version):
    field, _ = any_field(draw, version, lambda f: f.shape != "single")
    if field is None:
        return False
    before = field.count
    field.count = draw.pick((2, 3, 4, 5) if field.shape == "array" else (None, 1, 2, 3, 4, 5))
    return field.count != before


def change_shape(draw, version):
    field, _ = any_field(draw, version)
    if field is None:
        return False
    field.shape = draw.pick([shape for shape in ("single", "list", "array") if shape != field.shape])
    field.count = None if field.shape == "single" else draw.pick((2, 4, 8)) if field.count in (None, 1) else field.count
    if field.shape == "list":
        field.need = "list"
    elif field.need in ("list", "default"):
        field.need = draw.pick(("required", "optional"))
    return True


def array_to_list(draw, version):
    field, _ = any_field(draw, version, lambda f: f.shape == "array")
    if field is not None:
        field.shape, field.need = "list", "list"
        field.count = draw.pick((None, field.count, field.count + 1))
    return field is not None


# ---- presence, marks ----

def change_need(draw, version, before, after):
    field, _ = any_field(draw, version, lambda f: f.need == before and
                         (after != "default" or (is_single(f) and f.kind != "struct")))
    if field is not None:
        field.need = after
        renew_default(draw, version, field)
    return field is not None


def required_to_optional(draw, version):
    return change_need(draw, version, "required", "optional")


def required_to_default(draw, version):
    return change_need(draw, version, "required", "default")


def optional_to_required(draw, version):
    return change_need(draw, version, "optional", "required")


def optional_to_default(draw, version):
    return change_need(draw, version, "optional", "default")


def default_to_optional(draw, version):
    return change_need(draw, version, "default", "optional")


def default_to_required(draw, version):
    return change_need(draw, version, "default", "required")


def change_default(draw, version):
    field, _ = any_field(draw, version, lambda f: f.need == "default")
    before = None if field is None else field.default
    if field is not None:
        renew_default(draw, version, field)
    return field is not None and field.default != before


def mark(draw, version, name):
    field, _ = any_field(draw, version)
    if field is not None:
        field.__dict__[name] = not field.__dict__[name]
    return field is not None


def mark_secret(draw, version):
    return mark(draw, version, "secret")


def mark_must_understand(draw, version):
    return mark(draw, version, "must")


def mark_deprecated(draw, version):
    return mark(draw, version, "old")


# ---- enums ----

def free_number(enum):
    taken = {value[2] for value in enum.values} | set(enum.numbers)
    return next(number for number in range(1, 120) if number not in taken)


def add_value(draw, version):
    enum = any_enum(draw, version)
    names = [] if enum is None else [n for n in VALUE_NAMES if all(v[1] != n for v in enum.values)
                                     and n not in enum.reserved + enum.gone + enum.fresh]
    if names:
        enum.values.insert(draw.random.randrange(len(enum.values) + 1),
                           (draw.uid(), draw.pick(names), free_number(enum), False))
    return bool(names)


def take_value(draw, version):
    enum = any_enum(draw, version)
    used = set() if enum is None else {f.default for _, block in version.blocks() for f in block.fields if f.ref == enum.uid}
    value = None if enum is None or len(enum.values) < 3 else draw.pick([v for v in enum.values if v[1] not in used])
    if value is None:
        return None, None
    enum.values.remove(value)
    enum.fresh.append(value[1])
    return enum, value


def remove_value(draw, version):
    return take_value(draw, version)[0] is not None


def remove_value_reserve(draw, version):
    enum, value = take_value(draw, version)
    if enum is not None:
        enum.reserved.append(value[1])
        enum.numbers.append(value[2])
    return enum is not None


def reuse_value(draw, version):
    """The name of a value that was removed, for another meaning."""
    enum = draw.pick([enum for enum in version.enums() if enum.gone])
    name = None if enum is None else draw.pick([n for n in enum.gone if all(v[1] != n for v in enum.values)])
    if name is None:
        return False
    enum.reserved = [other for other in enum.reserved if other != name]
    enum.values.append((draw.uid(), name, free_number(enum), False))
    return True


def reuse_number(draw, version):
    enum = draw.pick([enum for enum in version.enums() if enum.numbers])
    if enum is None:
        return False
    number = enum.numbers.pop()
    enum.values.append((draw.uid(), "NR" + str(draw.uid()), number, False))
    return True


def renumber_value(draw, version):
    enum = any_enum(draw, version)
    if enum is None:
        return False
    at = draw.random.randrange(len(enum.values))
    uid, name, _, old = enum.values[at]
    enum.values[at] = (uid, name, free_number(enum), old)
    return True


def swap_numbers(draw, version):
    enum = draw.pick([enum for enum in version.enums() if len(enum.values) > 1])
    if enum is None:
        return False
    a, b = enum.values[:2]
    enum.values[:2] = [(*a[:2], b[2], a[3]), (*b[:2], a[2], b[3])]
    return True


def rename_value(draw, version):
    enum, value = take_value(draw, version)
    if enum is not None:
        enum.values.append((value[0], "RN" + str(draw.uid()), *value[2:]))
    return enum is not None


def deprecate_value(draw, version):
    enum = any_enum(draw, version)
    if enum is not None:
        enum.values[0] = (*enum.values[0][:3], True)
    return enum is not None


def toggle_closed(draw, version):
    enum = any_enum(draw, version)
    if enum is not None:
        enum.closed = not enum.closed
    return enum is not None


def change_base(draw, version):
    enum = any_enum(draw, version)
    if enum is not None:
        enum.base = draw.pick([base for base in BASES if base != enum.base])
    return enum is not None


def drop_reserved_value(draw, version):
    enum = draw.pick([enum for enum in version.enums() if enum.reserved])
    if enum is not None:
        enum.reserved.pop()
    return enum is not None


# ---- jobs ----

def rename_job_was(draw, version):
    version.job.name = draw.name("j")
    return True


def rename_job_bare(draw, version):
    version.job.name = version.job.wire = draw.name("j")
    return True


def drop_job_was(draw, version):
    job = version.job
    is_renamed = job.wire != job.name
    job.wire = job.name
    return is_renamed


def retire_job(draw, version):
    version.job.retired = not version.job.retired
    return True


def remove_job(draw, version):
    version.job = None
    version.types = {}
    return True


def change_settings(draw, version):
    name = draw.pick(sorted(SETTINGS))
    before = dict(version.job.settings)
    if draw.chance(30):
        version.job.settings.pop(name, None)
    else:
        version.job.settings[name] = draw.pick(SETTINGS[name])
    return version.job.settings != before


def add_result(draw, version):
    if version.job.result is not None:
        return False
    version.job.result = draw_block(draw, version, 1, 2)
    return True


def remove_result(draw, version):
    had = version.job.result is not None
    version.job.result = None
    return had


# Those at which a job ends or begins anew are rare: nothing is left to be compared.
EDITS = {
    6: (add_optional, add_default, widen, narrow, change_type, set_limits, raise_limit, lower_limit, add_value,
        remove_optional, rename_was),
    4: (add_list, add_required, add_must_understand, remove_reserve, remove_bare, rename_bare, change_sign,
        change_float, to_string, change_enum, drop_limits, change_count, change_shape, array_to_list,
        required_to_optional, required_to_default, optional_to_required, optional_to_default, default_to_optional,
        default_to_required, change_default, mark_must_understand, remove_value, remove_value_reserve,
        renumber_value, rename_value),
    9: (reuse_name, reuse_value, reuse_number, move_was, drop_was, drop_reserved, drop_reserved_value),
    2: (reserve_name, swap_names, reorder, rename_type, mark_secret, mark_deprecated, swap_numbers, deprecate_value,
        toggle_closed, change_base, rename_job_was, drop_job_was, change_settings, add_result, remove_result),
    1: (rename_job_bare, retire_job, remove_job),
}
WEIGHTED = [edit for weight, edits in EDITS.items() for edit in edits for _ in range(weight)]


def forget_in_results(draw, old, new):
    """Names of results need not be reserved, so there a field with another name on the wire and
    in the schema is another field."""
    before = {field.uid: field for _, block in old.blocks() for field in block.fields}
    params = [id(block) for _, block in new.blocks(("params",))]
    for _, block in new.blocks():
        for field in block.fields if id(block) not in params else []:
            last = before.get(field.uid, field)
            if last.wire != field.wire and last.name != field.name:
                field.uid = draw.uid()


def next_version(draw, version):
    """A copy with one to three edits, and their names."""
    new, names = version.copy(), []
    for _ in range(draw.pick((1, 1, 1, 1, 1, 2, 2, 3))):
        while new.job is not None:
            edit = draw.pick(WEIGHTED)
            if edit(draw, new):
                names.append(edit.__name__)
                break
    for node in [block for _, block in new.blocks()] + new.enums():
        node.gone, node.fresh = node.gone + node.fresh, []
    forget_in_results(draw, version, new)
    tidy(new)
    return new, names


def draw_history(random, number):
    """Versions, and the names of the edits between them."""
    draw = Draw(random, number)
    versions, edits = [draw_version(draw)], []
    for _ in range(draw.pick((1, 1, 1, 2, 2, 3))):
        if versions[-1].job is None:
            break
        new, names = next_version(draw, versions[-1])
        versions.append(new)
        edits.append(names)
    return versions, edits
