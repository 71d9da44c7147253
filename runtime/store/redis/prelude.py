"""Renders the Lua scripts of the Redis store into one C file.

    prelude.py RULES.def OUT.c OUT.h [DEPFILE [NAME...]]

The scripts are those that stand beside this program; the depfile names them and their folder, so
that a new one is noticed. With names it is these alone, and packed: packing.py. Every script gets a prelude that holds what it mentions and nothing more:
names for its KEYS, the rules of run_rules.def as Lua values, and the libraries it asks for. A script
says so in its first lines:

    -- keys: runs payloads ready          the keys, in the order in which C passes them
    -- uses: base request                 lib_base.lua, lib_request.lua
    -- level: works                       what it does to a queue: reads, produces, works or repairs
    -- lead: single                       those of its libraries that stand before everything: closures.py
    -- rare: request                      those of its libraries that it does not always need: closures.py

A script that reads holds no command that writes, and the others none that probe.lua does not try
for their level: it could be denied midway.

So the layout of a record and the transitions of a run stand once, for C and Lua alike.
Needs the standard library only.
"""

import collections
import hashlib
import pathlib
import re
import string
import sys

sys.dont_write_bytecode = True  # the source's folder stays as it is
import closures  # noqa: E402
import packing  # noqa: E402

ROW = re.compile(r"^(STATE|EVENT|TRANSITION|LIMIT|RECORD_FIELD)\(([^)]*)\)", re.M)
PATTERNS = {"letter": "%u", "int": "%d+", "hex": "%x+", "name": "[^|]*"}

# ORDER REDIS_KEY: the names of a queue's keys, as C numbers them.
KEYS = ("runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results progress logs "
        "unique meta wake sessions sessions_seen producers producers_until keys keys_until damaged "
        "probe bodies blocks spans block_leases block_ends schedules "
        "presence presence_told unique_until limits limited slots buckets refills follow_ups "
        "waits waits_until batches batches_until events metadata figures figures_rows figures_calls schemas schema_texts schemas_told").split()


def fail(text):
    sys.exit(f"prelude.py: {text}")


def rows_read(path):
    rows = {}
    for kind, arguments in ROW.findall(path.read_text()):
        rows.setdefault(kind, []).append([word.strip() for word in arguments.split(",")])
    for kind in ("STATE", "EVENT", "TRANSITION", "LIMIT", "RECORD_FIELD"):
        if kind not in rows:
            fail(f"{path}: no row of {kind}")
    return rows


def table_text(pairs):
    return "{" + ", ".join(f"{key} = {value}" for key, value in pairs) + "}"


def charges_text(events, column):
    return table_text((row[0], row[column]) for row in events if row[column] != "0")


# STEP rewrites the first of these without looking at the others.
LEASE_FIELDS = ["state", "attempt", "owner", "at_ms", "timeout_from_ms", "started"]


def skip_pattern(fields):
    return "".join(PATTERNS[kind] + "|" for _, kind in fields)


