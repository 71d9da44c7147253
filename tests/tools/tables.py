"""Lists outside of the compiler against its tables of settings and of generated names.

tables.py REPOSITORY [--accept]

The editors' grammars list the words of settings, schemas/ir.schema.json the numbers of the model
and the functions of a job, schemas/lock.schema.json the numbers of jobs.lock, and codegen/render/settings.py
the numbers of a descriptor. With --accept they are written anew. The page of the language is written by
hand, and only compared: each setting stands in its table, or in the example of those that are not
yet honoured, and a count with the default and the bounds of its row.
"""
import difflib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
PAGE = "schemas/README.md"
FRONT = ROOT / "codegen/front"
ARGUMENT = re.compile(r'\s*((?:"(?:[^"\\]|\\.)*"\s*)+|[^,"]+)\s*(?:,|$)')


def rows(macro, table="settings.def"):
    """The arguments of each row, as they are written."""
    text = (FRONT / table).read_text()
    found = re.findall(rf"^{macro}\((.*?)\)$", text, re.M | re.S)
    assert len(found) == len(re.findall(rf"^{macro}\(", text, re.M)) > 3, macro
    return [[argument.strip() for argument in ARGUMENT.findall(row)] for row in found]


def number(text):
    """A bound: a figure, or a limit that is one."""
    limit = re.search(rf"^#define {text} +(\d+)$", (ROOT / "codegen/base/limits.h").read_text(), re.M)
    return int(limit.group(1) if limit else text)


def words():
    """What is highlighted as a setting whatever follows; a retry has a block and a rule of its own."""
    return [word.strip('"') for _, word, *_ in rows("SETTING") if word != '"retry"']


def vim(text):
    listed = r"\|".join(words())
    return re.sub(r"(?<=^syntax region jobSetting contained matchgroup=jobSettingName start=/\\<\\%\()[^)]*(?=\\\))",
                  lambda _: listed, text, flags=re.M)


def textmate(text):
    """The rule is the one that knows `tags` among others."""
    return re.sub(r'(?<="\\\\b\()[a-z_|]*\|tags\|[a-z_|]*(?=\)\\\\b")', "|".join(words()), text)


def model(text):
    """The numbers stand behind the queue and before the retry; the functions in a place of their own."""
    schema = json.loads(text)
    job = schema["definitions"]["file"]["properties"]["jobs"]["items"]
    numbers = {}
    for _, key, form, unset, least, most, _ in rows("SCALAR"):
        numbers[key] = {"type": ["string", "null"], "pattern": "^[0-9]+$"}
        if form == "COUNT":
            first = min(number(least), number(unset))
            numbers[key] = {"type": "integer", "minimum": first, "maximum": number(most)}
    job["properties"] = {key: value for key, value in spliced(list(job["properties"].items()), list(numbers.items()))}
    job["required"] = [key for key, _ in spliced([(key, None) for key in job["required"]],
                                                 [(key, None) for key in numbers])]
    job["properties"]["functions"] = functions()
    return json.dumps(schema, indent=1) + "\n"


def functions():
    """Their names; null where nothing is returned, or kept."""
    properties = {key.strip('"'): {"type": "string" if when == "ALWAYS" else ["string", "null"],
                                   "pattern": "^[A-Za-z][A-Za-z0-9_]*$"}
                  for _, key, when, *_ in rows("FUNCTION", "cnames.def")}
    return {"type": "object", "properties": properties, "required": list(properties),
            "additionalProperties": False}


def spliced(items, numbers):
    keys = [key for key, _ in items]
    return items[:keys.index("queue") + 1] + numbers + items[keys.index("retry"):]


def lock(text):
    """The numbers stand behind the queue and before the backoff."""
    numbers = "".join(f'        "{key}": {{"$ref": "#/definitions/count"}},\n' for _, key, *_ in rows("LOCKED"))
    return re.sub(r'(?<="queue": \{"\$ref": "#/definitions/name"\},\n).*?(?=        "backoff")', lambda _: numbers,
                  text, flags=re.S)


def renderer(text):
    """The key of each number in its order, and the bound of a count."""
    scalars = rows("SCALAR")
    assert text.count('    Setting("') == len(scalars), "settings.py has a row for each number of a job"
    keys = iter(f'    Setting("{key}", ' for _, key, *_ in scalars)
    bounds = iter(f"most={number(most)}" for _, _, form, _, _, most, _ in scalars if form == "COUNT")
    text = re.sub(r'^    Setting\("\w+", ', lambda _: next(keys), text, flags=re.M)
    return re.sub(r"\bmost=\d+", lambda _: next(bounds), text)


def page_rows(page):
    """Default and meaning of each setting in the table of settings, by its word."""
    table = page.partition("\n| setting | default | means |\n")[2].partition("\n\n")[0]
    return {word: (default.strip(), means.strip())
            for word, default, means in re.findall(r"^\| `(\w+)[^`]*` \|(.*?)\|(.*)\|$", table, re.M)}


def page_faults(page):
    """What the page of the language does not say of settings, or says otherwise."""
    told = page_rows(page)
    settings = {symbol: word.strip('"') for symbol, word, *_ in rows("SETTING")}
    symbols = [symbol for symbol, *_ in rows("SCALAR")]
    yield from (f"no row of the table is about '{word}'" for word in settings.values() if word not in told)
    yield from (f"'{word}' is no setting" for word in told if word not in [*settings.values(), "returns", "metadata"])
    for symbol, _, form, unset, least, most, _ in rows("SCALAR"):
        if form != "COUNT" or settings[symbol] not in told:
            continue
        default, means = told[settings[symbol]]
        bounds = f"{number(least)} to {number(most)}"
        if symbols.count(symbol) > 1:
            if bounds not in means:
                yield f"the row of '{settings[symbol]}' should say {bounds}"
            continue
        if default != unset or not re.match(rf"{bounds}\b", means):
            yield f"the row of '{settings[symbol]}' should say | {unset} | {bounds}"


FILES = {"editors/vim/syntax/job.vim": vim, "editors/vscode/syntaxes/culex-job.tmLanguage.json": textmate,
         "schemas/ir.schema.json": model, "schemas/lock.schema.json": lock,
         "codegen/render/settings.py": renderer}


def main():
    is_good = True
    for name, update in FILES.items():
        path = ROOT / name
        text = path.read_text()
        wanted = update(text)
        broken = text.replace("memory", "remory")
        assert update(broken) != broken, f"no list was found in {name}"
        if "--accept" in sys.argv:
            path.write_text(wanted)
        elif text != wanted:
            print("".join(difflib.unified_diff(text.splitlines(True), wanted.splitlines(True), name, "as the table has it")))
            is_good = False
    if not is_good:
        print("write them anew: ninja accept")
    faults = [] if "--accept" in sys.argv else list(page_faults((ROOT / PAGE).read_text()))
    print("".join(f"{PAGE}: {fault}\n" for fault in faults), end="")
    sys.exit(0 if is_good and not faults else 1)


main()
