"""Lays a script out so that it makes few closures, and cheap ones.

The server keeps a script compiled, but runs it from its first line each time: each function is made
anew, and what it takes from outside is looked up in a list of all that functions have taken so far. A
script of a hundred functions that share fifty locals spent four fifths of a call on that.

So what stands at the margin of a script and its libraries goes into two tables: variables that
functions use into V, functions into F. A name that is also declared within some function stays a
local. Functions of rare libraries are made when one of them is called for the first time.
"""

import collections
import re

DECLARED = re.compile(r"local ((?:\w+, )*\w+)(?: =|$)")
NAMED = re.compile(r"(?:local )?function (\w+)\(")
BUILTIN = re.compile(r"local [\w, ]+ = (?:redis|string|math|table|struct)\.")
TOKEN = re.compile(r"'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\d\w*|[{}]|\.\.|.", re.S)


class Part:
    """Lines that belong together: a function, a statement. `library` is None for the script's own."""

    def __init__(self, library, lines):
        self.library, self.text = library, "\n".join(lines)
        named = NAMED.match(lines[0])
        declared = DECLARED.match(lines[0])
        self.function = named.group(1) if named else None
        self.is_builtin = bool(BUILTIN.match(lines[0]))
        self.names = declared.group(1).split(", ") if declared and not named else []

    def words(self):
        return {token for token in TOKEN.findall(self.text) if re.match(r"[A-Za-z_]", token)}


def parts_split(library, text):
    """The parts of one library; blocks at the margin are opened, for their names are all different."""
    parts, lines, blocks = [], [], 0
    for line in text.splitlines():
        if not line.strip():
            continue
        if line == "do":
            blocks += 1
            continue
        is_margin = not line[0].isspace()
        is_closer = re.match(r"(?:end|else|elseif|until|\}|\))", line)
        if is_margin and line == "end" and not lines and blocks:
            blocks -= 1
            continue
        if is_margin and not is_closer and lines:
            parts.append(Part(library, lines))
            lines = []
        lines.append(line)
        if is_margin and is_closer and re.match(r"end|until|\}|\)", line):
            parts.append(Part(library, lines))
            lines = []
    if lines:
        parts.append(Part(library, lines))
    return parts


def inner_names(parts):
    """What is declared within functions, or within statements, as a local, a parameter or a loop's."""
    names = set()
    for part in parts:
        head, _, rest = part.text.partition("\n")
        for params in re.findall(r"function *\w*\(([^)]*)\)", part.text):
            names.update(re.findall(r"\w+", params))
        indented = re.findall(r"^ .*$", part.text, re.M)
        if part.function is None and not part.names:
            indented.append(head)
        for line in [*indented, *([head] if " then local " in head else [])]:
            for found in re.findall(r"\blocal (?!function)((?:\w+, )*\w+)", line):
                names.update(found.split(", "))
            names.update(re.findall(r"\blocal function (\w+)", line))
            for found in re.findall(r"\bfor ((?:\w+, )*\w+) (?:=|in)", line):
                names.update(found.split(", "))
    return names


def renamed(text, tables):
    """`text` with the names of `tables` (name -> table) put into these."""
    made, braces, opened, before = [], 0, 0, ""
    tokens = TOKEN.findall(text)
    for at, token in enumerate(tokens):
        opened = at if token == "{" and braces == 0 else opened
        braces += (token == "{") - (token == "}")
        follows = "".join(tokens[at + 1:at + 4]).lstrip(" ")
        is_key = braces > 0 and follows.startswith("=") and not follows.startswith("==")
        if is_key and token in tables and "function" in tokens[opened:at]:
            raise ValueError(f"'{token} =' behind a function and within a table: a key or a variable?")
        if token in tables and before != "." and not is_key:
            token = f"{tables[token]}.{token}"
        made.append(token)
        before = tokens[at]
    return "".join(made)