def hot_definitions(version, fields, split):
    """What lets a claim and a success take the beginning of a record off and put another one
    before the rest: RECORD_FRESH is the whole head of a waiting run that never began, RECORD_LIMITED
    that of one with limits, RECORD_DUE finds in a fresh one that came due the instant where they have RECORD_NOT_DUE up to
    there, FRESH_REST where the rest begins, and RECORD_END finds behind either of them where
    the unique key ends, the states that keep it, and the limits; RECORD_HELD stands behind the owner and finds the
    rest's place, `behind`, where created_at_ms begins and ends, the time to keep it, and the unique key with its
    place, and HELD_LIMITS behind that the limits. RECORD_UNKEYED ends each record with neither limits nor a unique key, and REST_WINDOW and REST_UNTIL find the end of a key's time in what follows created_at_ms."""
    leased, names = len(LEASE_FIELDS), [name for name, _ in fields]
    if names[:leased] != LEASE_FIELDS:
        fail("STEP needs these fields first: " + " ".join(LEASE_FIELDS))
    zeros = {"letter": "W", "int": "0", "name": ""}
    fresh = [version] + [zeros[kind] for _, kind in fields[:split]]
    keep, key = names.index("keep_success_ms"), names.index("unique_key")
    behind = names.index("behind")
    if names[behind + 1:keep] != ["created_at_ms"]:
        fail("STEP needs 'created_at_ms' alone between 'behind' and 'keep_success_ms'")
    if behind + 1 != split:
        fail("STEP needs 'behind' as the last field of the head")
    held = "".join([skip_pattern(fields[3:leased]), "()", skip_pattern(fields[leased:behind]), "(%d)|",
                    f"(){PATTERNS['int']}()|({PATTERNS['int']})|", skip_pattern(fields[keep + 1:key]), "()",
                    f"({PATTERNS['name']})|"])
    states = names.index("unique_while")
    end = "".join([skip_pattern(fields[split:key]), PATTERNS["name"], "()|", skip_pattern(fields[key + 1:states]),
                   "(%d)|", skip_pattern(fields[states + 1:-1]), f"({PATTERNS['name']})"])
    unkeyed = "".join("|" + zeros.get(kind, "") for _, kind in fields[states:])
    return {
        "RECORD_FRESH": f"local RECORD_FRESH = '{'|'.join(fresh)}|'",
        "RECORD_LIMITED": f"local RECORD_LIMITED = '{'|'.join([*fresh[:-1], '1'])}|'",
        "RECORD_DUE": f"local RECORD_DUE = '^{'|'.join(fresh[:4])}|([1-9]%d*)()|'",
        "RECORD_NOT_DUE": f"local RECORD_NOT_DUE = '{'|'.join(fresh[:5])}'",
        "RECORD_END": f"local RECORD_END = '^{end}$'",
        "HELD_LIMITS": f"local HELD_LIMITS = '^{skip_pattern(fields[key + 1:-1])}({PATTERNS['name']})$'",
        "FRESH_REST": f"local FRESH_REST = {len('|'.join(fresh[:leased + 1])) + 2}",
        "RECORD_HELD": f"local RECORD_HELD = '^{held}'",
        "RECORD_UNKEYED": f"local RECORD_UNKEYED = '{unkeyed}'",
        "REST_WINDOW": f"local REST_WINDOW = '^({skip_pattern(fields[keep:names.index('unique_until_ms')])})%d+'",
        "REST_UNTIL": f"local REST_UNTIL = '^{skip_pattern(fields[keep:names.index('unique_until_ms')])}(%d+)'",
        "RECORD_UNIQUE": f"local RECORD_UNIQUE = '^[^|]*|{'[^|]*|' * key}([^|]*)|'",
    }


# The largest number that C takes in these fields; other numbers are instants and durations.
FIELD_MAX = {"attempt": 2**32 - 1, "losses": 2**32 - 1, "failures": 2**32 - 1, "crashes": 2**32 - 1,
             "crash_streak": 2**32 - 1, "attempts_max": 2**32 - 1, "started": 1, "cancel": 1, "priority": 9,
             "unique_while": 7, "behind": 10}


def strict_definitions(version, fields):
    """What FSCK needs to read a record as strictly as C does, and to write one for a run of which
    nothing is known: RECORD_ASIDE, a dead one that is never forgotten."""
    blank = {"int": "0", "hex": "0" * 16, "name": ""}
    known = {"state": "X", "at_ms": "9999999999999", "attempts_max": "1", "job": "-"}
    aside = [version] + [known.get(name, blank.get(kind)) for name, kind in fields]
    return {
        "RECORD_KINDS": "local RECORD_KINDS = {" + ", ".join(f"'{kind}'" for _, kind in fields) + "}",
        "RECORD_MOST": "local RECORD_MOST = {"
        + ", ".join(str(FIELD_MAX.get(name, 0)) for name, _ in fields) + "}",
        "RECORD_ASIDE": f"local RECORD_ASIDE = '{'|'.join(aside)}'",
    }


