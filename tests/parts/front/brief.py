"""A document of `culexc ir` as a reviewer reads it: what a schema says, without what it leaves open.

A field has 23 members, of which most are null: four lines of five would say nothing. So members that
hold what they hold in most places are left out, and the rest fills lines of 100 columns beside their
indentation. Nothing is lost: ir.schema.json demands every member, so one that is absent here holds
its usual value.
"""
import json

WIDTH = 100

# Beside null, which is left out everywhere.
USUAL = {
    "attrs": {}, "chains": [], "closed": False, "doc": "", "must_understand": False, "optional": False,
    "params": [], "required": False, "retired": False, "secret": False, "encrypted": False, "shape": "single",
    "steps_ns": [], "tags": [], "was": [],
}


def is_told(key, value):
    return value is not None and not (key in USUAL and value == USUAL[key])


def brief(value):
    """The document without what is usual."""
    if isinstance(value, dict):
        return {key: brief(one) for key, one in value.items() if is_told(key, one)}
    return [brief(one) for one in value] if isinstance(value, list) else value


def packed(texts):
    """The lines of members, each behind the last one's where both fit; what has several stands alone."""
    body = []
    for made in texts:
        has_room = body and body[-1][0] not in "]}" and len(made) == 1
        if has_room and len(body[-1]) + len(made[0]) < WIDTH - 3:
            body[-1] += " " + made[0]
        else:
            body += made
    return body


def lines(value, lead=""):
    """The text of a value, behind `lead`: on one line, or its members on as few as they fit on."""
    flat = lead + json.dumps(value, ensure_ascii=False)
    if len(flat) <= WIDTH or not isinstance(value, (dict, list)):
        return [flat]
    is_list = isinstance(value, list)
    texts = [lines(one) for one in value] if is_list else \
        [lines(one, json.dumps(key) + ": ") for key, one in value.items()]
    for made in texts[:-1]:
        made[-1] += ","
    body = [line for made in texts for line in made] if is_list else packed(texts)
    first, last = "[]" if is_list else "{}"
    return [lead + first, *("  " + line for line in body), last]


def text_of(document):
    return "\n".join(lines(brief(document))) + "\n"
