"""The words of the .job language, read from the sources.

Two tables are read on their own: the one that the language server explains words from, and
the words that the parser and the checker know.
"""
import re

SETTING = re.compile(r'^SETTING\((\w+), "(\w+)", (SETTING|JOB), \w+,', re.M)
WORD = re.compile(r'^WORD\(((?:P\(\w+\)(?: \| )?)+), "(\w+)", "', re.M)
STRING = re.compile(r'"(\w+)"')


def settings(root):
    """{word: place} of settings.def."""
    text = (root / "codegen/front/settings.def").read_text()
    rows = SETTING.findall(text)
    assert len(rows) == text.count("\nSETTING("), "a row of settings.def that was not read"
    return {word: place for _, word, place in rows}


def words(root):
    """{word: set of places} of words.def, and of the settings that it includes."""
    found = {word: {place} for word, place in settings(root).items()}
    for places, word in WORD.findall((root / "codegen/server/words.def").read_text()):
        found.setdefault(word, set()).update(re.findall(r"P\((\w+)\)", places))
    return found


def table(text, name):
    """The strings of one C array, wherever it ends."""
    return [string for body in re.findall(name + r"\[[^]]*\] = \{(.*?)\};", text, re.S)
            for string in STRING.findall(body)]


def compiler_words(root):
    """{kind: set of words} of the parser's and the checker's own tables."""
    front = root / "codegen/front"
    parser = (front / "parser.c").read_text()
    setting = (front / "parse_setting.c").read_text()
    check = (front / "check_limit.c").read_text()
    model = (front / "ir.c").read_text()
    retry = (front / "check_retry.c").read_text()
    value = (front / "check_value.c").read_text()
    attributes = re.findall(r'^    \{"(\w+)", ((?:ON_\w+(?: \| )?)+), ARGS_',
                            (front / "check_attr.c").read_text(), re.M)
    types = re.findall(r'X\(\w+, "(\w+)", \d+, \d\)', (front / "ir.h").read_text())
    asked = re.findall(r'parser_(?:accept|at)_word\(parser, "(\w+)"\)', parser + setting)
    foreign = {"to"}  # of a range of numbers, which other languages have and this one refuses
    listed = [word for name in ("words", "conflicts", "missed", "overlap", "job_words", "states", "ir_backoff_words", "ir_jitter_words")
              for word in table(parser + setting + check + model, name)]
    compared = re.findall(r'strcmp\(name->text, "(\w+)"\)', retry) + re.findall(
        r'strcmp\(literal->text, "(\w+)"\)', value)
    return {"types": set(types) - {"enum", "struct", "user"},
            "attributes": {name: set(places.split(" | ")) for name, places in attributes},
            "words": set(asked) - foreign | set(listed) | set(settings(root)) | set(compared)}