def body_definitions(version, head, tail, limits):
    """What a body begins with, and where its payload does; what LIST looks for in that, which the tail
    of any record begins with too; what lies between the six fields of
    LEASE_FIELDS and that in the record of an ordinary run, and what follows it there."""
    count = int(limits["BODY_FIELDS"])
    if [name for name, _ in tail[count:]] != ["unique_key", "priority", "retry_for_ms", "unique_while", "unique_until_ms",
                                              "limits"]:
        fail("an ordinary run's record must end with its unique key, its priority, its time for retries, how "
             "long its key is kept, and its limits")
    kinds = [PATTERNS[kind].replace("^|", r"^|\n") for _, kind in tail[:count]]
    hot = [f"({kind})" for kind in kinds[:3]] + kinds[3:]
    sought = [f"({kind})" if name in ("created_at_ms", "job", "tags") else kind
              for (name, _), kind in zip(tail[:count], kinds)]
    if [name for name, _ in tail[:3]] != ["created_at_ms", "keep_success_ms", "timeout_ms"]:
        fail("STEP needs these three first in a body")
    middle = "|0" * (len(head) - len(LEASE_FIELDS)) + "|"
    return {
        "BODY_HEAD": f"local BODY_HEAD = '^({'|'.join(kinds)})\\n()'",
        "BODY_HOT": f"local BODY_HOT = '^{'|'.join(hot)}\\n()'",
        "TAIL_SOUGHT": "local TAIL_SOUGHT = '^" + "|".join(sought) + "'",
        "BLOCK_FIELDS": "local BLOCK_FIELDS = '^(%x*)|(%d+)|(%d*)|(%d*)|([01])|([01%a%-]+)|([%d,]*)$'",
        "LETTERS": f"local LETTERS = '{string.ascii_letters}'",
        "BODY_MIDDLE": f"local BODY_MIDDLE = '{middle}'",
        "BODY_REST": "local BODY_REST = '||0|0|0|0|'",
    }


def record_definitions(fields, limits):
    """The head as one pattern and its two functions; each tail field as a pattern of its own."""
    version, split = limits["RECORD_VERSION"], int(limits["RECORD_HEAD_FIELDS"])
    head, tail = fields[:split], fields[split:]
    names = ", ".join(name for name, _ in head)
    pattern = "|".join(f"({PATTERNS[kind]})" for _, kind in head)
    # The tail's form is checked with the head's: nobody who takes it apart may find a field missing.
    rest = skip_pattern(tail)[:-1]
    made = {
        "record_parse": f"""local function record_parse(text)
  if #text > {limits["RECORD_BYTES_MAX"]} then return nil end
  local {names}, tail = string.match(text, '^{version}|{pattern}|({rest})$')
  if not state then return nil end
  return {{{", ".join(f"{name} = {name}" for name, _ in head)}, tail = tail}}
end""",
        "record_text": "local function record_text(r)\n  return '%s|' .. %s .. '|' .. r.tail\nend"
        % (version, " .. '|' .. ".join(f"r.{name}" for name, _ in head)),
    }
    made.update(hot_definitions(version, fields, split))
    made.update(strict_definitions(version, fields))
    made.update(body_definitions(version, head, tail, limits))
    names = [name for name, _ in tail]
    key, states = names.index("unique_key"), names.index("unique_while")
    made["TAIL_UNIQUE"] = (f"local TAIL_UNIQUE = '^{skip_pattern(tail[:key])}({PATTERNS['name']})|"
                           f"{skip_pattern(tail[key + 1:states])}(%d+)|(%d+)'")
    for at, (name, kind) in enumerate(tail):
        end = "|" if at + 1 < len(tail) else "$"
        made[f"BEFORE_{name}"] = f"local BEFORE_{name} = '^({skip_pattern(tail[:at])})'"
        made[f"TAIL_{name}"] = f"local TAIL_{name} = '^{skip_pattern(tail[:at])}({PATTERNS[kind]}){end}'"
    return made


