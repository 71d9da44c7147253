"""Every public function that takes a pointer is called with a NULL for it.

usage: check_nulls.py REPOSITORY
Names the functions of runtime/include/culex that tests/parts/engine/test_nulls.c does not know.
"""
import pathlib
import re
import sys


def functions(header):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    for match in re.finditer(r"^CULEX_API[^;]*?\b(culex_\w+)\(([^;]*)\)", text, flags=re.M):
        if "*" in match[2] or "[" in match[2] or "_fn " in match[2]:
            yield match[1]


def main(repository):
    called = (repository / "tests/parts/engine/test_nulls.c").read_text()
    names = [name for header in sorted((repository / "runtime/include/culex").glob("*.h"))
             for name in functions(header)]
    unknown = [name for name in names if not re.search(rf"\b{name}\(", called)]
    for name in unknown:
        print(f"tests/parts/engine/test_nulls.c: what does {name} do with NULL?")
    return 1 if unknown or len(names) < 40 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