def part_render(part, tables):
    text = renamed(part.text, tables)
    if part.function in tables:
        return re.sub(r"^(?:local )?function ", "function ", text)
    if part.names and part.names[0] in tables:
        return re.sub(r"^local ", "", text) if " =" in part.text.split("\n")[0] else ""
    return text


def tables_choose(parts):
    """Which names go into which table."""
    kept = inner_names(parts)
    functions = {part.function for part in parts if part.function}
    inside = set().union(*(part.words() for part in parts if part.function))
    tables = {name: "F" for name in functions - kept}
    for part in parts:
        names = [name for name in part.names if name not in functions]
        if part.is_builtin or not any(name in inside for name in names) or any(name in kept for name in part.names):
            continue
        tables.update({name: "V" for name in names})
    return tables


def may_wait(part, rare, tables):
    """May it wait until its library is needed, as far as it tells itself?"""
    names = [part.function] if part.function else part.names
    return part.library in rare and bool(names) and all(name in tables for name in names)


def lazy_choose(parts, rare, tables):
    """What waits until its library is needed. Variables only where nothing that does not wait, or belongs to
    another library, speaks of them."""
    lazy = [part for part in parts if may_wait(part, rare, tables)]
    while True:
        others = [(part.library if part in lazy else None, part.words()) for part in parts]
        stay = [part for part in lazy if part.function or not any(
            set(part.names) & words and library != part.library
            for (library, words), other in zip(others, parts) if other is not part)]
        if len(stay) == len(lazy):
            return lazy
        lazy = stay


def loader_text(lazy, rare, tables):
    """Makes the functions of a library when the first of them is asked for."""
    lines, word = ["setmetatable(F, {__index = function(_, name)"], "if"
    for library in rare:
        its = [part for part in lazy if part.library == library]
        names = [part.function for part in its if part.function]
        if not names:
            continue
        lines.append(f"  {word} " + " or ".join(f"name == '{name}'" for name in names) + " then")
        lines += [part_render(part, tables) for part in its]
        word = "elseif"
    if word == "if":
        return ""
    return "\n".join([*lines, "  end", "  return rawget(F, name)", "end})"])


def doubles(parts):
    """Names that stand at the margin twice: in one table they would be one."""
    counts = collections.Counter(name for part in parts if not part.is_builtin
                                 for name in {*part.names, part.function} - {None})
    forward = {part.function for part in parts if part.function and not part.text.startswith("local")}
    return sorted(name for name, count in counts.items() if count > 1 + (name in forward))


def sized(table, names):
    """A table that has room for these from its beginning."""
    return f"local {table} = {{" + ", ".join(f"{name} = false" for name in names) + "}"


def lay(sources, rare, lead=()):
    """`sources`: (library, text) in their order, the script's own last, as None; those of `lead` stay as they
    are, before all that is made, and have no name in common with the others. ValueError for what is
    not told apart for certain."""
    for _, text in sources:
        if '"' in text or re.search(r"\[=*\[", text):
            raise ValueError("only texts between '' are told from names")
    first = [f"do\n{text}end" for library, text in sources if library in lead]
    parts = [part for library, text in sources if library not in lead for part in parts_split(library, text)]
    if twice := doubles(parts):
        raise ValueError(f"'{twice[0]}' is defined twice")
    tables = tables_choose(parts)
    lazy = lazy_choose(parts, rare, tables)
    own = next((at for at, part in enumerate(parts) if part.library is None), len(parts))
    eager = [part for part in parts if part not in lazy]
    out = [*first, sized("V", [name for part in eager for name in part.names if tables.get(name) == "V"]),
           sized("F", [part.function for part in eager if tables.get(part.function) == "F"])]
    out += [part_render(part, tables) for part in parts[:own] if part not in lazy]
    out.append(loader_text(lazy, rare, tables))
    out += [part_render(part, tables) for part in parts[own:]]
    return "\n".join(line for line in out if line) + "\n"