def definitions_make(rows):
    """Everything a script may mention: name -> Lua text."""
    limits = dict(rows["LIMIT"])
    letters = {name: letter for name, letter, _ in rows["STATE"]}
    made = {name: f"local {name} = '{letter}'" for name, letter in letters.items()}
    made["STATES"] = "local STATES = '" + "".join(letters.values()) + "'"
    made["IS_FINAL"] = "local IS_FINAL = " + table_text(
        (letter, "true") for _, letter, final in rows["STATE"] if final == "1")
    made["NEXT"] = "local NEXT = " + table_text(
        (f"{letters[start]}_{event}", f"'{letters[end]}'") for start, event, end in rows["TRANSITION"])
    for column, name in ((1, "FAILURES"), (2, "CRASHES"), (3, "LOSSES")):
        made[name] = f"local {name} = {charges_text(rows['EVENT'], column)}"
    made.update(record_definitions(rows["RECORD_FIELD"], limits))
    return made


def header_read(path, text, word):
    found = re.search(rf"^-- {word}: *(.*)$", text, re.M)
    if not found:
        fail(f"{path}: no line '-- {word}:'")
    return found.group(1).split()


def comments_strip(text):
    lines = (re.sub(r"(^|\s)--.*$", "", line).rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip()) + "\n"


# ORDER REDIS_LEVEL, and what probe.lua calls those who need it.
LEVELS = {"reads": None, "produces": "producer", "works": "worker", "repairs": "operator"}
READING = set("HEXISTS HGET HLEN HMGET HSCAN LLEN LRANGE TIME ZCARD ZCOUNT ZRANGE ZRANGEBYSCORE "
              "ZLEXCOUNT ZRANGEBYLEX ZREVRANGEBYSCORE ZSCORE".split())


def commands_allowed(folder):
    """Level -> the commands that its scripts may hold. A role is tried for those before it as well."""
    text = (folder / "probe.lua").read_text()
    allowed, tried = {"reads": READING}, set()
    for level, role in LEVELS.items():
        if role:
            rows = re.search(rf"^local {role} = (.*?\}}\}})$", text, re.M | re.S)
            tried = tried | set(re.findall(r"\{'([A-Z]+)'", rows.group(1)))
            allowed[level] = tried
    return allowed


def level_read(path, source, body, allowed):
    """The level of a script, which says of itself what its commands bear out."""
    level = header_read(path, source, "level")[0]
    if level not in LEVELS:
        fail(f"{path}: unknown level '{level}'")
    excess = sorted(set(re.findall(r"\b\w+\('([A-Z]{3,})'", body)) - allowed[level])
    if excess:
        fail(f"{path}: a script that {level} holds {', '.join(excess)}: see READING and probe.lua")
    return level


# Level of a verb's script -> the effects that its row of verbs.def may tell. A repair stands with what
# reads: it can wait until there is room.
EFFECTS = {"reads": {"READS"}, "produces": {"ADDS"}, "works": {"MANAGES", "ADDS"}, "repairs": {"READS"}}


def effects_read(path):
    """Verb -> its effect in verbs.def."""
    return dict(re.findall(r"^VERB(?:_OF_PRODUCERS)?\((\w+), (\w+),", path.read_text(), re.M))


def effects_check(folder, scripts, effects):
    """That each script of a verb does what the verb's row says. Other stores go by the row alone."""
    for name, _, level, _ in scripts:
        if name in effects and effects[name] not in EFFECTS[level]:
            fail(f"{folder / name}.lua: a script that {level}, and in verbs.def its verb {effects[name]}: "
                 f"{' or '.join(sorted(EFFECTS[level]))} is wanted there, or another level here")


FUNCTION = re.compile(r"^local function (\w+)\(.*?^end\n", re.M | re.S)


def unused_drop(text):
    """Without the functions of libraries that the script does not call."""
    while True:
        words = collections.Counter(re.findall(r"\w+", text))
        unused = [found.group() for found in FUNCTION.finditer(text) if words[found.group(1)] == 1]
        if not unused:
            return text
        for function in unused:
            text = text.replace(function, "")


OPENER = re.compile(r"(local function|function|if|for|while|do)\b|\S.*\bfunction *\([^)]*\)$")
LOCALS_MAX = 190  # Lua refuses 200 at one time; the rest is for a loop


