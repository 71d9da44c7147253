"""What a header says stands in a file is defined there.

usage: check_homes.py REPOSITORY
A header that several files share has a line "---- FILE.c ..." before the functions of each.
"""
import pathlib
import re
import sys

HOME = re.compile(r"^/\* ---- ([a-z_]+\.c)\b", re.M)
FUNCTION = re.compile(r"^(?!typedef|#)[a-z][\w \t*]*?\b(\w+)\(", re.M)


def is_defined(name: str, text: str) -> bool:
    return re.search(rf"^[a-z][\w \t*]*\b{name}\([^;{{}}]*\)\n\{{", text, re.M) is not None


def main() -> int:
    root, count, strays = pathlib.Path(sys.argv[1]), 0, []
    for header in sorted([*root.glob("codegen/*/*.h"), *root.glob("runtime/**/*.h")]):
        parts = HOME.split(header.read_text())[1:]
        for home, body in zip(parts[::2], parts[1::2]):
            file = header.with_name(home)
            text = file.read_text() if file.is_file() else ""
            names = FUNCTION.findall(body)
            count += len(names)
            strays += [f"{header.relative_to(root)}: {name} is not in {home}" for name in names if not is_defined(name, text)]
    print("\n".join([*strays, f"{count} functions"]))
    return 1 if strays or count < 50 else 0


sys.exit(main())
