"""What a reader should have understood, from the two schemas and what was written.

Fields are matched by identity (uid), so a value under a name that now means something else is a
misreading however well it decodes. By "wire" instead, names are what counts.
"""
from schema import FLOATS, INTS, default_json

OK, DEFAULTED, ROUNDED, WRONG = range(4)
NAMES = ("ok", "defaulted", "rounded", "wrong")


def absent(field):
    """What the reader has when nothing was written."""
    return default_json(field) if field.need == "default" else None


def values_of(reader, writer, mine, theirs, by_name, got, sent):
    """Of one element."""
    if mine.kind == "struct" and theirs.kind == "struct":
        a, b = reader.types[mine.ref], writer.types[theirs.ref]
        return block_of(reader, writer, a.block, b.block, by_name or a.uid != b.uid, got, sent)
    if mine.kind == "struct" or theirs.kind == "struct":
        return WRONG
    if mine.kind == "enum" and theirs.kind == "enum" and not by_name and mine.ref == theirs.ref:
        old = {v[1]: v[0] for v in writer.types[theirs.ref].values}
        new = {v[1]: v[0] for v in reader.types[mine.ref].values}
        return OK if got == sent and old[sent] == new[sent] else WRONG
    if "bytes" in (mine.kind, theirs.kind) and mine.kind != theirs.kind:
        return OK if got == sent == "" else WRONG
    if got == sent and type(got) is type(sent):
        return OK
    if mine.kind in FLOATS and (theirs.kind in FLOATS or theirs.kind in INTS):
        return OK if got == sent else ROUNDED
    return OK if str(got).lower() == str(sent).lower() else WRONG


def field_of(reader, writer, mine, theirs, by_name, got, sent):
    if sent is None:
        if got is None:
            return OK
        return DEFAULTED if got == absent(mine) else WRONG
    if got is None:
        return WRONG
    if mine.shape == "single" and theirs.shape == "single":
        return values_of(reader, writer, mine, theirs, by_name, got, sent)
    if mine.shape == "single" or theirs.shape == "single" or len(got) != len(sent):
        return WRONG
    return max((values_of(reader, writer, mine, theirs, by_name, a, b) for a, b in zip(got, sent)), default=OK)


def block_of(reader, writer, mine, theirs, by_name, got, sent):
    worst = OK
    for field in mine.fields:
        if by_name:
            other = next((f for f in theirs.fields if f.wire == field.wire), None)
        else:
            other = next((f for f in theirs.fields if f.uid == field.uid), None)
        value = got.get(field.key())
        if other is None:
            worst = max(worst, OK if value == absent(field) else WRONG)
        else:
            worst = max(worst, field_of(reader, writer, field, other, by_name, value, sent.get(other.key())))
    return worst


def has_news(reader, writer, mine, theirs, sent):
    """True when `sent` has a name of an enum value that the reader does not know."""
    for field in mine.fields:
        other = next((f for f in theirs.fields if f.wire == field.wire), None)
        value = None if other is None else sent.get(other.key())
        if value is None or field.kind != other.kind or field.kind not in ("enum", "struct"):
            continue
        for item in value if isinstance(value, list) else [value]:
            if field.kind == "enum":
                if all(v[1] != item for v in reader.types[field.ref].values):
                    return True
            elif has_news(reader, writer, reader.types[field.ref].block, writer.types[other.ref].block, item):
                return True
    return False