def locals_count(path, text):
    """Most locals that the script itself has at one time. It goes by the lines that are not indented,
    so a block that stands at the margin, as `do` does, must begin and end there."""
    count, most, blocks = 0, 0, []
    for line in text.splitlines():
        if re.match(r"end\b", line):
            if not blocks:
                fail(f"{path}: a line begins with 'end', but its block does not begin at the margin")
            count = blocks.pop()
        elif line.startswith("local function"):
            count += 1
        elif line.startswith("local "):
            count += line.split("=")[0].count(",") + 1
        if OPENER.match(line) and not line.endswith(" end"):
            blocks.append(count)
        most = max(most, count)
    return most


CONSTANT = re.compile(r"^local ([A-Z][A-Za-z_]*) = ('(?:\\.|[^'\\])*'|\d+)\n", re.M)


def constants_put(path, body, definitions, limits):
    """The body with the limits, and what is defined as a text or a number, where they are mentioned. As
    locals they would take room, of which a Lua function has 200, and each that a function takes from outside
    costs time whenever the script runs. A limit may stand in a text."""
    texts = {}
    for name, text in definitions.items():
        if found := CONSTANT.fullmatch(text + "\n"):
            texts[name] = found.group(2)
    body = re.sub(r"\b[A-Z_]+\b", lambda found: limits.get(found.group(), found.group()), body)
    for name, value in CONSTANT.findall(body):
        if name in texts:
            fail(f"{path}: '{name}' is defined twice")
        texts[name] = value
    body = CONSTANT.sub("", body)
    names = "|".join(texts)
    return re.sub(rf"'(?:\\.|[^'\\])*'|\b({names})\b",
                  lambda found: texts.get(found.group(1), found.group()), body)


def names_put(path, body, keys):
    """The body with its keys where they are named."""
    names = "|".join(keys)
    if found := re.search(rf"\blocal (?:function )?(?:\w+, )*({names})\b", body):
        fail(f"{path}: '{found.group(1)}' is the name of a key")
    return re.sub(rf"'(?:\\.|[^'\\])*'|(?<![.\w])({names})\b(?! *=[^=])",
                  lambda found: f"KEYS[{keys.index(found.group(1)) + 1}]" if found.group(1) else found.group(), body)


MARK = "LIBRARY_"


def libraries_read(path, source):
    """The script behind its libraries, each behind a line that names it."""
    texts = []
    for name in header_read(path, source, "uses"):
        texts.append(f"{MARK}{name}\n" + comments_strip(path.with_name(f"lib_{name}.lua").read_text()))
    return "".join(texts) + f"{MARK}\n" + comments_strip(source)


def sources_split(text):
    for source in text.split(MARK)[1:]:
        name, _, rest = source.partition("\n")
        yield name or None, rest


def some_read(source, word):
    """Libraries of the script that are not like the others: none where it has no such line."""
    found = re.search(rf"^-- {word}: *(.*)$", source, re.M)
    return found.group(1).split() if found else []


def script_render(path, definitions, limits, allowed):
    source = path.read_text()
    keys = header_read(path, source, "keys")
    for key in keys:
        if key not in KEYS:
            fail(f"{path}: unknown key '{key}'")
    body = unused_drop(libraries_read(path, source))
    level = level_read(path, source, body, allowed)
    body = names_put(path, constants_put(path, body, definitions, limits), keys)
    mentioned = set(re.findall(r"\b\w+\b", body))
    rules = "\n".join(text for name, text in definitions.items() if name in mentioned)
    try:
        text = closures.lay([("rules", rules), *sources_split(body)], some_read(source, "rare"),
                            some_read(source, "lead"))
    except ValueError as error:
        fail(f"{path}: {error}")
    text = "".join(f"{line}\n" for line in text.splitlines() if line)  # as c_string() has it, for its digest
    count = locals_count(path, text)
    if count > LOCALS_MAX:
        fail(f"{path}: {count} locals at one time, of {LOCALS_MAX}: put some in a table "
             "or in a block of their own")
    return keys, level, text


def c_string(text):
    lines = text.replace("\\", "\\\\").replace('"', '\\"').split("\n")
    return "\n".join(f'    "{line}\\n"' for line in lines if line)


def bytes_text(data):
    rows = (", ".join(map(str, data[at:at + 24])) for at in range(0, len(data), 24))
    return "\n".join(f"    {row}," for row in rows)


def packed_text(texts):
    packed = packing.pack("".join(texts).encode())
    return [f"const unsigned char culex__redis_packed[{len(packed)}] = {{", bytes_text(packed), "};",
            f"const size_t culex__redis_packed_len = {len(packed)};", ""]


def source_text(scripts, is_packed):
    out = ["/* Rendered by prelude.py from the Lua scripts and run_rules.def. */",
           '#include "store/redis/scripts.h"', "",
           "/* Compilers take them; the standard only promises 4095 characters. */",
           '#pragma GCC diagnostic ignored "-Woverlength-strings"', ""]
    for name, keys, _, text in scripts:
        out += [f"static const unsigned char {name}_keys[] = {{"
                + ", ".join(str(KEYS.index(key)) for key in keys) + "};"]
        if not is_packed:
            out += [f"static const char {name}_text[] =", c_string(text) + ";", ""]
    at = 0
    for name, keys, level, text in scripts:
        digest = hashlib.sha1(text.encode()).hexdigest()
        place = f"NULL, {at}, {len(text)}" if is_packed else f"{name}_text, 0, sizeof {name}_text - 1"
        out += [f"const struct culex__redis_script culex__redis_script_{name} = {{",
                f'    "{name}", CULEX__REDIS_{level.upper()}, "{digest}", {place}, {name}_keys, {len(keys)},',
                "};"]
        at += len(text)
    out += [""] + packed_text([text for *_, text in scripts] if is_packed else ["-"])
    out += ["const char *const culex__redis_key_names[CULEX__REDIS_KEY_COUNT] = {",
            "    " + ", ".join(f'"{key}"' for key in KEYS) + "};", ""]
    return "\n".join(out)


def header_text(scripts):
    return "\n".join([
        "/* Rendered by prelude.py: the Lua scripts as C strings. */",
        "#ifndef CULEX_REDIS_SCRIPTS_H", "#define CULEX_REDIS_SCRIPTS_H", "",
        '#include "store/redis/script.h"', "",
        "enum {", *(f"    CULEX__REDIS_KEY_{key.upper()}," for key in KEYS),
        "    CULEX__REDIS_KEY_COUNT", "};",
        "extern const char *const culex__redis_key_names[CULEX__REDIS_KEY_COUNT];",
        *(f"extern const struct culex__redis_script culex__redis_script_{name};" for name, *_ in scripts),
        "", "#endif", ""])


def changed_write(path, text):
    """Leaves a file alone that is right already, so that nothing is compiled anew."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(rules, out_c, out_h, depfile=None, *names):
    rows = rows_read(rules)
    definitions, limits = definitions_make(rows), dict(rows["LIMIT"])
    folder = pathlib.Path(__file__).parent
    paths = sorted(folder.glob("*.lua"))
    allowed = commands_allowed(folder)
    scripts = [(path.stem, *script_render(path, definitions, limits, allowed))
               for path in paths if not path.name.startswith("lib_") and (not names or path.stem in names)]
    if names and len(names) != len(scripts):
        fail("no such script: " + ", ".join(sorted(set(names) - {name for name, *_ in scripts})))
    verbs = folder.parent / "verbs.def"
    effects_check(folder, scripts, effects_read(verbs))
    changed_write(out_c, source_text(scripts, bool(names)))
    changed_write(out_h, header_text(scripts))
    if depfile:
        needed = " ".join(str(path).replace(" ", "\\ ") for path in [folder, folder / "closures.py", folder / "packing.py", verbs, *paths])
        depfile.write_text(f"{out_c}: {needed}\n")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        fail("usage: prelude.py RULES.def OUT.c OUT.h [DEPFILE [NAME...]]")
    main(*map(pathlib.Path, sys.argv[1:5]), *sys.argv[5:])
